"""The commits that tasks start from."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from support.batches import SampleBatch, make_repository
from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.commits import CommitStore
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.task import BatchTask


def add_commit(repo: str) -> None:
    words = ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "more")
    subprocess.run(["git", *words], cwd=repo, check=True)


def head(repo: str) -> str:
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True
    ).stdout.strip()


def find(directory: BatchDirectory, *tasks: BatchTask) -> list[str]:
    async def work() -> list[str]:
        store = CommitStore(directory)
        store.load(lambda _: True)
        try:
            return await asyncio.gather(*map(store.find, tasks))
        finally:
            await store.close()

    return asyncio.run(work())


def test_a_branch_that_moves_does_not_move_a_started_task(batch: SampleBatch, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "moving")
    first = head(repo)
    save = 'echo "$COMMIT" >> "$OUT/commits"; [ -e "$OUT/go" ] || exit 98'
    batch.plan_tasks([BatchTask(name, repo, save) for name in ("a", "b")])
    batch.run(jobs=1)
    add_commit(repo)
    (batch.path / "go").touch()
    batch.run(jobs=1)
    assert (batch.path / "commits").read_text(encoding="utf-8").splitlines() == [first, first, head(repo)]


def test_tasks_with_the_same_commit_share_a_lookup(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "repo")
    directory = BatchDirectory(str(tmp_path))
    found = find(directory, *(BatchTask(f"t{number}", repo, "") for number in range(50)))
    assert set(found) == {head(repo)}
    assert len(Path(tmp_path, "commits.jsonl").read_text(encoding="utf-8").splitlines()) == 50


def test_a_task_that_changed_is_looked_up_again(tmp_path: Path) -> None:
    repo, other = make_repository(tmp_path / "repo"), make_repository(tmp_path / "other")
    add_commit(other)
    directory = BatchDirectory(str(tmp_path))
    find(directory, BatchTask("a", repo, ""))
    assert find(directory, BatchTask("a", other, "")) == [head(other)]


@pytest.mark.parametrize("damaged", ["", "{", "[]\n", '{"id": "a"}\n', '{"id": 1, "commit": 2}'])
def test_damaged_lines_are_left_out(tmp_path: Path, damaged: str) -> None:
    repo = make_repository(tmp_path / "repo")
    Path(tmp_path, "commits.jsonl").write_text(damaged, encoding="utf-8")
    directory = BatchDirectory(str(tmp_path))
    assert find(directory, BatchTask("a", repo, "")) == [head(repo)]
    lines = Path(tmp_path, "commits.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[-1])["commit"] == head(repo)


def test_a_failed_lookup_is_not_remembered(tmp_path: Path) -> None:
    task = BatchTask("a", str(tmp_path / "repo"), "")
    directory = BatchDirectory(str(tmp_path))

    async def work() -> str:
        store = CommitStore(directory)
        with pytest.raises(RepositoryProblem):
            await store.find(task)
        make_repository(tmp_path / "repo")
        found = await store.find(task)
        await store.close()
        return found

    assert asyncio.run(work()) == head(task.repo)


def test_a_cancelled_task_leaves_the_lookup_to_others(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "repo")

    async def work() -> str:
        store = CommitStore(BatchDirectory(str(tmp_path)))
        first = asyncio.ensure_future(store.find(BatchTask("a", repo, "")))
        second = asyncio.ensure_future(store.find(BatchTask("b", repo, "")))
        await asyncio.sleep(0)
        first.cancel()
        found = await second
        await store.close()
        return found

    assert asyncio.run(work()) == head(repo)
