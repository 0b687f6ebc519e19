"""The part of the engine on the nodes."""

import os
from pathlib import Path

import pytest

from tejat.batch.directory import BatchDirectory
from tejat.batch.engines.ray.worker import (
    UnfitNode,
    WorkerRequest,
    machine_id,
    node_directory,
    problem_result,
    remove_directory,
    run_job,
    shares_directory,
)
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.job import TaskJob
from tejat.batch.result import TaskFailure, TaskStatus
from tejat.batch.task import BatchTask
from tejat.core.frozen import replace


def request_of(path: Path, **fields: object) -> WorkerRequest:
    token = path / "cluster.token"
    token.write_text("abc", encoding="ascii")
    request = WorkerRequest(0, {}, "key", str(token), "abc", machine_id(), is_shared=False)
    return replace(request, **fields)


def test_a_node_with_another_version_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UnfitNode, match=r"has Tejat .*, but the batch runs with 0\.0\.0\. Install the same version"):
        run_job("0.0.0", b"not a request", [], None)


def test_the_same_machine_shares_the_directory(tmp_path: Path) -> None:
    assert shares_directory(request_of(tmp_path))


def test_another_machine_shares_it_only_if_the_user_says_so(tmp_path: Path) -> None:
    assert not shares_directory(request_of(tmp_path, machine="other"))
    assert shares_directory(request_of(tmp_path, machine="other", is_shared=True))


def test_a_directory_that_is_another_one_is_not_shared(tmp_path: Path) -> None:
    assert not shares_directory(request_of(tmp_path, token="other"))
    assert not shares_directory(request_of(tmp_path, token_path=str(tmp_path / "missing")))
    with pytest.raises(UnfitNode, match=f"does not see the directory {tmp_path} of the batch. Mount it there"):
        shares_directory(request_of(tmp_path, token="other", is_shared=True))


def test_the_directory_of_a_node_is_removed_with_all_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = node_directory("key")
    assert os.path.dirname(path) == str(tmp_path)
    closed = Path(path, "closed")
    closed.mkdir(parents=True)
    (closed / "file").touch()
    closed.chmod(0o500)
    remove_directory("key")
    assert os.listdir(tmp_path) == []
    remove_directory("key")


def test_a_repository_that_cannot_be_had_is_the_result_of_its_task() -> None:
    job = TaskJob(BatchTask("a/b", "/repo", "go", model="m"), "/batch", commit="c" * 40, attempt=2)
    result = problem_result(job, RepositoryProblem("It is not there.", TaskFailure.DISK_FULL))
    assert (result.status, result.failure) == (TaskStatus.ERROR, TaskFailure.DISK_FULL)
    assert (result.message, result.attempts, result.repo) == ("It is not there.", 2, "/repo")
    assert result.directory == os.path.relpath(BatchDirectory("/batch").task("a/b").path, "/batch")
