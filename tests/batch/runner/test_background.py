"""Background processes that a run left are stopped by a later process."""

import os
from pathlib import Path

from support.process_marks import living_pids
from tejat.batch.runner.background import stop_background_jobs
from tejat.workspace.jobs.store import JobStore
from tejat.workspace.processes.spawn import ProcessSpec


def test_all_are_stopped(tmp_path: Path, jobs: JobStore, mark: str) -> None:
    directory = os.open(tmp_path, os.O_RDONLY)
    for _ in range(2):
        spec = ProcessSpec(("/bin/sleep", mark), directory, {})
        jobs.start(spec, command="sleep", directory=str(tmp_path), on_exit=lambda: None)
    os.close(directory)
    assert len(living_pids(mark)) == 2
    stop_background_jobs(str(tmp_path / "jobs"))
    assert living_pids(mark) == []
    stop_background_jobs(str(tmp_path / "jobs"))


def test_none_is_fine(tmp_path: Path) -> None:
    stop_background_jobs(str(tmp_path / "missing"))
    assert list(tmp_path.iterdir()) == []
