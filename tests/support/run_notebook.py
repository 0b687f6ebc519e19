"""Executes a notebook in a kernel of its own: `python run_notebook.py NOTEBOOK DIRECTORY`, and writes its outputs."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config


def main(notebook: Path, directory: Path) -> None:
    content = nbformat.read(notebook, as_version=4)
    config = Config()
    config.KernelManager.transport = "ipc"
    config.KernelManager.ip = str(notebook.parent / "k")
    resources = {"metadata": {"path": str(directory)}}
    NotebookClient(content, timeout=100, startup_timeout=100, resources=resources, config=config).execute()
    nbformat.write(content, notebook)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
