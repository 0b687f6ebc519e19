"""A long text in a pager: which one, what it gets, and what is left behind."""

import asyncio
from pathlib import Path

import pytest

from tejat.core.errors import UsageError
from tejat.frontends.external_pager import Pager
from terminal_checks import at_terminal, script

PAGE = """
import asyncio
from tejat.frontends.external_pager import Pager
asyncio.run(Pager().show("one\\n\\x1b[2Jtwo\\u202e"))
print("done")
"""


def test_it_gets_the_text_with_nothing_hidden_and_runs_nothing_else(tmp_path: Path) -> None:
    pager = script(
        tmp_path / "pager", 'cat "$2"', 'stat -c "%a" "$2"', 'echo "[$1 $LESSSECURE $LESSOPEN]"', "read line"
    )
    with at_terminal("-c", PAGE, PAGER=f"{pager} -x", TMPDIR=str(tmp_path), LESSOPEN="|touch MARK") as terminal:
        shown = terminal.wait_for("[-x 1 ]\n")
        assert "one\n<U+001B>[2Jtwo<U+202E>\n600\n" in shown
        terminal.type(b"\n")
        assert terminal.end() == (0, "done\n")
    assert [path.name for path in tmp_path.iterdir()] == ["pager"]


class TestWhichPager:
    def test_the_persons_own_first_then_what_there_is(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("PAGER", "mine -x")
        script(tmp_path / "more")
        assert Pager()._command() == [f"{tmp_path}/more"]
        script(tmp_path / "less")
        assert Pager()._command() == [f"{tmp_path}/less"]
        script(tmp_path / "mine")
        assert Pager()._command() == [f"{tmp_path}/mine", "-x"]
        monkeypatch.setenv("PAGER", "'")
        assert Pager()._command() == [f"{tmp_path}/less"]

    def test_none_that_lies_where_the_work_is(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", f".:{tmp_path}")
        monkeypatch.delenv("PAGER", raising=False)
        script(tmp_path / "less")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError, match="No pager is available"):
            asyncio.run(Pager((str(tmp_path),)).show("x"))
