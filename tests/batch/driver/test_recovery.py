"""What a new run makes of what earlier ones left."""

import json
import shutil
from pathlib import Path

import pytest

from support.batches import SampleBatch
from support.shell_engine import NOTE
from tejat.batch.driver.results import ResultStore
from tejat.batch.events import BatchNoticed, BatchStarted
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus, result_to_json
from tejat.batch.task import BatchTask
from tejat.core.errors import UsageError


def finish(batch: SampleBatch, count: int = 3) -> None:
    batch.plan(*[NOTE] * count)
    batch.run()
    batch.starts_file.unlink()


def reason(batch: SampleBatch, name: str, attempt: int = 1) -> str:
    path = Path(batch.directory.task(name).attempts, str(attempt), "reason.json")
    return json.loads(path.read_text(encoding="utf-8"))["reason"]


def test_a_result_without_a_line_gets_it(batch: SampleBatch) -> None:
    finish(batch)
    Path(batch.directory.results).unlink()
    batch.run()
    assert batch.statuses == {"t0": "passed", "t1": "passed", "t2": "passed"}
    assert batch.starts == []


@pytest.mark.parametrize("keep", [0, 1, 50, -1])
def test_a_cut_last_line_is_restored(batch: SampleBatch, keep: int) -> None:
    finish(batch)
    path = Path(batch.directory.results)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:keep])
    batch.run()
    assert len(batch.statuses) == 3
    assert batch.starts == []


def test_a_line_without_a_folder_is_a_result(batch: SampleBatch) -> None:
    finish(batch)
    shutil.rmtree(batch.directory.tasks)
    assert batch.run().counts["passed"] == 3
    assert batch.starts == []


