"""What was typed is there next time, for its owner only, whatever else happens to the file."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.ui.terminal.editor.prompt_history import PromptHistory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "project" / "history"


def modes(path: Path) -> tuple[int, int]:
    return stat.S_IMODE(path.parent.stat().st_mode), stat.S_IMODE(path.stat().st_mode)


def test_entries_are_kept_for_the_owner(path: Path) -> None:
    history = PromptHistory(str(path))
    for entry in ("one", "two\nlines\u2028", "two\nlines\u2028", " ", "!ls", "one"):
        history.add(entry)
    expected = ["one", "two\nlines\u2028", "!ls", "one"]
    assert (list(history.entries), history.problem) == (expected, None)
    assert list(PromptHistory(str(path)).entries) == expected
    assert modes(path) == (0o700, 0o600)


def test_tokens_are_kept_in_memory_only(path: Path) -> None:
    history = PromptHistory(str(path))
    history.add("use xoxb-1234567890-abcdefghij")
    assert list(history.entries) == ["use xoxb-1234567890-abcdefghij"]
    assert list(PromptHistory(str(path)).entries) == ["use ***"]


def test_a_key_after_login_is_not_kept(path: Path) -> None:
    history = PromptHistory(str(path))
    for entry in ("/login gemini my-key", "/auth my-very-long-key-0", "/LOGIN x y", "/login gemini", "/auth signout"):
        history.add(entry)
    assert list(history.entries) == ["/login gemini", "/auth signout"]


def test_wrong_modes_are_put_right(path: Path) -> None:
    path.parent.mkdir(mode=0o755)
    path.write_text('"old"\n')
    path.chmod(0o644)
    history = PromptHistory(str(path))
    history.add("new")
    assert (list(PromptHistory(str(path)).entries), modes(path)) == (["old", "new"], (0o700, 0o600))


def test_damaged_lines_are_skipped(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'"good"\n{"no": 1}\n\xff\xfe\n[1\n""\n12\n' + b"[" * 100_000 + b'\n"better"\n"cut of')
    history = PromptHistory(str(path))
    assert list(history.entries) == ["good", "better"]
    history.add("next")
    assert list(PromptHistory(str(path)).entries) == ["good", "better", "next"]


def test_only_the_newest_thousand_are_kept_and_the_file_is_tidied(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("".join(json.dumps(f"entry {number}") + "\n" for number in range(2000)))
    history = PromptHistory(str(path))
    assert (len(history.entries), history.entries[0]) == (1000, "entry 1000")
    history.add("last")
    assert (len(history.entries), history.entries[0], history.entries[-1]) == (1000, "entry 1001", "last")
    lines = path.read_text().splitlines()
    assert (len(lines), lines[-1], modes(path)) == (1000, '"last"', (0o700, 0o600))
    assert list(path.parent.iterdir()) == [path]


def test_what_is_very_long_is_kept_by_this_program_only(path: Path) -> None:
    history = PromptHistory(str(path))
    history.add("short")
    for number in range(12):
        history.add(f"{number}" * 100_001)
    assert [len(entry) for entry in history.entries] == [5, *[100_001] * 8, *[200_002] * 2]
    assert list(PromptHistory(str(path)).entries) == ["short"]


def test_without_a_path_nothing_is_written() -> None:
    history = PromptHistory()
    history.add("one")
    assert (list(history.entries), history.problem) == (["one"], None)


@pytest.mark.parametrize("kind", ["directory", "link", "pipe"])
def test_something_else_in_its_place_is_left_alone(path: Path, kind: str) -> None:
    path.parent.mkdir()
    target = path.parent / "target"
    target.write_text('"secret"\n')
    match kind:
        case "directory":
            path.mkdir()
        case "link":
            path.symlink_to(target)
        case _:
            os.mkfifo(path)
    history = PromptHistory(str(path))
    assert history.problem is not None
    history.add("one")
    assert list(history.entries) == ["one"]
    assert history.problem.startswith(f"Prompt history is off: {path}: ")
    assert target.read_text() == '"secret"\n'


def test_a_directory_that_cannot_be_made_is_no_reason_to_stop(path: Path) -> None:
    path.parent.write_text("a file")
    history = PromptHistory(str(path))
    assert list(history.entries) == []
    history.add("one")
    history.add("two")
    assert list(history.entries) == ["one", "two"]
    assert history.problem == f"Prompt history is off: {path}: Not a directory."


PROGRAM = """
import sys
from tejat.ui.terminal.editor.prompt_history import PromptHistory
history = PromptHistory(sys.argv[1])
for number in range(150):
    history.add(f"{sys.argv[2]} {number}")
assert history.problem is None, history.problem
"""


def test_programs_do_not_lose_what_others_wrote(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("".join(json.dumps(f"entry {number}") + "\n" for number in range(1900)))
    programs = [subprocess.Popen([sys.executable, "-c", PROGRAM, str(path), name]) for name in "abc"]
    assert [program.wait(100) for program in programs] == [0, 0, 0]
    entries = PromptHistory(str(path)).entries
    for name in "abc":
        own = [entry for entry in entries if entry.startswith(f"{name} ")]
        assert own == [f"{name} {number}" for number in range(150)]
