"""The scheduler: limits of the batch, retries, lost jobs, and pauses."""

import json
import os
from pathlib import Path

import pytest

from support.batches import SampleBatch
from support.fault_injection import fail
from support.shell_engine import NOTHING, QUEUE
from tejat.batch.events import BatchNoticed, TaskEnded, TaskRetried, TaskStarted
from tejat.batch.result import TaskFailure, TaskStatus
from tejat.batch.task import BatchTask, TaskLimits

DOWN = 'echo \'{"status": "error", "failure": "service", "exit_code": 61, "message": "Overloaded.", "cost": 0.1}\''
FAILED = 'echo \'{"status": "failed", "failure": "check_failed"}\''
WITHIN_LIMIT = (
    'echo "{\\"cost\\": $MAX_COST, \\"status\\": \\"failed\\", \\"failure\\": \\"limit\\", \\"exit_code\\": 53}"'
)


def costing(dollars: float) -> str:
    return f"echo '{{\"cost\": {dollars}}}'"


def retries(batch: SampleBatch) -> list[tuple[str, int, float]]:
    found = [event for event in batch.events if isinstance(event, TaskRetried)]
    return [(event.id, event.attempt, event.wait_seconds) for event in found]


def notices(batch: SampleBatch) -> list[str]:
    return [event.message for event in batch.events if isinstance(event, BatchNoticed)]


def started_before_the_first_end(batch: SampleBatch) -> int:
    ends = [number for number, event in enumerate(batch.events) if isinstance(event, TaskEnded)]
    return sum(isinstance(event, TaskStarted) for event in batch.events[: ends[0]])


@pytest.mark.parametrize(("limits", "started"), [({}, 3), ({"max_failures": 9}, 1), ({"max_seconds": 900.0}, 1)])
def test_an_engine_with_a_queue_gets_jobs_early_unless_there_are_limits(
    batch: SampleBatch, limits: dict[str, float], started: int
) -> None:
    batch.plan(*["sleep 0.2; echo {}"] * 5)
    assert batch.run(jobs=1, resources={QUEUE: 2.0}, **limits).counts["passed"] == 5
    assert started_before_the_first_end(batch) == started


