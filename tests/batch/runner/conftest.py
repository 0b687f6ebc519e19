"""Jobs for the tests of the runner."""

from pathlib import Path

import pytest

from support.batch_jobs import JobCase


@pytest.fixture
def case(tmp_path: Path) -> JobCase:
    return JobCase(tmp_path)
