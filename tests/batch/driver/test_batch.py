"""A batch from its start to its end."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from support.batches import SampleBatch
from support.shell_engine import NOTHING
from support.wait import wait_until_async
from tejat.batch.driver.results import read_results
from tejat.batch.engines.contract import EngineUnavailable
from tejat.batch.events import BatchEnded, BatchStarted, TaskEnded, TaskStarted
from tejat.batch.plan.types import RejectedTask
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus, result_to_json
from tejat.batch.task import BatchTask
from tejat.core.errors import UsageError
from tejat.core.json_text import dump_json


def result_text(name: str, *, status: str = "passed", cost: float | None = None) -> str:
    return dump_json(result_to_json(TaskResult(name, TaskStatus(status), cost=cost)))


def test_every_task_gets_a_line_a_folder_and_events(batch: SampleBatch) -> None:
    batch.plan(NOTHING, 'echo \'{"cost": 0.5, "tokens": 7}\'', 'echo \'{"status": "failed", "failure": "no_changes"}\'')
    ended = batch.run()
    assert batch.statuses == {"t0": "passed", "t1": "passed", "t2": "failed"}
    assert (ended.counts, ended.cost, ended.tokens, ended.reason) == (
        {"passed": 2, "failed": 1, "error": 0, "skipped": 0},
        0.5,
        7,
        "",
    )
    for name, result in batch.results.items():
        stored = json.loads(Path(batch.directory.task(name).result).read_text(encoding="utf-8"))
        assert stored == result_to_json(result)
        assert (result.repo, result.attempts, result.directory) == (batch.repo, 1, f"tasks/{name}")
    assert batch.events[0] == BatchStarted(3, jobs=2, engine="shell")
    assert batch.events[-1] == ended
    assert sorted(event.id for event in batch.events if isinstance(event, TaskStarted)) == ["t0", "t1", "t2"]


def test_a_finished_batch_starts_no_engine(batch: SampleBatch) -> None:
    batch.plan(NOTHING)
    batch.run()
    ended = batch.run(address="nowhere")
    assert (ended.reason, ended.counts["passed"]) == ("", 1)
    assert batch.starts == ["t0 1"]


def test_an_engine_that_cannot_start_leaves_everything_to_do(batch: SampleBatch) -> None:
    batch.plan(NOTHING)
    with pytest.raises(EngineUnavailable, match="no cluster at nowhere"):
        batch.run(address="nowhere")
    assert batch.statuses == {}
    assert batch.run().counts["passed"] == 1


def test_an_unknown_engine(batch: SampleBatch) -> None:
    batch.plan(NOTHING)
    with pytest.raises(UsageError, match=r"Unknown engine 'slurm'. Use one of: local, ray"):
        batch.run(engine="slurm")


def test_jobs_run_at_once_up_to_the_limit(batch: SampleBatch) -> None:
    # Each waits until the other has started: alone neither would end.
    meet = 'touch "$OUT/$ID.here"; while [ $(ls "$OUT" | grep -c here) -lt 2 ]; do sleep 0.05; done'
    batch.plan(meet, meet)
    assert batch.run(jobs=2).counts["passed"] == 2
    order = [type(event) for event in batch.events if isinstance(event, TaskStarted | TaskEnded)]
    assert order == [TaskStarted, TaskStarted, TaskEnded, TaskEnded]


def test_rejected_tasks_get_their_result_without_an_engine(batch: SampleBatch) -> None:
    rejected = RejectedTask("bad", TaskFailure.INPUT, "no prompt", "tasks.jsonl:2")
    batch.plan_tasks([BatchTask("good", batch.repo, NOTHING), rejected])
    batch.run(max_failures=1)
    bad = batch.results["bad"]
    assert (bad.status, bad.failure, bad.message, bad.attempts) == ("error", "input", "no prompt", 0)
    assert batch.statuses["good"] == "passed"
    assert batch.starts == ["good 1"]


def test_a_rejected_task_runs_once_its_line_is_right(batch: SampleBatch) -> None:
    batch.plan_tasks([RejectedTask("t0", TaskFailure.INPUT, "no prompt")])
    batch.run()
    assert batch.run().counts["error"] == 1
    batch.plan(NOTHING)
    batch.run()
    assert batch.statuses == {"t0": "passed"}


def test_a_repository_that_is_missing_is_an_error_of_its_task(batch: SampleBatch, tmp_path: Path) -> None:
    batch.plan_tasks([BatchTask("a", str(tmp_path / "missing"), NOTHING), BatchTask("b", batch.repo, NOTHING)])
    batch.run()
    assert batch.statuses == {"a": "error", "b": "passed"}
    assert batch.results["a"].failure is TaskFailure.REPOSITORY
    assert batch.starts == ["b 1"]


def test_a_task_in_flight_gets_the_hash_of_its_commit(batch: SampleBatch) -> None:
    batch.plan('echo "$COMMIT" > "$OUT/commit"; echo {}')
    batch.run()
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=batch.repo, capture_output=True, check=True, text=True)
    assert (batch.path / "commit").read_text(encoding="utf-8") == head.stdout


def test_an_interrupt_stops_the_jobs_and_the_next_run_goes_on(batch: SampleBatch) -> None:
    slow = '[ -e "$OUT/go" ] && exit; echo partial > patch.diff; touch "$OUT/$ID.here"; exec sleep 600'
    batch.plan(NOTHING, slow, slow, NOTHING)

    async def interrupt() -> None:
        running = asyncio.ensure_future(batch.run_async(jobs=2))
        await wait_until_async(lambda: len(list(batch.path.glob("*.here"))) == 2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(interrupt())
    ended = batch.events[-1]
    assert isinstance(ended, BatchEnded)
    assert ended.reason == "Interrupted."
    assert batch.statuses == {"t0": "passed"}
    kept = Path(batch.directory.task("t1").attempts) / "1"
    assert (kept / "patch.diff").read_text(encoding="utf-8") == "partial\n"
    assert json.loads((kept / "reason.json").read_text(encoding="utf-8"))["reason"] == "interrupted"
    (batch.path / "go").touch()
    assert batch.run().counts["passed"] == 4
    assert sorted(batch.starts) == ["t0 1", "t1 1", "t1 2", "t2 1", "t2 2", "t3 1"]


def test_an_engine_that_goes_away_ends_the_batch(batch: SampleBatch) -> None:
    batch.plan(NOTHING, '[ -e "$OUT/go" ] || exit 98', NOTHING)
    ended = batch.run(jobs=1)
    assert ended.reason == "the cluster is gone"
    assert batch.statuses == {"t0": "passed"}
    (batch.path / "go").touch()
    assert batch.run(jobs=1).counts["passed"] == 3
    assert batch.starts == ["t0 1", "t1 1", "t1 2", "t2 1"]


def test_an_error_of_the_engine_is_one_of_the_task(batch: SampleBatch) -> None:
    batch.plan("exit 97", NOTHING)
    batch.run()
    broken = batch.results["t0"]
    assert (broken.status, broken.failure) == (TaskStatus.ERROR, TaskFailure.INTERNAL)
    assert "RuntimeError" in broken.message
    assert batch.statuses["t1"] == "passed"


def test_a_shard_is_every_nth_task(batch: SampleBatch) -> None:
    batch.plan(*[NOTHING] * 7)
    ended = batch.run(shard=(1, 3))
    assert batch.statuses == {"t1": "passed", "t4": "passed"}
    assert sum(ended.counts.values()) == 2
    assert batch.events[0] == BatchStarted(2, jobs=2, engine="shell")
    # The lines of other shards stay.
    batch.run(shard=(0, 3))
    assert sorted(batch.statuses) == ["t0", "t1", "t3", "t4", "t6"]
    batch.run()
    assert len(batch.statuses) == 7
    assert len(batch.starts) == 7


def test_two_drivers_on_one_directory(batch: SampleBatch) -> None:
    batch.plan('touch "$OUT/here"; while [ ! -e "$OUT/go" ]; do sleep 0.05; done; echo {}')

    async def run_twice() -> None:
        first = asyncio.ensure_future(batch.run_async())
        await wait_until_async((batch.path / "here").exists)
        with pytest.raises(UsageError, match=rf"Another process runs the batch in .*: pid {os.getpid()} on "):
            await batch.run_async()
        (batch.path / "go").touch()
        assert (await first).counts["passed"] == 1

    asyncio.run(run_twice())


def test_rates_are_written_for_the_runs(batch: SampleBatch) -> None:
    batch.plan(NOTHING)
    batch.run(rates={"gemini": 60.0})
    assert json.loads(Path(batch.directory.rates).read_text(encoding="utf-8"))["rates"] == {"gemini": 60.0}
    with pytest.raises(UsageError, match="unknown service 'nobody'"):
        batch.run(rates={"nobody": 1.0})


def test_a_directory_that_cannot_be_written(batch: SampleBatch) -> None:
    batch.plan(NOTHING)
    Path(batch.directory.lock).mkdir()
    with pytest.raises(UsageError, match="Cannot write to"):
        batch.run()


def test_a_plan_that_changes_meanwhile_stops_the_batch(batch: SampleBatch) -> None:
    batch.plan(f'echo "" > {batch.directory.plan}; echo {{}}', NOTHING, NOTHING)
    with pytest.raises(UsageError, match="was changed while the batch was running"):
        batch.run(jobs=1)


def test_results_are_read_in_the_order_of_completion(batch: SampleBatch) -> None:
    batch.plan('while [ ! -e "$OUT/second" ]; do sleep 0.05; done; echo {}', 'touch "$OUT/second"; echo {}')
    batch.run(jobs=2)
    assert {result.id for result in read_results(batch.directory)} == {"t0", "t1"}