class TestLimits:
    def test_cost(self, batch: SampleBatch) -> None:
        batch.plan(*[costing(0.4)] * 5)
        ended = batch.run(jobs=1, max_cost=1.2)
        assert ended.reason == "The cost limit of the batch is reached: $1.20 of $1.20 spent."
        assert batch.statuses == {"t0": "passed", "t1": "passed", "t2": "passed", "t3": "skipped", "t4": "skipped"}
        skipped = batch.results["t4"]
        assert (skipped.failure, skipped.message, skipped.attempts) == (TaskFailure.BATCH_LIMIT, ended.reason, 0)
        assert ended.counts == {"passed": 3, "failed": 0, "error": 0, "skipped": 2}
        # Skipped ones run once there is more to spend; the rest is not repeated.
        assert batch.run(jobs=1, max_cost=9).counts == {"passed": 5, "failed": 0, "error": 0, "skipped": 0}
        assert len(batch.starts) == 5

    def test_parallel_tasks_cannot_exceed_the_cost_together(self, batch: SampleBatch) -> None:
        """Each spends what it may."""
        batch.plan(*['echo "{\\"cost\\": $MAX_COST}"'] * 20)
        ended = batch.run(jobs=4, max_cost=3.0)
        assert 2.9 < ended.cost <= 3.0 + 1e-9
        assert ended.counts["skipped"] > 0

    def test_own_limits_are_reserved(self, batch: SampleBatch) -> None:
        limits = TaskLimits(cost=0.6)
        log = 'echo "$ID $MAX_COST" >> "$OUT/caps"; echo "{\\"cost\\": 0.5}"'
        batch.plan_tasks([BatchTask(f"t{number}", batch.repo, log, limits=limits) for number in range(3)])
        ended = batch.run(jobs=3, max_cost=1.0)
        # Only one fits at a time, and the second gets what the first has left.
        assert (batch.path / "caps").read_text(encoding="utf-8").splitlines() == ["t0 0.6", "t1 0.5"]
        assert (ended.cost, ended.counts["skipped"]) == (1.0, 1)

    def test_a_task_that_its_share_ends_runs_again_later(self, batch: SampleBatch) -> None:
        batch.plan(WITHIN_LIMIT, NOTHING)
        ended = batch.run(jobs=2, max_cost=1.0)
        assert "a task needs more than its share of the rest, $0.50. Raise --max-cost to continue." in ended.reason
        assert batch.statuses["t0"] == "skipped"
        reason = Path(batch.directory.task("t0").attempts, "1", "reason.json").read_text(encoding="utf-8")
        assert json.loads(reason)["reason"] == ended.reason
        again = batch.run(max_cost=3.0)
        assert "t0 2" in batch.starts
        assert again.cost == pytest.approx(3.0)  # pyright: ignore[reportUnknownMemberType]

    def test_a_task_that_its_own_limit_ends_is_done(self, batch: SampleBatch) -> None:
        batch.plan_tasks([BatchTask("t0", batch.repo, WITHIN_LIMIT, limits=TaskLimits(cost=0.2))])
        assert batch.run(max_cost=1.0).counts["failed"] == 1

    def test_tokens(self, batch: SampleBatch) -> None:
        batch.plan(*["echo '{\"tokens\": 4000}'"] * 4)
        ended = batch.run(jobs=1, max_tokens=8500)
        assert ended.reason == "The token limit of the batch is reached: 8,000 of 8,500 used."
        assert (ended.tokens, ended.counts["skipped"]) == (8000, 2)

    def test_time(self, batch: SampleBatch) -> None:
        batch.plan(*[DOWN] * 4)
        ended = batch.run(jobs=1, max_seconds=12)
        assert ended.reason == "The time limit of the batch is reached (12 seconds)."
        assert ended.counts["skipped"] == 4
        assert batch.time.seconds < 1000 + 60

    def test_remaining_time_is_the_limit_of_a_run(self, batch: SampleBatch) -> None:
        batch.plan('echo "$MAX_SECONDS" > "$OUT/seconds"; echo {}')
        batch.run(max_seconds=30)
        assert json.loads((batch.path / "seconds").read_text(encoding="utf-8")) == 30.0

    def test_failures_in_a_row(self, batch: SampleBatch) -> None:
        batch.plan(FAILED, NOTHING, FAILED, FAILED, NOTHING)
        ended = batch.run(jobs=1, max_failures=2)
        assert ended.reason == "2 tasks in a row did not pass."
        assert batch.statuses == {"t0": "failed", "t1": "passed", "t2": "failed", "t3": "failed", "t4": "skipped"}

    def test_costs_of_earlier_attempts_count(self, batch: SampleBatch) -> None:
        batch.plan(f'[ "$ATTEMPT" = 1 ] && {DOWN} || {costing(0.2)}')
        assert batch.run().cost == pytest.approx(0.3)  # pyright: ignore[reportUnknownMemberType]

    def test_an_unknown_price_is_reported_once(self, batch: SampleBatch) -> None:
        batch.plan(*['echo \'{"tokens": 5, "model": "local:x"}\''] * 3)
        ended = batch.run(max_cost=1.0)
        assert ended.unknown_costs == 3
        assert [text for text in notices(batch) if text.startswith("Price of local:x unknown")] == notices(batch)
        assert len(notices(batch)) == 1


class TestRetries:
    def test_a_transient_failure_is_tried_again(self, batch: SampleBatch) -> None:
        batch.plan(f'echo $ATTEMPT > mark; [ "$ATTEMPT" -lt 3 ] && {DOWN} || echo {{}}')
        batch.run()
        assert retries(batch) == [("t0", 1, 5.0), ("t0", 2, 10.0)]
        assert (batch.results["t0"].status, batch.results["t0"].attempts) == (TaskStatus.PASSED, 3)
        kept = Path(batch.directory.task("t0").attempts)
        assert [(kept / name / "mark").read_text(encoding="utf-8") for name in ("1", "2")] == ["1\n", "2\n"]
        reason = json.loads((kept / "1" / "reason.json").read_text(encoding="utf-8"))["reason"]
        assert reason == "Overloaded."

    def test_after_all_retries_it_is_an_error(self, batch: SampleBatch) -> None:
        batch.plan(DOWN)
        batch.run(retries=1)
        assert (batch.results["t0"].failure, batch.results["t0"].attempts) == (TaskFailure.SERVICE, 2)

    def test_other_failures_are_not_tried_again(self, batch: SampleBatch) -> None:
        batch.plan(FAILED, 'echo \'{"status": "error", "failure": "authentication", "exit_code": 41}\'')
        batch.run()
        assert retries(batch) == []
        assert len(batch.starts) == 2

    def test_other_tasks_run_while_one_waits(self, batch: SampleBatch) -> None:
        batch.plan(f'[ "$ATTEMPT" = 1 ] && {DOWN} || echo {{}}', NOTHING, NOTHING)
        batch.run(jobs=1)
        started = [event.id for event in batch.events if isinstance(event, TaskStarted)]
        assert started == ["t0", "t1", "t2", "t0"]

    def test_a_lost_job_is_tried_again(self, batch: SampleBatch) -> None:
        batch.plan('[ "$ATTEMPT" -lt 3 ] && exit 99; echo {}')
        batch.run(retries=0)
        assert retries(batch) == [("t0", 1, 1.0), ("t0", 2, 2.0)]
        assert batch.results["t0"].attempts == 3

    def test_a_job_that_is_lost_three_times_is_an_error(self, batch: SampleBatch) -> None:
        batch.plan("exit 99", NOTHING)
        batch.run()
        lost = batch.results["t0"]
        assert (lost.failure, lost.message, lost.attempts) == (TaskFailure.LOST, "the node is gone", 3)
        assert batch.statuses["t1"] == "passed"


