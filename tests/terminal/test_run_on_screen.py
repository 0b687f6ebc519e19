"""A run on a real screen: what stands in the scrollback when it is over, and what is seen while it goes on."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from program_checks import answer, said
from screens import ScreenPerson, at_screen

SHELL = "run_shell_command"


@contextmanager
def run(tmp_path: Path, script: str, *words: str, **how: object) -> Generator[ScreenPerson]:
    path = tmp_path / "script.toml"
    path.write_text(script, encoding="utf-8")
    given = ("-m", f"scripted:{path}", "--sandbox", "off", "-y", "-i", "go", *words)
    with at_screen(*given, **how) as person:  # pyright: ignore[reportArgumentType]
        yield person


def blocks(person: ScreenPerson) -> list[str]:
    """The lines from the prompt to the end of the answer, with every duration as one word."""
    shown = person.screen.history().split("\n")
    start = next(at for at, line in enumerate(shown) if line.startswith("> go"))
    end = next(at for at, line in enumerate(shown) if line == "That is all.")
    return [re.sub(r"under 0\.1 s|\d+\.\d s", "TIME", line) for line in shown[start : end + 1]]


CALLS = answer(
    say="I **look**.",
    calls=[
        ("list_directory", {"path": "${root}"}),
        (SHELL, {"command": "seq 1 20; exit 3"}),
        ("no_such", {"a": "\u202e"}),
        ("read_file", {}),
        ("write_file", {"file_path": "${root}/new.txt", "content": "one\ntwo \n"}),
    ],
) + said("That is all.")


def test_every_call_leaves_its_line(tmp_path: Path) -> None:
    with run(tmp_path, CALLS, rows=60) as person:
        person.wait_for("That is all.", idle=True)
        assert blocks(person) == [
            "> go",
            "",
            "I look.",
            "",
            "✓ ok list_directory . · Directory is empty. · TIME",
            "✗ failed run_shell_command seq 1 20; exit 3 · exit code 3 · TIME",
            "  1",
            "  2",
            "  3",
            "  … 12 more lines (Ctrl-O shows them)",
            "  16",
            "  17",
            "  18",
            "  19",
            "  20",
            '✗ failed no_such {"a": "<U+202E>"}',
            *(line for line in blocks(person) if line.startswith(('  Tool "no_such"', "  registered."))),
            "✗ failed read_file",
            "  Bad arguments: params must have required property 'path'",
            "✓ ok write_file new.txt +2 -0 · TIME",
            "  @@ -0,0 +1,2 @@",
            "  +one",
            "  +two·",
            "",
            "That is all.",
        ]
        person.press("c-o")
        person.wait_for("run_shell_command seq 1 20; exit 3\n  1\n  2\n  3\n  4\n", idle=True)


def test_in_forty_columns(tmp_path: Path) -> None:
    with run(tmp_path, CALLS, rows=60, columns=40) as person:
        person.wait_for("That is all.", idle=True)
        shown = blocks(person)
        assert shown[4:8] == [
            "✓ ok list_directory . · TIME",
            "  Directory is empty.",
            "✗ failed run_shell_command seq 1 20; ex…",
            "  exit code 3, TIME",
        ]
        assert re.search("✓ ok write_file new[.tx…]* [+]2 -0", "\n".join(shown))


def test_what_goes_on_is_seen_and_leaves_no_trace(tmp_path: Path) -> None:
    command = {"command": "seq 1 30; until test -e go; do sleep 0.05; done"}
    script = answer(think="**Planning** it", calls=[(SHELL, command)]) + said("That is all.")
    with run(tmp_path, script) as person:
        person.wait_for("  │ 30", idle=False)
        assert "● run_shell_command seq 1 30;" in person.text
        assert "  │ 26\n" in person.text
        assert "  │ 25\n" not in person.text
        (person.cwd / "go").touch()
        person.wait_for("That is all.", idle=True)
        history = person.screen.history()
        assert "│" not in history
        assert "Thinking" not in history


def test_an_attempt_that_failed_is_counted_down_and_its_words_are_marked(tmp_path: Path) -> None:
    script = answer(say="These words are void.\n\nAnd these", fail="unavailable", retry_after=1) + said("That is all.")
    with run(tmp_path, script) as person:
        person.wait_for("Attempt 1 of ")
        person.wait_for("Next try in 1 s")
        person.wait_for("That is all.", idle=True)
        assert blocks(person) == [
            "> go",
            "",
            "These words are void.",
            "",
            "▲ warning: this attempt failed: its words above do not count.",
            "",
            "That is all.",
        ]


def test_an_interrupt_keeps_what_was_said(tmp_path: Path) -> None:
    script = answer(say="one two three four five six seven eight nine ten", pause=0.2) + said("That is all.")
    with run(tmp_path, script) as person:
        person.wait_for("one two")
        person.press("c-c")
        person.wait_for("■ Stopped: Operation cancelled. The answer above is cut short.", idle=True)
        assert "one two" in person.text
        assert "ten" not in person.text
        person.type("and now?\r")
        person.wait_for("That is all.")


def test_a_hostile_answer_and_hostile_output(tmp_path: Path) -> None:
    command = {"command": r"printf 'a\033]0;owned\007b\033[2Jc\n\302\2332Jd\n'"}
    script = answer(say="x\x1b]0;owned\x07\x1b[2J\u202ey", calls=[(SHELL, command)]) + said("That is all.")
    with run(tmp_path, script) as person:
        person.wait_for("That is all.", idle=True)
        assert "owned\x07" not in person.raw.decode("utf-8", "replace")
        assert "> go" in person.screen.history()
        assert "<U+202E>y" in person.screen.history()
