"""What runs hooks in these tests, and ends them afterwards."""

from collections.abc import Generator

import pytest

from tejat.workspace.processes.supervisor_client import ProcessSupervisor


@pytest.fixture
def supervisor() -> Generator[ProcessSupervisor]:
    supervisor = ProcessSupervisor()
    yield supervisor
    supervisor.close()
