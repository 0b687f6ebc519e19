"""The tokens of a command line."""

import pytest

from tejat.cli.flags import Token, requested_information, split_words


def test_words_flags_and_what_stands_after_two_hyphens() -> None:
    words = ["say", "-yd", "--sandbox", "hi", "--approvalMode=plan", "--", "-x", "--"]
    assert list(split_words(words)) == [
        Token("", "say"),
        Token("--yolo", value=True),
        Token("--debug", value=True),
        Token("--sandbox", "true"),
        Token("", "hi"),
        Token("--approval-mode", "plan"),
        Token("--", "-x"),
        Token("--", "--"),
    ]


def test_a_mistake_does_not_hide_the_rest() -> None:
    found = list(split_words(["--nonsense", "-o", "json", "-Z", "-m"]))
    assert [(token.flag, token.value) for token in found if not token.error] == [("--output-format", "json")]
    assert [token.error for token in found if token.error] == [
        "Unknown flag --nonsense.",
        "Unknown flag -Z.",
        "The flag --model needs a value.",
    ]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["-m", "x", "--version"], "--version"),
        (["-yv"], "--version"),
        (["--nonsense", "-V"], "--version"),
        (["hi", "-h", "-v"], "--help"),
        (["--version=false", "--no-help"], ""),
        (["-p", "--version"], ""),
        (["-p=--version"], ""),
        (["--prompt=--help"], ""),
        (["-m", "-v"], "--version"),
        (["--", "--version"], ""),
        (["hi"], ""),
    ],
)
def test_help_and_version_are_found_anywhere(words: list[str], asked: str) -> None:
    assert requested_information(words) == asked
