"""`tejat docs`: the installed documentation, for people and programs."""

import json
from pathlib import Path

import pytest

from support.source_tree import ROOT, installed_pages
from support.terminal.pty_program import run_at_terminal, write_script
from tejat.cli.main import main

PAGES = {page.removesuffix(".md") for page in installed_pages()}


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs"]) == 0
    heading, first, second, *rest = capsys.readouterr().out.splitlines()
    assert heading.split() == ["PAGE", "TITLE"]
    assert [line.split()[0] for line in (first, second)] == ["index", "start"]
    assert {line.split()[0] for line in rest} == PAGES - {"index", "start"}


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--json"]) == 0
    pages = json.loads(capsys.readouterr().out)
    assert {page["name"] for page in pages} == PAGES
    assert all(Path(page["path"]).is_file() and page["title"] for page in pages)


@pytest.mark.parametrize("name", ["hooks", "HOOKS", "hooks.md", "docs/hooks.md"])
def test_a_page(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", name]) == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8")
    assert main(["docs", name, "--path"]) == 0
    assert Path(capsys.readouterr().out.strip()).resolve() == ROOT / "docs" / "hooks.md"


@pytest.mark.parametrize("name", ["editors/zed", "zed", "docs/editors/zed.md"])
def test_a_page_in_a_folder(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", name]) == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "editors" / "zed.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(PAGES))
def test_pictures_and_comments_are_left_out(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", name]) == 0
    shown = capsys.readouterr().out.splitlines()
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in shown if line.startswith(("<", "  <"))] == []
    assert [line for line in shown if line] == [line for line in text if line and not line.startswith(("<", "  <"))]


@pytest.mark.parametrize(("name", "told"), [("polcy", "Did you mean policy?"), ("../README", "Pages: index, start, ")])
def test_no_such_page(name: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", name]) == 2
    assert told in capsys.readouterr().err


AT_A_TERMINAL = """
import os
os.dup2(0, 1)
from tejat.cli.main import main
main(["docs", "start"])
"""


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ("less", "\x1b[1;4mStart here\x1b[0m\n[-R -Ps?eEnd, q to continue:Space for more, q to continue.$]\n"),
        ("mine", "# Start here\n[]\n"),
    ],
)
def test_at_a_terminal_a_page_is_rendered_for_less(program: str, shown: str, tmp_path: Path) -> None:
    pager = write_script(tmp_path / program, 'head -1 "$1"', 'echo "[$LESS]"')
    home = str(tmp_path)
    with run_at_terminal("-c", AT_A_TERMINAL, HOME=home, PAGER=str(pager), NO_COLOR="1", LESS="") as terminal:
        assert terminal.wait_for("]\n").endswith(shown)
        assert terminal.wait_for_exit()[0] == 0
