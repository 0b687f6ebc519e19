"""A run on a real screen: what stands in the scrollback when it is over, and what is seen while it goes on."""

import re
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.program import script_answer, text_script
from support.terminal.screen import ScreenUser, open_screen

SHELL = "run_shell_command"


@contextmanager
def run(tmp_path: Path, script: str, *words: str, **how: object) -> Generator[ScreenUser]:
    path = tmp_path / "script.toml"
    path.write_text(script, encoding="utf-8")
    given = ("-m", f"scripted:{path}", "--sandbox", "off", "-y", "-i", "go", *words)
    with open_screen(*given, **how) as user:  # pyright: ignore[reportArgumentType]
        yield user


def blocks(user: ScreenUser) -> list[str]:
    """The lines from the prompt to the end of the answer, with every duration as one word."""
    shown = user.screen.history().split("\n")
    start = next(at for at, line in enumerate(shown) if line.startswith("> go"))
    end = next(at for at, line in enumerate(shown) if line == "That is all.")
    return [re.sub(r"under 0\.1 s|\d+\.\d s", "TIME", line) for line in shown[start : end + 1]]


CALLS = script_answer(
    say="I **look**.",
    calls=[
        ("list_directory", {"path": "${root}"}),
        (SHELL, {"command": "seq 1 30; exit 3"}),
        ("no_such", {"a": "\u202e"}),
        ("read_file", {}),
        ("write_file", {"file_path": "${root}/new.txt", "content": "one\ntwo \n"}),
    ],
) + text_script("That is all.")


def test_every_call_leaves_its_line(tmp_path: Path) -> None:
    with run(tmp_path, CALLS, rows=60) as user:
        user.wait_for("That is all.", idle=True)
        assert blocks(user) == [
            "> go",
            "",
            "I look.",
            "",
            "✓ Listed . (empty)",
            "",
            "✗ Ran seq 1 30; exit 3 (exit 3)",
            "  └ … 18 more lines (Ctrl-O to show)",
            *(f"    {number}" for number in range(19, 31)),
            "",
            '✗ Call no_such a="<U+202E>" (failed)',
            "  └ The model called no_such, which does not exist.",
            "✗ Read (failed)",
            "  └ Invalid arguments: params must have required property 'path'",
            "",
            "✓ Created new.txt +2",
            "    1 + one",
            "    2 + two·",
            "",
            "That is all.",
        ]
        user.press("c-o")
        user.wait_for("Ran seq 1 30; exit 3 (exit 3)\n  └ 1\n    2\n    3\n    4\n", idle=True)


def test_in_forty_columns(tmp_path: Path) -> None:
    with run(tmp_path, CALLS, rows=60, columns=40) as user:
        user.wait_for("That is all.", idle=True)
        shown = blocks(user)
        assert shown[4:8] == [
            "✓ Listed . (empty)",
            "",
            "✗ Ran seq 1 30; exit 3 (exit 3)",
            "  … 18 more lines (Ctrl-O to show)",
        ]
        assert "✓ Created new.txt +2" in shown


def test_what_goes_on_is_seen_and_leaves_no_trace(tmp_path: Path) -> None:
    command = {"command": "seq 1 30; until test -e go; do sleep 0.05; done"}
    script = script_answer(think="**Planning** it", calls=[(SHELL, command)]) + text_script("That is all.")
    with run(tmp_path, script) as user:
        user.wait_for("  │ 30", idle=False)
        assert "● Running seq 1 30;" in user.text
        assert "  │ 26\n" in user.text
        assert "  │ 25\n" not in user.text
        (user.cwd / "go").touch()
        user.wait_for("That is all.", idle=True)
        history = user.screen.history()
        assert "│" not in history
        assert "Thinking" not in history


def test_an_attempt_that_failed_is_counted_down_and_its_words_are_marked(tmp_path: Path) -> None:
    script = script_answer(say="These words are void.\n\nAnd these", fail="unavailable", retry_after=1) + text_script(
        "That is all."
    )
    with run(tmp_path, script) as user:
        user.wait_for("Retrying in 1 s (attempt 2 of ")
        user.wait_for("That is all.", idle=True)
        assert blocks(user) == [
            "> go",
            "",
            "These words are void.",
            "",
            "▲ Warning: This attempt failed. Ignore the text above.",
            "",
            "That is all.",
        ]


def test_an_interrupt_keeps_what_was_said(tmp_path: Path) -> None:
    script = script_answer(say="one two three four five six seven eight nine ten", pause=0.2) + text_script(
        "That is all."
    )
    with run(tmp_path, script) as user:
        user.wait_for("one two")
        user.press("c-c")
        user.wait_for("■ Stopped. The answer above is incomplete.", idle=True)
        assert "one two" in user.text
        assert "ten" not in user.text
        user.type("and now?\r")
        user.wait_for("That is all.")


def test_a_hostile_answer_and_hostile_output(tmp_path: Path) -> None:
    command = {"command": r"printf 'a\033]0;owned\007b\033[2Jc\n\302\2332Jd\n'"}
    script = script_answer(say="x\x1b]0;owned\x07\x1b[2J\u202ey", calls=[(SHELL, command)]) + text_script(
        "That is all."
    )
    with run(tmp_path, script) as user:
        user.wait_for("That is all.", idle=True)
        assert "owned\x07" not in user.raw.decode("utf-8", "replace")
        assert "> go" in user.screen.history()
        assert "<U+202E>y" in user.screen.history()


EXPLORING = script_answer(
    calls=[("list_directory", {"path": "${root}"}), ("glob", {"pattern": "*.py"})],
) + script_answer(say="That is all.", pause=60)
EXPLORED = ["✓ Explored", "  └ Listed . (empty)", '    Found files "*.py" (no files)']


@pytest.mark.parametrize("key", ["c-c", "escape"])
def test_an_interrupt_prints_what_was_explored(tmp_path: Path, key: str) -> None:
    with run(tmp_path, EXPLORING) as user:
        user.wait_for("Explored\n")
        assert "● Working (" in user.text
        user.press(key)
        user.wait_for("■ Stopped.", idle=True)
        shown = user.screen.history().split("\n")
        start = shown.index(EXPLORED[0])
        assert shown[start - 2 : start + 5] == ["> go", "", *EXPLORED, "", "■ Stopped."]
        assert shown.count(EXPLORED[0]) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_prints_what_was_explored(tmp_path: Path, number: signal.Signals) -> None:
    with run(tmp_path, EXPLORING) as user:
        user.wait_for("Explored\n")
        user.signal(number)
        user.wait_for_exit()
        assert "\n".join(EXPLORED) in user.screen.history()
        assert user.screen.history().count(EXPLORED[0]) == 1
