"""Notebooks that are executed in a real kernel."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest

RUNNER = Path(__file__).parent / "run_notebook.py"


def execute_cells(cells: Sequence[str], directory: Path) -> list[list[dict[str, Any]]]:
    """Execute cells of code, and return the outputs of each. A cell that fails is an AssertionError."""
    return execute_notebook(nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells))), directory)


def execute_notebook(notebook: Any, directory: Path) -> list[list[dict[str, Any]]]:
    """Execute a notebook in a directory, and return the outputs of each cell of code."""
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch:  # short, because sockets are in it
        file = Path(scratch) / "notebook.ipynb"
        nbformat.write(notebook, file)
        places = {"HOME": scratch, "IPYTHONDIR": f"{scratch}/ipython", "JUPYTER_RUNTIME_DIR": f"{scratch}/runtime"}
        done = subprocess.run(
            [sys.executable, str(RUNNER), str(file), str(directory)],
            env={**os.environ, **places},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        executed = nbformat.read(file, as_version=4)
    return [cell.outputs for cell in executed.cells if cell.cell_type == "code"]


class RecordedOutputs:
    """Takes the place of the front end of IPython: remembers what is shown, updates too."""

    def __init__(self) -> None:
        self.contents: list[Any] = []

    def display(self, content: Any, *, display_id: bool = False) -> "RecordedOutputs":
        self.contents.append(getattr(content, "data", content))
        return self

    def update(self, content: Any) -> None:
        self.display(content)


def record_outputs(monkeypatch: pytest.MonkeyPatch) -> RecordedOutputs:
    """Pretend that this process is a kernel."""
    made = RecordedOutputs()
    monkeypatch.setattr("IPython.get_ipython", lambda: made)
    monkeypatch.setattr("IPython.display.display", made.display)
    return made


def data_of(outputs: Sequence[dict[str, Any]], mime_type: str) -> list[str]:
    """The contents of this type among outputs."""
    return [each["data"][mime_type] for each in outputs if mime_type in each.get("data", {})]


def printed(outputs: Sequence[dict[str, Any]]) -> str:
    """What cells printed."""
    return "".join(each["text"] for each in outputs if each["output_type"] == "stream" and each["name"] == "stdout")