def test_a_damaged_line_is_restored_and_reported(batch: SampleBatch) -> None:
    finish(batch)
    path = Path(batch.directory.results)
    path.write_bytes(b"nonsense\n" + b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    batch.run()
    assert BatchNoticed("1 damaged line was removed from results.jsonl.") in batch.events
    assert len(batch.statuses) == 3
    assert batch.starts == []


def test_a_damaged_result_is_kept_and_the_task_runs_again(batch: SampleBatch) -> None:
    finish(batch)
    Path(batch.directory.results).unlink()
    Path(batch.directory.task("t1").result).write_text("{", encoding="utf-8")
    batch.run()
    assert BatchNoticed("The result of task t1 cannot be read. The task runs again.") in batch.events
    assert batch.starts == ["t1 2"]
    assert reason(batch, "t1") == "unreadable result"
    assert Path(batch.directory.task("t1").attempts, "1", "result.json").read_text(encoding="utf-8") == "{"


def test_an_unfinished_attempt_is_kept_and_marked(batch: SampleBatch) -> None:
    batch.plan(NOTE)
    folder = Path(batch.directory.task("t0").path)
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("half\n", encoding="utf-8")
    (folder / "run.json").write_text('{"cost_usd": 0.5, "stats": {"total_tokens": 9}}', encoding="utf-8")
    Path(batch.directory.settings).write_text('{"kind": "tejat-batch", "format": 1}', encoding="utf-8")
    ended = batch.run()
    assert batch.starts == ["t0 2"]
    assert reason(batch, "t0") == "interrupted"
    assert (folder / "attempts" / "1" / "events.jsonl").read_text(encoding="utf-8") == "half\n"
    assert (ended.cost, ended.tokens) == (0.5, 9)
    # It still counts in the next run.
    assert batch.run().cost == 0.5


def test_lines_of_other_tasks_and_second_lines_are_dropped(batch: SampleBatch) -> None:
    finish(batch)
    path = Path(batch.directory.results)
    stranger = json.dumps(result_to_json(TaskResult("stranger", TaskStatus.PASSED))).encode() + b"\n"
    path.write_bytes(path.read_bytes() * 2 + stranger)
    assert batch.run().counts["passed"] == 3
    assert len(path.read_bytes().splitlines()) == 3


def test_a_task_that_comes_back_has_its_result(batch: SampleBatch) -> None:
    finish(batch, 3)
    batch.plan(NOTE, NOTE)
    assert batch.run().counts["passed"] == 2
    batch.plan(NOTE, NOTE, NOTE)
    assert batch.run().counts["passed"] == 3
    assert batch.starts == []


def test_what_was_spent_is_known_at_the_start(batch: SampleBatch) -> None:
    batch.plan('echo \'{"cost": 0.25, "tokens": 4}\'', "exit 98")
    batch.run(jobs=1)
    batch.run(jobs=1)
    started = batch.events[0]
    assert isinstance(started, BatchStarted)
    assert (started.finished, started.spent_cost, started.spent_tokens) == ({"passed": 1}, 0.25, 4)


class TestRedo:
    FAILED = '[ -e "$OUT/better" ] && echo {} || echo \'{"status": "failed", "cost": 1.0}\''

    @pytest.mark.parametrize(
        ("redo", "expected"),
        [
            (("failed",), ["t1 2"]),
            (("passed",), ["t0 2"]),
            (("error",), ["t2 2"]),
            (("failed", "error"), ["t1 2", "t2 2"]),
            (("t0", "t2"), ["t0 2", "t2 2"]),
            (("all",), ["t0 2", "t1 2", "t2 2"]),
            (("skipped",), []),
        ],
    )
    def test_chosen_tasks_run_again(self, batch: SampleBatch, redo: tuple[str, ...], expected: list[str]) -> None:
        batch.plan(NOTE, self.FAILED, "exit 97")
        batch.run()
        batch.starts_file.unlink()
        (batch.path / "better").touch()
        batch.run(redo=redo, jobs=1)
        assert batch.starts == expected
        assert len(batch.statuses) == 3
        for start in expected:
            assert reason(batch, start.split()[0]) == "redo"

    def test_the_old_result_is_kept_and_its_cost_counts(self, batch: SampleBatch) -> None:
        batch.plan(self.FAILED)
        batch.run()
        (batch.path / "better").touch()
        assert batch.run(redo=("failed",)).cost == 1.0
        assert batch.results["t0"].status is TaskStatus.PASSED
        old = json.loads(Path(batch.directory.task("t0").attempts, "1", "result.json").read_text(encoding="utf-8"))
        assert old["status"] == "failed"

    def test_a_result_without_a_line_is_redone_too(self, batch: SampleBatch) -> None:
        """A driver may have been killed after it had dropped the line."""
        batch.plan(self.FAILED)
        batch.run()
        Path(batch.directory.results).unlink()
        batch.run(redo=("failed",))
        assert batch.starts == ["t0 1", "t0 2"]

    def test_a_killed_redo_leaves_the_result(self, batch: SampleBatch) -> None:
        batch.plan(self.FAILED)
        batch.run()
        ResultStore(batch.directory).keep_lines(lambda _: False)
        batch.run()
        assert batch.statuses == {"t0": "failed"}
        assert batch.starts == ["t0 1"]

    def test_an_unknown_word(self, batch: SampleBatch) -> None:
        batch.plan(NOTE)
        with pytest.raises(UsageError, match=r"no task has the id 'fialed'.*all, passed, failed, error, skipped"):
            batch.run(redo=("fialed",))


def test_tasks_with_strange_ids(batch: SampleBatch) -> None:
    ids = ["../up", "a/b", "", " ", "x" * 300, "ünï", "attempts", "-rf"]
    batch.plan_tasks([BatchTask(name, batch.repo, NOTE) for name in ids])
    batch.run()
    assert sorted(batch.statuses) == sorted(ids)
    assert batch.run().counts["passed"] == len(ids)
    assert len(batch.starts) == len(ids)
    assert {result.failure for result in batch.results.values()} == {TaskFailure.NONE}
