"""A long text in a pager: which one, what it gets, and what is left behind."""

import asyncio
from pathlib import Path

import pytest

from support.terminal.pty_program import run_at_terminal, write_script
from tejat.core.errors import UsageError
from tejat.ui.shared.external.pager import Pager

PAGE = """
import asyncio
from tejat.ui.shared.external.pager import Pager
asyncio.run(Pager().show("one\\n\\x1b[2Jtwo\\u202e"))
print("done")
"""


def test_it_gets_the_text_with_nothing_hidden_and_runs_nothing_else(tmp_path: Path) -> None:
    pager = write_script(
        tmp_path / "pager", 'cat "$2"', 'stat -c "%a" "$2"', 'echo "[$1 $LESSSECURE $LESSOPEN]"', "read line"
    )
    with run_at_terminal("-c", PAGE, PAGER=f"{pager} -x", TMPDIR=str(tmp_path), LESSOPEN="|touch MARK") as terminal:
        shown = terminal.wait_for("[-x 1 ]\n")
        assert "one\n<U+001B>[2Jtwo<U+202E>\n600\n" in shown
        terminal.type(b"\n")
        assert terminal.wait_for_exit() == (0, "done\n")
    assert [path.name for path in tmp_path.iterdir()] == ["pager"]


class TestWhichPager:
    def test_the_persons_own_first_then_what_there_is(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("PAGER", "mine -x")
        write_script(tmp_path / "more")
        assert Pager()._command() == [f"{tmp_path}/more"]
        write_script(tmp_path / "less")
        assert Pager()._command() == [f"{tmp_path}/less"]
        write_script(tmp_path / "mine")
        assert Pager()._command() == [f"{tmp_path}/mine", "-x"]
        monkeypatch.setenv("PAGER", "'")
        assert Pager()._command() == [f"{tmp_path}/less"]

    def test_none_that_lies_where_the_work_is(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", f".:{tmp_path}")
        monkeypatch.delenv("PAGER", raising=False)
        write_script(tmp_path / "less")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError, match="No pager is available"):
            asyncio.run(Pager((str(tmp_path),)).show("x"))
