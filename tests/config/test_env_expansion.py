"""References to variables: every spelling, what stays as it is, and what a project never gets to see."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.config.env_expansion import env_resolver, is_secret
from tejat.config.paths import SourceTier

VARIABLES = {
    "HOME": "/home/me",
    "EMPTY": "",
    "LOOP": "$HOME",
    "A_1": "one",
    "GEMINI_API_KEY": "k",
    "DATABASE": "postgres://me:pw@h/d",
}
RESOLVED = [
    ("", ""),
    ("plain", "plain"),
    ("$HOME/x", "/home/me/x"),
    ("${HOME}x", "/home/mex"),
    ("$A_1$A_1", "oneone"),
    ("$HOMEx", "$HOMEx"),
    ("${NOWHERE}", "${NOWHERE}"),
    ("$NOWHERE", "$NOWHERE"),
    ("${NOWHERE:-a b}", "a b"),
    ("${NOWHERE:-}", ""),
    ("${EMPTY}", ""),
    ("${EMPTY:-x}", "x"),
    ("${HOME:-x}", "/home/me"),
    ("$LOOP", "$HOME"),
    ("${NOWHERE:-$HOME}", "$HOME"),
    ("$", "$"),
    ("$$HOME", "$/home/me"),
    ("${", "${"),
    ("${HOME", "${HOME"),
    ("${}", "${}"),
    ("${1}", "${1}"),
    ("$1", "$1"),
    ("${HO ME}", "${HO ME}"),
    ("%HOME%", "%HOME%"),
    ("a$", "a$"),
]


@pytest.mark.parametrize("tier", SourceTier)
@pytest.mark.parametrize(("text", "value"), RESOLVED)
def test_spellings(text: str, value: str, tier: SourceTier) -> None:
    assert env_resolver(VARIABLES, tier)(text) == value


def test_what_has_no_value_may_become_nothing() -> None:
    resolve = env_resolver(VARIABLES, SourceTier.WORKSPACE, unset="")
    assert resolve("$NOWHERE|${NOWHERE}|${NOWHERE:-x}|$HOME|$LOOP|$NO_KEY") == "||x|/home/me|$HOME|$NO_KEY"


@pytest.mark.parametrize(
    "text", ["$GEMINI_API_KEY", "${GEMINI_API_KEY}", "http://h/${GEMINI_API_KEY:-x}", "$DATABASE", "${DATABASE}"]
)
def test_a_project_gets_no_secret(text: str) -> None:
    assert env_resolver(VARIABLES, SourceTier.WORKSPACE)(text) == text
    assert env_resolver(VARIABLES, SourceTier.USER)(text) != text
    assert env_resolver(VARIABLES, SourceTier.ADMIN)(text) != text


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("GITHUB_TOKEN", "", True),
        ("my_secret", "", True),
        ("DB_PASS", "", True),
        ("AWS_ACCESS_KEY_ID", "", True),
        ("X", "ghp_0123456789abcdef", True),
        ("X", "AIzaSyA-0123456789", True),
        ("X", "-----BEGIN RSA PRIVATE KEY-----", True),
        ("X", "https://me:pw@example.com", True),
        ("X", "https://example.com:80/a@b", False),
        ("HOME", "/home/me", False),
        ("OPENAIKEY", "", True),
        ("PRIVATE_KEY_ID", "", True),
        ("AUTHOR", "Some Body", False),
        ("SSH_AUTH_SOCK", "/run/ssh", False),
        ("KEYBOARD", "us", False),
        ("TOKEN_FILE", "/run/token", False),
        ("GEMINI_API_KEY_AUTH_MECHANISM", "x-goog-api-key", False),
        ("PORT", "8080", False),
    ],
)
def test_what_looks_like_a_secret(name: str, value: str, secret: bool) -> None:
    assert is_secret(name, value) is secret


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="${}:-AKEY_ 1"), value=st.text(max_size=5))
def test_a_project_never_sees_it_however_it_is_spelled(text: str, value: str) -> None:
    hidden = "\N{SNOWMAN}" + value
    resolve = env_resolver({"KEY": hidden, "A": "a", "A_KEY": hidden, "AKEY": hidden}, SourceTier.WORKSPACE)
    assert "\N{SNOWMAN}" not in resolve(text)


NAME_PIECES = [
    "KEY",
    "KEYS",
    "TOKEN",
    "AUTH",
    "AUTHOR",
    "PASS",
    "PASSWORD",
    "URL",
    "FILE",
    "_",
    "ID",
    "X",
    "k",
    "PRIVATE",
]
VALUE_PIECES = ["://", "@", ":", "me", "/", " ", "ghp_", "gh", "sk-", "AKIA", "xoxb-", "eyJ", "0123abcd", "-----BEGIN "]
# The same said in one expression for each.
NAME = (
    r"^(?!.*_(?:FILE|PATH|DIR|SOCK|SOCKET|URL|URI)$).*"
    r"(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|KEY(?:S|_ID)?$|(?:^|_)(?:KEY|PASS|AUTH|CREDS|PRIVATE|COOKIE)(?:_|$))"
)
VALUE = r"://[^/@\s]*:[^/@\s]+@|-----BEGIN |\b(?:gh[a-z]_|github_pat_|AIzaSy|AKIA|sk-|xox[a-z]-|eyJ)[\w-]{8}"


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(NAME_PIECES), max_size=5), st.lists(st.sampled_from(VALUE_PIECES), max_size=5))
def test_secrets_of_any_name_and_value(name_pieces: list[str], value_pieces: list[str]) -> None:
    name, value = "".join(name_pieces), "".join(value_pieces)
    assert is_secret(name, "") is (re.search(NAME, name.upper()) is not None)
    assert is_secret("", value) is (re.search(VALUE, value) is not None)
