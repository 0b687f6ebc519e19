"""A workspace for the tools to work in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.workspace.context import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "root"
    root.mkdir()
    return root


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    with Workspace([root]) as workspace:
        yield workspace
