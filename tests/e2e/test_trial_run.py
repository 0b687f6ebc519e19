"""A person at the prompt has a command tried in a copy, looks at what it changed, and keeps it or not."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.program import script_answer, text_script
from support.terminal.screen import ScreenUser, open_screen
from tejat.ui.terminal.dialogs.key_guard import GRACE_SECONDS

SCRIPT = script_answer(
    say="I tidy up.",
    calls=[("run_shell_command", {"command": "rm old.txt; echo new >> notes.txt; echo done; exit 3"})],
) + text_script("That is all.")

TRY = "Try it in a copy first"


def press(user: ScreenUser, *keys: str) -> None:
    """Answer what was just asked; what is typed in the first moment does not count."""
    time.sleep(GRACE_SECONDS)
    user.press(*keys)


@contextmanager
def asked(tmp_path: Path, **how: object) -> Generator[ScreenUser]:
    script, project = tmp_path / "script.toml", tmp_path / "project"
    script.write_text(SCRIPT, encoding="utf-8")
    project.mkdir()
    (project / "old.txt").write_text("old\n")
    (project / "notes.txt").write_text("first\n")
    with open_screen("-m", f"scripted:{script}", "-i", "go", cwd=project, **how) as user:  # pyright: ignore[reportArgumentType]
        user.wait_for("Run a command", idle=True)
        if TRY not in user.text and "c copy" not in user.text:
            pytest.skip("NOT TESTED: this machine has no bubblewrap that can lay a copy over files (overlayfs)")
        yield user


@pytest.mark.parametrize("columns", [80, 40])
def test_what_it_changed_is_seen_and_kept(tmp_path: Path, columns: int) -> None:
    project = tmp_path / "project"
    with asked(tmp_path, rows=60, columns=columns) as user:
        press(user, "c")
        user.wait_for("Trial run in a copy: 2 files changed", idle=True)
        shown = "".join(user.text.split())
        for text in ("Exit code: 3", "removed: ", "changed: ", "+ new", "- old", "Keep these changes?"):
            assert text.replace(" ", "") in shown
        assert (project / "old.txt").exists()
        press(user, "end", "y")
        user.wait_for("That is all.", idle=True)
        assert "(exit 3)" in user.screen.history()
    assert not (project / "old.txt").exists()
    assert (project / "notes.txt").read_text() == "first\nnew\n"


def test_a_no_leaves_everything_as_it_was(tmp_path: Path) -> None:
    project = tmp_path / "project"
    with asked(tmp_path, rows=60) as user:
        press(user, "c")
        user.wait_for("Trial run in a copy: 2 files changed", idle=True)
        press(user, "n")
        user.wait_until_gone("Keep these changes?", idle=True)
        user.wait_for("(not run: ", idle=True)
    assert (project / "old.txt").read_text() == "old\n"
    assert (project / "notes.txt").read_text() == "first\n"
