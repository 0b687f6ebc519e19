"""Suggestions for misspelled words."""

import pytest

from tejat.cli.help.parsers import action_parsers, all_parsers, command_names, command_parser
from tejat.cli.help.suggestions import closest, did_you_mean
from tejat.cli.main import main


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("--jsn", "--json"),
        ("--josn", "--json"),
        ("--js", "--json"),
        ("--verb", "--verbose"),
        ("lst", "list"),
        ("nonsense", ""),
        ("", ""),
        ("--", ""),
        ("x" * 1000, ""),
    ],
)
def test_closest(word: str, found: str) -> None:
    assert closest(word, ["--json", "--verbose", "list", "show"]) == found
    assert did_you_mean(word, ["--json", "--verbose", "list", "show"]) == (f" Did you mean {found}?" if found else "")


def test_every_misspelled_flag_of_every_command_gets_one(capsys: pytest.CaptureFixture[str]) -> None:
    missing: list[str] = []
    for parser in all_parsers():
        for action in parser.flag_actions:
            flag = action.option_strings[-1]
            with pytest.raises(SystemExit, match="2"):
                parser.parse_args([f"{flag}x"])
            told = capsys.readouterr().err
            if f"Did you mean {flag}?" not in told:
                missing.append(f"{parser.prog} {flag}: {told}")
    assert missing == []


def test_every_misspelled_action_gets_one(capsys: pytest.CaptureFixture[str]) -> None:
    for command in command_names():
        for row in command_parser(command).action_rows:
            assert main([command, f"{row.label}x"]) == 2
            assert f"Did you mean {row.label}?" in capsys.readouterr().err


def test_actions_with_parsers_of_their_own_are_actions() -> None:
    for command in command_names():
        known = {row.label for row in command_parser(command).action_rows}
        assert action_parsers(command).keys() <= known


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--promt", "x"], "Did you mean --prompt?"),
        (["--aproval-mode", "plan"], "Did you mean --approval-mode?"),
        (["--approval-mode", "plam"], "Did you mean plan?"),
        (["--sandbox=dockr"], "Did you mean docker?"),
        (["-o", "jsn"], "Did you mean json?"),
        (["help", "sesions"], "Did you mean sessions?"),
        (["completion", "bsh"], "Did you mean bash?"),
        (["tools", "call", "x", "--sandbox", "podmn"], "Did you mean podman?"),
        (["docs", "polcy"], "Did you mean policy?"),
    ],
)
def test_flags_and_values_of_a_run(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) in (2, 42)
    assert told in capsys.readouterr().err
