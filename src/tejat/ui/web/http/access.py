"""Who may use the page: the token of the link, the cookie and key it is exchanged for, and same-origin checks."""

import hmac
import secrets
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from tejat.core.i18n import _
from tejat.workspace.http.server import HttpError, ServerRequest

KEY_HEADER = "x-tejat-key"
"""Carries the key of the page. No other web page can send it, and no other server gets it from a browser."""

_TOKEN_BYTES = 32


class AccessControl:
    """Decides about every request before anything else.

    The token of the link signs a browser in: it gets a cookie, without which no file of the page is served, and a key,
    without which no request for data is answered. A cookie alone is not enough, because browsers send it to every other
    port of this address, too: also to a server that a command of the agent has started. The key is in the storage of
    this origin only. Neither is ever written to a file or a log.

    `names` are the values of the Host header that are answered, with their ports. With TLS any name is: another page
    cannot let its own name point here, because the certificate is not for that name. Then a password signs in, not the
    token.
    """

    def __init__(self, names: frozenset[str], *, port: int, is_secure: bool = False) -> None:
        self.token = secrets.token_urlsafe(_TOKEN_BYTES)
        self.key = secrets.token_urlsafe(_TOKEN_BYTES)
        self._cookie = secrets.token_urlsafe(_TOKEN_BYTES)
        self._names = names
        self._is_secure = is_secure
        self._scheme = "https" if is_secure else "http"
        self._cookie_name = f"tejat-{port}"
        self._launch_token = ""

    def check_origin(self, request: ServerRequest) -> None:
        """Refuse other host names, which a page elsewhere may let point here, and requests of other pages.

        Raises HttpError.
        """
        hosts = request.headers.get_all("host")
        is_known = len(hosts) == 1 and (self._is_secure or hosts[0].lower() in self._names)
        if not is_known:
            raise HttpError(421, "This server does not answer to that name.")
        origins = request.headers.get_all("origin")
        if any(origin.lower() != f"{self._scheme}://{hosts[0].lower()}" for origin in origins):
            raise HttpError(403, "This server does not answer to pages from elsewhere.")
        is_action = request.method not in ("GET", "HEAD")
        if is_action and not origins:
            raise HttpError(403, "A request that changes something must name its origin.")
        is_own = request.headers.get("sec-fetch-site") in (None, "same-origin", "none")
        is_navigation = request.headers.get("sec-fetch-mode") == "navigate" and not is_action
        is_framed = request.headers.get("sec-fetch-dest") in ("iframe", "frame", "embed", "object")
        if is_framed or not (is_own or is_navigation):
            raise HttpError(403, "This server does not answer to pages from elsewhere.")

    def make_launch_token(self) -> str:
        """A token that signs in once, for the browser that this program starts itself."""
        self._launch_token = secrets.token_urlsafe(_TOKEN_BYTES)
        return self._launch_token

    def drop_launch_token(self) -> None:
        """Let the last one sign in nobody."""
        self._launch_token = ""

    def accept_token(self, request: ServerRequest) -> bool:
        """Whether the address has the token of the link, or one that signs in once and was not used yet."""
        given = parse_query(request.target).get("token", "")
        if self._is_secure or not given:
            return False
        if self._launch_token and _is_same(given, self._launch_token):
            self._launch_token = ""
            return True
        return _is_same(given, self.token)

    def has_cookie(self, request: ServerRequest) -> bool:
        """Whether the browser is signed in."""
        return any(_is_same(value, self._cookie) for value in self._cookie_values(request))

    def check_key(self, request: ServerRequest) -> None:
        """Refuse requests for data without cookie and key. Raises HttpError."""
        keys = request.headers.get_all(KEY_HEADER)
        if not self.has_cookie(request) or len(keys) != 1 or not _is_same(keys[0], self.key):
            raise HttpError(401, _("Not signed in. Open the link that `tejat web` printed."))

    def cookie_header(self) -> tuple[str, str]:
        """The header that signs a browser in, until it is closed."""
        secure = "; Secure" if self._is_secure else ""
        return "set-cookie", f"{self._cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict{secure}"

    def _cookie_values(self, request: ServerRequest) -> list[str]:
        pairs = [pair.strip().partition("=") for line in request.headers.get_all("cookie") for pair in line.split(";")]
        return [value for name, _equals, value in pairs if name == self._cookie_name]


def parse_query(target: str) -> Mapping[str, str]:
    """The parameters of an address, the last of each name. Raises HttpError."""
    try:
        found = parse_qs(urlsplit(target).query, max_num_fields=20)
    except ValueError:
        raise HttpError(400, "The address is not valid.") from None
    return {name: values[-1] for name, values in found.items()}


def _is_same(given: str, secret: str) -> bool:
    """Compare in constant time; bytes, because other strings than ASCII cannot be compared like that."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())
