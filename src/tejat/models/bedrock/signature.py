"""Signatures of requests to AWS (Signature Version 4)."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlsplit

from tejat.core.frozen import Frozen, field

_ALGORITHM = "AWS4-HMAC-SHA256"


class AwsCredentials(Frozen):
    """Keys of an AWS account. `session_token` is set for temporary ones."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


def sign_request(
    url: str, body: Sequence[bytes], credentials: AwsCredentials, *, region: str, service: str, timestamp: str
) -> dict[str, str]:
    """Return the headers that authenticate a POST request of JSON without a query.

    `timestamp` is the present time in UTC, such as `20260102T030405Z`.
    """
    parts = urlsplit(url)
    headers = {"content-type": "application/json", "host": parts.netloc, "x-amz-date": timestamp}
    if credentials.session_token:
        headers["x-amz-security-token"] = credentials.session_token
    names = ";".join(sorted(headers))
    digest = hashlib.sha256()
    for piece in body:
        digest.update(piece)
    # The path is encoded once more than it is in the URL.
    path = quote(parts.path or "/", safe="/-_.~")
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    canonical = f"POST\n{path}\n\n{lines}\n{names}\n{digest.hexdigest()}"
    scope = f"{timestamp[:8]}/{region}/{service}/aws4_request"
    text = f"{_ALGORITHM}\n{timestamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{credentials.secret_key}".encode()
    for step in scope.split("/"):
        key = hmac.new(key, step.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    authorization = (
        f"{_ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    sent = {name: value for name, value in headers.items() if name != "host"}
    return {**sent, "authorization": authorization}


def read_credentials(environment: Mapping[str, str]) -> AwsCredentials | None:
    """Return the credentials in the usual environment variables, None without them."""
    access, secret = environment.get("AWS_ACCESS_KEY_ID", ""), environment.get("AWS_SECRET_ACCESS_KEY", "")
    if not access.strip() or not secret.strip():
        return None
    return AwsCredentials(access.strip(), secret.strip(), environment.get("AWS_SESSION_TOKEN", "").strip())
