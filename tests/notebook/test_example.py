"""The notebook of the documentation, and the cells of its page, in a real kernel."""

import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from support.notebooks import data_of, execute_cells, execute_notebook, printed

DOCS = Path(__file__).parents[2] / "docs"
CLICK = """
import time
while approver.panel is None and not run.is_done:
    time.sleep(0.05)
approver.panel.buttons["Allow once"].click()
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DOCS / "examples", tmp_path / "examples"))


def test_the_notebook(directory: Path) -> None:
    notebook = nbformat.read(directory / "notebook.ipynb", as_version=4)
    assert [cell.id for cell in notebook.cells if cell.cell_type == "code" and cell.outputs] == []
    (place,) = [at for at, cell in enumerate(notebook.cells) if "after-approval" in cell.metadata.get("tags", ())]
    notebook.cells.insert(place, nbformat.v4.new_code_cell(CLICK))
    _open, asked, watched, _click, waited, read, transcript, as_dict, _close = execute_notebook(notebook, directory)
    assert "It says <em>Helo world</em>, with a <strong>typo</strong>." in data_of(asked, "text/html")[0]
    (view,) = data_of(watched, "text/html")
    assert re.search(r'<tr class="added">.*Hello', view)
    assert "The typo is gone." in view
    assert '<code class="object">greeting.txt</code>' in view
    assert "The typo is gone." in data_of(waited, "text/html")[0]
    assert data_of(read, "text/plain") == [repr("Hello world\n")]
    (shown,) = data_of(transcript, "text/html")
    assert '<code class="object">greeting.txt</code>' in shown
    assert re.search(r'<tr class="added">.*Hello', shown)
    assert "{'$': 'Message'," in data_of(as_dict, "text/plain")[0]


def cells(page: str) -> list[str]:
    """The blocks of a page that are cells of one notebook."""
    return re.findall(r"^```ipython\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_cells_of_the_page(directory: Path) -> None:
    found: list[Any] = cells("python/notebooks.md")
    assert len(found) >= 4
    at = next(number for number, cell in enumerate(found) if "run.wait()" in cell)
    outputs = execute_cells([*found[:at], CLICK, *found[at:], "print(open('notes.txt').read())"], directory)
    assert "I wrote it down." in data_of(outputs[at + 1], "text/html")[0]
    assert printed(outputs[-1]) == "Buy milk.\n\n"
