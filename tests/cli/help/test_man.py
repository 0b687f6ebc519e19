"""The man page: up to date, complete and without warnings."""

import re
import runpy
import shutil
import subprocess

import pytest

from support.source_tree import ROOT
from tejat.cli.flags import FLAGS
from tejat.cli.help.man import format_man
from tejat.cli.help.page import HelpPage, HelpRow, HelpSection
from tejat.cli.subcommands import NAMES, RESERVED

PAGE = ROOT / "packaging" / "data" / "share" / "man" / "man1" / "tejat.1"


def render() -> str:
    return runpy.run_path(str(ROOT / "scripts" / "man"))["render"]()


def test_it_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run .venv/bin/python scripts/man"


def test_everything_is_in_it() -> None:
    text = PAGE.read_text(encoding="utf-8").replace("\\-", "-")
    assert [flag for flag in FLAGS if flag not in text] == []
    assert [name for name in {*NAMES} - RESERVED if f'.B "{name}"' not in text] == []


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_it_is_formatted_without_warnings() -> None:
    words = ["groff", "-man", "-ww", "-Tutf8", "-P-c"]
    done = subprocess.run([*words, PAGE], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--output-format" in re.sub(".\b", "", done.stdout)


def test_characters_that_groff_would_interpret() -> None:
    row = HelpRow("-x 'A \"B\"'", "one\\two")
    page = HelpPage("tejat", ("tejat [-x]",), ".PP first", (HelpSection("a", (row,)), HelpSection("b", (row,))))
    text = format_man(page, [page], "1.0-rc")
    assert r'.B "\-x \(aqA \(dqB\(dq\(aq"' in text
    assert r"one\etwo" in text
    assert "\n\\&.PP first\n" in text
