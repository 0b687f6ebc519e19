import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from google.auth import exceptions

from support.model_servers.gemini import LoopbackServer, Received, Reply, error_reply, json_reply
from tejat.core.model import FailureKind, ModelFailure
from tejat.models.gemini.vertex_credentials import AuthTransport, load_credentials, refresh_credentials

USER = {"type": "authorized_user", "client_id": "id", "client_secret": "SECRET", "refresh_token": "SECRET"}
POOL = {
    "type": "external_account",
    "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
    "token_url": "https://sts.googleapis.com/v1/token",
    "credential_source": {"file": "/nowhere/token"},
}
AMAZON_SOURCE = {
    "environment_id": "aws1",
    "regional_cred_verification_url": "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15",
}
AMAZON = {
    **POOL,
    "subject_token_type": "urn:ietf:params:aws:token-type:aws4_request",
    "credential_source": AMAZON_SOURCE,
}
IMPERSONATED = {
    "type": "impersonated_service_account",
    "service_account_impersonation_url": (
        "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/me@example.com:generateAccessToken"
    ),
    "source_credentials": USER,
    "delegates": [],
}
WORKFORCE = {
    "type": "external_account_authorized_user",
    "audience": "//iam.googleapis.com/locations/global/workforcePools/p/providers/q",
    "refresh_token": "SECRET",
    "token_url": "https://sts.googleapis.com/v1/oauthtoken",
    "token_info_url": "https://sts.googleapis.com/v1/introspect",
    "client_id": "id",
    "client_secret": "SECRET",
}


def written(path: Path, text: str) -> dict[str, str]:
    path.write_text(text, encoding="utf-8")
    return {"GOOGLE_APPLICATION_CREDENTIALS": str(path)}


@pytest.mark.parametrize(
    ("fields", "module"),
    [
        (USER, "google.oauth2.credentials"),
        (POOL, "google.auth.identity_pool"),
        (AMAZON, "google.auth.aws"),
        (IMPERSONATED, "google.auth.impersonated_credentials"),
        (WORKFORCE, "google.auth.external_account_authorized_user"),
    ],
)
def test_every_kind_of_file(tmp_path: Path, fields: Mapping[str, object], module: str) -> None:
    credentials = load_credentials(written(tmp_path / "key.json", json.dumps(fields)))
    assert (type(credentials).__module__, credentials.valid, credentials.token) == (module, False, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no json", "is not a credentials file"),
        ("[" * 100_000, "is not a credentials file"),
        ("[]", "unsupported kind of credentials"),
        ('{"type": "api_key"}', "unsupported kind of credentials"),
        ('{"type": ["service_account"]}', "unsupported kind of credentials"),
        ('{"type": "service_account"}', "^Could not use the Google Cloud credentials"),
        (
            '{"type": "service_account", "private_key": "SECRET", "client_email": "x", "token_uri": "y"}',
            "^Could not use the Google Cloud credentials",
        ),
        (
            json.dumps({**POOL, "credential_source": {"executable": {"command": "touch SECRET"}}}),
            "^Could not use the Google Cloud credentials",
        ),
    ],
)
def test_files_that_are_no_credentials(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ModelFailure, match=words) as caught:
        load_credentials(written(tmp_path / "key.json", text))
    assert (caught.value.kind, "SECRET" in caught.value.message) == (FailureKind.NO_KEY, False)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelFailure, match=r"none\.json, which does not exist"):
        load_credentials({"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "none.json")})


def metadata(token: Reply, *, flavor: str = "Google") -> LoopbackServer:
    def respond(received: Received) -> Reply:
        return token if received.target.endswith("/token") else json_reply({}, headers={"Metadata-Flavor": flavor})

    return LoopbackServer(respond)


def test_nobody_at_all_and_no_machine_of_google() -> None:
    words = "gcloud auth application-default login"
    other = metadata(error_reply(404, "not here"), flavor="Amazon")
    with other as server, pytest.raises(ModelFailure, match=words) as caught:
        load_credentials({"GCE_METADATA_HOST": f"127.0.0.1:{server.port}"})
    assert caught.value.kind is FailureKind.NO_KEY


def test_the_token_of_a_machine_is_good_until_shortly_before_its_end() -> None:
    grants = iter([600, 100])

    def respond(received: Received) -> Reply:
        if received.target.endswith("/token"):
            return json_reply({"access_token": "token", "expires_in": next(grants)})
        return json_reply({}, headers={"Metadata-Flavor": "Google"})

    with LoopbackServer(respond) as server:
        environment = {"GCE_METADATA_HOST": f"127.0.0.1:{server.port}"}
        credentials = load_credentials(environment)
        assert not credentials.valid
        refresh_credentials(credentials, environment)
        assert (credentials.valid, credentials.token) == (True, "token")
        refresh_credentials(credentials, environment)
        assert not credentials.valid


@pytest.mark.parametrize(
    "token", [error_reply(404, "no service account"), json_reply([]), json_reply({"access_token": "x"})]
)
def test_a_machine_without_an_account(token: Reply) -> None:
    with metadata(token) as server:
        environment = {"GCE_METADATA_HOST": f"127.0.0.1:{server.port}"}
        credentials = load_credentials(environment)
        with pytest.raises(ModelFailure, match=r"(?i)machine has no|invalid token") as caught:
            refresh_credentials(credentials, environment)
    assert caught.value.kind is FailureKind.AUTHENTICATION


def test_google_auth_asks_over_our_http() -> None:
    with LoopbackServer(lambda _: json_reply({"a": 1}, status=418, headers={"X-Odd": "yes"})) as server:
        reply = AuthTransport({})(server.address + "/x", method="POST", body="text", headers={"X-Own": "1"}, timeout=3)
        (request,) = server.requests
    assert (reply.status, reply.headers["x-odd"], reply.data) == (418, "yes", b'{"a": 1}')
    assert (request.method, request.target, request.headers["x-own"], request.raw) == ("POST", "/x", "1", b"text")
    with pytest.raises(exceptions.TransportError):
        AuthTransport({})(server.address)
