"""A long text in a pager: which one, what it gets, and what is left behind."""

import asyncio
from pathlib import Path
from typing import Any

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


WANTED = "from tejat.ui.shared.external.pager import Pager; raise SystemExit(0 if Pager().is_wanted else 1)"
AT_TERMINAL = ("-c", "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', sys.argv[1]], stdout=2))")


class TestWanted:
    @pytest.mark.parametrize(
        ("environment", "code"),
        [
            ({}, 0),
            ({"PAGER": "less -S"}, 0),
            ({"PAGER": "cat"}, 1),
            ({"PAGER": ""}, 1),
            ({"TERM": "dumb"}, 1),
        ],
    )
    def test_at_a_terminal_unless_it_is_turned_off(self, environment: dict[str, Any], code: int) -> None:
        with run_at_terminal(*AT_TERMINAL, WANTED, **environment) as terminal:
            assert terminal.wait_for_exit()[0] == code

    def test_not_for_output_that_goes_elsewhere(self) -> None:
        with run_at_terminal("-c", WANTED) as terminal:
            assert terminal.wait_for_exit()[0] == 1


class TestLess:
    """The prompt says how to go on, and the options of the user count."""

    def shown(self, directory: Path, **environment: Any) -> str:
        less = write_script(directory / "less", 'echo "[$LESS]"')
        with run_at_terminal("-c", PAGE, PAGER=less, TMPDIR=str(directory), **environment) as terminal:
            shown = terminal.wait_for("]\n")
            assert terminal.wait_for_exit() == (0, "done\n")
        return shown

    def test_the_prompt(self, tmp_path: Path) -> None:
        assert self.shown(tmp_path) == "[-Ps?eEnd, q to continue:Space for more, q to continue.$]\n"

    def test_options_of_the_user(self, tmp_path: Path) -> None:
        assert self.shown(tmp_path, LESS="-S -Psmine$") == "[-S -Psmine$]\n"
        assert self.shown(tmp_path, LESS="-S").startswith("[-S -Ps?e")


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
