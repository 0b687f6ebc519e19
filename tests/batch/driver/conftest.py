"""A batch for each test, with the engine of `support/shell_engine.py`."""

from pathlib import Path

import pytest

from support.batches import SampleBatch, make_repository, use_shell_engine


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_repository(tmp_path_factory.mktemp("repository") / "repo")


@pytest.fixture
def batch(tmp_path: Path, repository: str, monkeypatch: pytest.MonkeyPatch) -> SampleBatch:
    use_shell_engine(monkeypatch)
    return SampleBatch(tmp_path, repository)
