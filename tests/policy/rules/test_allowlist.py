import pytest

from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.types import Decision, Tier

COMMANDS = AllowlistRule(Decision.DENY, Tier.USER, "x", "run_shell_command", commands=(("git", "status"), ("ls",)))
SERVERS = AllowlistRule(Decision.DENY, Tier.USER, "x", server="*", servers=frozenset({"good"}))


@pytest.mark.parametrize(
    ("words", "holds"),
    [
        (("git", "status"), False),
        (("git", "status", "-s"), False),
        (("ls",), False),
        (("git",), True),
        (("git", "push"), True),
        (("lsx",), True),
        ((), True),
    ],
)
def test_commands(words: tuple[str, ...], holds: bool) -> None:
    assert COMMANDS.applies_to_command(words) == holds


def test_servers() -> None:
    assert SERVERS.applies_to_server("bad")
    assert not SERVERS.applies_to_server("good")
    assert not SERVERS.applies_to_server(None)
    assert COMMANDS.applies_to_server(None)
    assert not SERVERS.applies_to_command(("ls",))


def test_what_it_depends_on() -> None:
    assert (COMMANDS.is_restricted, SERVERS.is_restricted) == (True, False)


def test_its_words() -> None:
    assert (COMMANDS.allowlist_text, SERVERS.allowlist_text) == ("git status, ls", "good")
    assert AllowlistRule(Decision.DENY, Tier.USER, "x", servers=frozenset()).allowlist_text == "nothing"
