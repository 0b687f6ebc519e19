import pytest

from tejat.policy.rules import Decision, Tier
from tejat.policy.unlisted import Unlisted

COMMANDS = Unlisted(Decision.DENY, Tier.USER, "x", "run_shell_command", commands=(("git", "status"), ("ls",)))
SERVERS = Unlisted(Decision.DENY, Tier.USER, "x", server="*", servers=frozenset({"good"}))


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
    assert COMMANDS.holds_for_command(words) == holds


def test_servers() -> None:
    assert SERVERS.holds_for_server("bad")
    assert not SERVERS.holds_for_server("good")
    assert not SERVERS.holds_for_server(None)
    assert COMMANDS.holds_for_server(None)
    assert not SERVERS.holds_for_command(("ls",))


def test_what_it_depends_on() -> None:
    assert (COMMANDS.is_restricted, SERVERS.is_restricted) == (True, False)


def test_its_words() -> None:
    assert (COMMANDS.listed_text, SERVERS.listed_text) == ("git status, ls", "good")
    assert Unlisted(Decision.DENY, Tier.USER, "x", servers=frozenset()).listed_text == "nothing"
