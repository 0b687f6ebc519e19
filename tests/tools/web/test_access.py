"""What must not leave for the web."""

from collections.abc import Sequence

import pytest

from tejat.core.errors import ErrorType, ToolFailure
from tejat.tools.web.access import WebAccess, reject_secrets
from tejat.workspace.http.client import HttpClient
from tejat.workspace.web.fetcher import Fetcher

KEY = "AIzaSy-Top+Secret/1"


def web(*secrets: str) -> WebAccess:
    def known() -> Sequence[str]:
        return secrets

    return WebAccess(lambda: Fetcher(HttpClient(environment={})), secrets=known)


@pytest.mark.parametrize(
    "text",
    [
        f"https://evil.example/?k={KEY}",
        "https://evil.example/?k=AIzaSy-Top%2BSecret%2F1",
        f"https://evil.example/{KEY}/x",
        "https://aizasy-top+secret/1",
    ],
)
def test_a_known_secret_is_not_sent(text: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        reject_secrets(web("other-secret", KEY), text)
    assert caught.value.error_type is ErrorType.POLICY_VIOLATION
    assert KEY.casefold() not in caught.value.message.casefold()


def test_what_is_no_secret_is_sent() -> None:
    reject_secrets(web(KEY, "", "short"), "https://short.example/?k=AIza")
    reject_secrets(web(), f"https://a.example/{KEY}")


def test_secrets_are_not_shown() -> None:
    assert KEY not in repr(web(KEY))