class TestServiceDown:
    def test_all_starts_pause(self, batch: SampleBatch) -> None:
        """Three tasks fail, then one at a time tries, after longer and longer pauses."""
        up_after = 1000 + 60
        batch.plan(*[f'[ -e "$OUT/up" ] && echo {{}} || {DOWN}'] * 20)

        def clock() -> float:
            if batch.time.seconds >= up_after:
                (batch.path / "up").touch()
            return batch.time.seconds

        batch.time.clock = type(batch.time.clock)(
            now=clock, monotonic=clock, sleep=batch.time.sleep, random=lambda: 0.0
        )
        ended = batch.run(jobs=3)
        paused = [text for text in notices(batch) if "No task is started for" in text]
        assert [text.rpartition("for ")[2] for text in paused][:3] == ["5 seconds.", "10 seconds.", "20 seconds."]
        assert paused[0].startswith("The service fails for every task: Overloaded.")
        # Of twenty tasks only those that tried during the pauses could fail for good.
        assert ended.counts["passed"] >= 18
        in_flight = 3 - 1
        assert len(batch.starts) <= 20 + 3 + in_flight + len(paused) - 1

    @pytest.mark.parametrize("outcome", ["exit 97", "exit 99", NOTHING])
    def test_a_try_that_says_nothing_about_the_service_does_not_block_the_next(
        self, batch: SampleBatch, outcome: str
    ) -> None:
        batch.plan(DOWN, DOWN, DOWN, outcome, "echo '{\"exit_code\": 0}'", NOTHING)
        assert sum(batch.run(jobs=1, retries=0).counts.values()) == 6
        assert len(notices(batch)) == 1

    def test_one_task_alone_does_not_pause_the_others(self, batch: SampleBatch) -> None:
        batch.plan(DOWN, *[NOTHING] * 5)
        batch.run(jobs=1)
        assert notices(batch) == []


class TestFullDisk:
    def test_a_result_that_cannot_be_written_stops_the_batch(
        self, batch: SampleBatch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        batch.plan(*[NOTHING] * 5)
        real = os.fsync
        calls: list[int] = []

        def full(descriptor: int) -> None:
            calls.append(descriptor)
            if len(calls) > 8:
                raise fail(28)
            real(descriptor)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            ended = batch.run(jobs=1)
        assert "No space left on device" in ended.reason
        assert ended.reason.endswith("Run the same command again to continue.")
        done = sum(isinstance(event, TaskEnded) for event in batch.events)
        assert len(batch.statuses) == done < 5
        assert set(batch.statuses.values()) <= {"passed"}
        assert batch.run().counts["passed"] == 5

    def test_a_line_that_cannot_be_written_follows_later(
        self, batch: SampleBatch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        batch.plan(NOTHING, NOTHING)
        real = os.write

        def full(descriptor: int, data: bytes) -> int:
            if os.readlink(f"/proc/self/fd/{descriptor}") == batch.directory.results:
                real(descriptor, bytes(data)[:20])
                raise fail(28)
            return real(descriptor, data)

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            ended = batch.run(jobs=1)
        assert "No space left on device" in ended.reason
        assert Path(batch.directory.results).read_bytes() == b""
        assert batch.run().counts["passed"] == 2
        assert batch.starts == ["t0 1", "t1 1"]
