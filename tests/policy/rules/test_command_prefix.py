import pytest

from tejat.policy.rules.command_prefix import InvalidPrefix, format_prefix, parse_prefix


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("git log", ("git", "log")),
        ("  git   log ", ("git", "log")),
        ('git commit -m "fix"', ("git", "commit", "-m", "fix")),
        ("echo 'a | b' c", ("echo", "a | b", "c")),
        ("echo a,b", ("echo", "a,b")),
        (r"C:\tools\x", (r"C:\tools\x",)),
        ("", ()),
    ],
)
def test_words(text: str, words: tuple[str, ...]) -> None:
    assert parse_prefix(text) == words


@pytest.mark.parametrize(
    "text", ["a | b", "a; b", "a && b", "a *", "a:*", "$x", "a > b", "`a`", "A=1 b", "a 'b", 'a "b']
)
def test_what_no_command_begins_with(text: str) -> None:
    with pytest.raises(InvalidPrefix, match="can never match"):
        parse_prefix(text)


def test_as_text_again() -> None:
    assert format_prefix(("git", "log")) == "git log"
    assert format_prefix(("a b",)) is None
    assert format_prefix(("find", "*")) is None
