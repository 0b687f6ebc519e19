"""What runs hooks in these tests, and ends them afterwards."""

from collections.abc import Generator

import pytest

from tejat.workspace.processes.keeping import Keeper


@pytest.fixture
def keeper() -> Generator[Keeper]:
    keeper = Keeper()
    yield keeper
    keeper.close()
