"""Repositories for the nodes that do not have them."""

import asyncio
from pathlib import Path

import pytest

from support.batches import make_repository
from tejat.batch.directory import BatchDirectory
from tejat.batch.engines.ray import repositories
from tejat.batch.engines.ray.repositories import ShippedRepositories
from tejat.batch.git.commit import resolve_commit
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.mirror import mirror_from_bundle
from tejat.batch.job import TaskJob
from tejat.batch.task import BatchTask


class ObjectStore:
    """A store in this process, which is used like the module `ray`."""

    def __init__(self) -> None:
        self.objects: list[bytes] = []

    def put(self, value: bytes) -> int:
        self.objects.append(value)
        return len(self.objects) - 1


async def sample_job(path: Path) -> TaskJob:
    task = BatchTask("t", make_repository(path / "repo"), "go")
    return TaskJob(task, str(path / "batch"), commit=await resolve_commit(task))


def test_a_bundle_is_made_once_and_becomes_the_same_repository(tmp_path: Path) -> None:
    async def ship() -> None:
        store, job = ObjectStore(), await sample_job(tmp_path)
        shipped = ShippedRepositories(store, BatchDirectory(job.directory))
        mirror = await shipped.open(job)
        assert mirror is not None
        assert await asyncio.gather(*(shipped.bundle(mirror) for _ in range(5))) == [0] * 5
        bundle = tmp_path / "bundle"
        bundle.write_bytes(store.objects[0])
        found = await mirror_from_bundle(str(bundle), job.commit, BatchDirectory(str(tmp_path / "node")), "key")
        assert found.commit == mirror.commit == job.commit

    asyncio.run(ship())
    assert list(tmp_path.rglob("bundle-*")) == []


def test_a_url_is_left_to_the_nodes(tmp_path: Path) -> None:
    job = TaskJob(BatchTask("t", "https://example.org/repo.git", "go"), str(tmp_path))
    shipped = ShippedRepositories(ObjectStore(), BatchDirectory(job.directory))
    assert asyncio.run(shipped.open(job)) is None


def test_a_repository_that_is_too_large_is_refused_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "MAX_BUNDLE_BYTES", 10)

    async def ship() -> None:
        job = await sample_job(tmp_path)
        shipped = ShippedRepositories(ObjectStore(), BatchDirectory(job.directory))
        mirror = await shipped.open(job)
        assert mirror is not None
        for _ in range(2):
            with pytest.raises(RepositoryProblem, match=r"too large to send .* Give its URL in the task"):
                await shipped.bundle(mirror)

    asyncio.run(ship())


def test_old_bundles_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "_MAX_BUNDLES", 1)

    async def ship() -> None:
        store, job = ObjectStore(), await sample_job(tmp_path / "one")
        shipped = ShippedRepositories(store, BatchDirectory(job.directory))
        one, two = await shipped.open(job), await shipped.open(await sample_job(tmp_path / "two"))
        assert one is not None
        assert two is not None
        assert [await shipped.bundle(each) for each in (one, two, two, one)] == [0, 1, 1, 2]

    asyncio.run(ship())
