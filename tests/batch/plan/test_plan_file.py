"""The plan: written in one step, compared with the one before, read task by task."""

import os
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.batch.directory import BatchDirectory
from tejat.batch.plan.plan_file import BatchPlan, PlanChanges, write_plan
from tejat.batch.plan.types import RejectedTask
from tejat.batch.result import TaskFailure
from tejat.batch.task import BatchTask, TaskLimits
from tejat.core.errors import UsageError
from tejat.core.frozen import replace


@pytest.fixture
def directory(tmp_path: Path) -> BatchDirectory:
    return BatchDirectory(str(tmp_path / "new" / "out"))


def task(name: str, line: int = 1, prompt: str = "p") -> BatchTask:
    return BatchTask(name, "/r", prompt, source=f"tasks.jsonl:{line}")


def entries(directory: BatchDirectory) -> list[BatchTask | RejectedTask]:
    plan = BatchPlan.open(directory)
    return [plan.read(index) for index in range(len(plan))]


WRONG = RejectedTask("line-2", TaskFailure.INPUT, "It is wrong.", "tasks.jsonl:2")


class TestPlan:
    def test_is_read_as_it_was_written(self, directory: BatchDirectory) -> None:
        full = BatchTask(
            *(
                "a",
                "/r",
                "p\u2028é\n",
                "main",
                "m",
                TaskLimits(1.5, 2.0, 3, 4),
                ("x",),
                ("y", "z"),
                "yolo",
                "off",
                True,
            ),
            *("make", 5.0, True, True, {"v": "1"}, "tasks.jsonl:1"),
        )
        assert write_plan(directory, [full, WRONG]) == PlanChanges(added=("a", "line-2"))
        plan = BatchPlan.open(directory)
        assert (len(plan), list(plan.ids)) == (2, ["a", "line-2"])
        assert (plan.read(0), plan.read(1)) == (full, WRONG)
        assert (plan.index("line-2"), plan.index("a"), plan.index("b"), plan.index("")) == (1, 0, None, None)
        with pytest.raises(IndexError):
            plan.read(2)

    def test_file_is_private_and_alone(self, directory: BatchDirectory) -> None:
        write_plan(directory, [task("a")])
        assert stat.S_IMODE(os.stat(directory.plan).st_mode) == 0o600
        assert os.listdir(directory.path) == ["tasks.jsonl"]

    def test_without_tasks(self, directory: BatchDirectory) -> None:
        assert write_plan(directory, []) == PlanChanges()
        plan = BatchPlan.open(directory)
        assert (len(plan), plan.index("a")) == (0, None)

    def test_missing(self, directory: BatchDirectory) -> None:
        with pytest.raises(UsageError, match=r"is not the directory of a batch: it has no tasks\.jsonl\."):
            BatchPlan.open(directory)

    @pytest.mark.parametrize(
        "line",
        [
            *(b"{", b"[]", b"1", b"null", b"{}", b"\xff", b""),
            *(b'{"task": {}}', b'{"task": 1}', b'{"task": {"id": "a"}}'),
            b'{"rejected": {"id": 1, "failure": "input", "message": ""}}',
            b'{"rejected": {"id": "a", "failure": "unknown", "message": ""}}',
        ],
    )
    def test_damaged(self, directory: BatchDirectory, line: bytes) -> None:
        write_plan(directory, [task("a")])
        with Path(directory.plan).open("ab") as file:
            file.write(line + b"\n")
        with pytest.raises(UsageError, match=r"tasks\.jsonl:2 is damaged"):
            BatchPlan.open(directory)
        with pytest.raises(UsageError, match=r"tasks\.jsonl:2 is damaged"):
            write_plan(directory, [task("a")])

    def test_changed_while_it_is_open(self, directory: BatchDirectory) -> None:
        write_plan(directory, [task("a"), task("b")])
        plan = BatchPlan.open(directory)
        write_plan(directory, [task("b"), task("a")])
        with pytest.raises(UsageError, match="was changed while the batch was running"):
            plan.read(0)
        write_plan(directory, [task("long" * 100)])
        with pytest.raises(UsageError, match="was changed while the batch was running"):
            plan.read(0)
        os.unlink(directory.plan)
        with pytest.raises(UsageError, match="Could not read"):
            plan.read(0)


class TestChanges:
    def test_are_reported(self, directory: BatchDirectory) -> None:
        write_plan(directory, [task("a"), task("b"), task("c"), task("d"), WRONG])
        after = [task("new"), task("c", prompt="q"), task("a"), replace(WRONG, message="It is wrong now.")]
        assert write_plan(directory, after) == PlanChanges(("new",), ("c",), ("b", "d"))
        assert entries(directory) == after

    def test_order_and_source_do_not_count(self, directory: BatchDirectory) -> None:
        write_plan(directory, [task("a", 1), task("b", 2), WRONG])
        assert write_plan(directory, [replace(WRONG, source="x"), task("b", 7), task("a", 8)]) == PlanChanges()

    def test_a_task_that_was_wrong_never_ran(self, directory: BatchDirectory) -> None:
        write_plan(directory, [replace(WRONG, id="a"), task("b"), task("b", 3)])
        assert write_plan(directory, [task("a"), task("b")]) == PlanChanges(added=("a",))

    def test_a_task_that_is_wrong_now_is_changed(self, directory: BatchDirectory) -> None:
        write_plan(directory, [task("a")])
        assert write_plan(directory, [replace(WRONG, id="a")]) == PlanChanges(changed=("a",))

    def test_can_be_refused(self, directory: BatchDirectory) -> None:
        write_plan(directory, [task("a"), task("b")])
        seen: list[PlanChanges] = []

        def refuse(changes: PlanChanges) -> None:
            seen.append(changes)
            assert [each.id for each in entries(directory)] == ["a", "b"]
            raise UsageError("Not these.")

        with pytest.raises(UsageError, match=r"Not these\."):
            write_plan(directory, [task("b")], accept=refuse)
        assert seen == [PlanChanges(removed=("a",))]
        assert [each.id for each in entries(directory)] == ["a", "b"]
        assert os.listdir(directory.path) == ["tasks.jsonl"]
        assert write_plan(directory, [task("b")], accept=seen.append) == seen[1] == seen[0]
        assert [each.id for each in entries(directory)] == ["b"]

    def test_an_error_of_the_task_file_keeps_the_plan(self, directory: BatchDirectory) -> None:
        write_plan(directory, [task("a")])

        def broken() -> Iterator[BatchTask]:
            yield task("b")
            raise UsageError("The file is gone.")

        with pytest.raises(UsageError, match=r"The file is gone\."):
            write_plan(directory, broken())
        assert [each.id for each in entries(directory)] == ["a"]


class TestDuplicates:
    def test_the_first_stays(self, directory: BatchDirectory) -> None:
        write_plan(directory, [task("X", 3), task("b", 4), task("X", 9), task("X", 12)])
        message = "Duplicate id X: tasks.jsonl:3 has it already. Change it in tasks.jsonl:{}."
        assert entries(directory) == [
            task("X", 3),
            task("b", 4),
            *(
                RejectedTask(
                    f"X (tasks.jsonl:{line})", TaskFailure.DUPLICATE_ID, message.format(line), f"tasks.jsonl:{line}"
                )
                for line in (9, 12)
            ),
        ]

    def test_a_wrong_line_keeps_its_message(self, directory: BatchDirectory) -> None:
        write_plan(directory, [task("line-2"), WRONG])
        assert entries(directory)[1] == replace(WRONG, id="line-2 (tasks.jsonl:2)")

    def test_ids_are_unique_whatever_their_sources(self, directory: BatchDirectory) -> None:
        write_plan(directory, [task("a"), task("a (tasks.jsonl:1)"), task("a"), task("a")])
        ids = BatchPlan.open(directory).ids
        assert list(ids) == ["a", "a (tasks.jsonl:1)", "a (tasks.jsonl:1) (2)", "a (tasks.jsonl:1) (3)"]


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"Could not write .*tasks\.jsonl: "):
        write_plan(BatchDirectory(str(tmp_path / "file" / "out")), [task("a")])


LIMITED = """
import resource, signal, sys
from tejat.batch.directory import BatchDirectory
from tejat.batch.plan.plan_file import write_plan
from tejat.batch.task import BatchTask
from tejat.core.errors import UsageError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_plan(BatchDirectory(sys.argv[1]), (BatchTask(str(number), "/r", "p" * 1000) for number in range(1000)))
except UsageError as error:
    print(error)
"""


def test_a_file_that_cannot_grow(directory: BatchDirectory) -> None:
    write_plan(directory, [task("a")])
    command = [sys.executable, "-c", LIMITED, directory.path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"Could not write {directory.plan}: File too large.\n"
    assert [each.id for each in entries(directory)] == ["a"]
    assert os.listdir(directory.path) == ["tasks.jsonl"]


def test_memory_of_a_large_plan(directory: BatchDirectory) -> None:
    """10,000 tasks with prompts of 2 KB: opening the plan adds less than 5 MB."""
    random = Random(7)
    prompts = (random.randbytes(1_000).hex() for _ in range(10_000))
    write_plan(directory, (task(f"repository-{at}", at, prompt) for at, prompt in enumerate(prompts)))
    assert os.stat(directory.plan).st_size > 20_000_000
    tracemalloc.start()
    try:
        plan = BatchPlan.open(directory)
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(plan) == 10_000
    assert now < 2 * 2**20, now
    assert peak < 5 * 2**20, peak
    assert plan.index("repository-9999") == 9_999
    assert plan.read(5_000).id == "repository-5000"


TEXTS = st.text(st.characters(exclude_categories=("Cs",)))
TASKS = st.builds(
    BatchTask,
    id=TEXTS,
    repo=TEXTS,
    prompt=TEXTS,
    model=st.none() | TEXTS,
    limits=st.builds(
        TaskLimits, st.none() | st.floats(0, 1e9), st.none() | st.floats(0, 1e9), st.none() | st.integers()
    ),
    allowed_tools=st.lists(TEXTS).map(tuple),
    variables=st.dictionaries(TEXTS, TEXTS),
    check_seconds=st.floats(0, 1e9),
    trusts_folder=st.booleans(),
    source=TEXTS,
)
REJECTED = st.builds(RejectedTask, TEXTS, st.sampled_from(TaskFailure), TEXTS, TEXTS)


@given(st.lists(TASKS | REJECTED, unique_by=lambda each: each.id, max_size=6))
@settings(max_examples=60)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, given: list[BatchTask | RejectedTask]) -> None:
    directory = BatchDirectory(str(tmp_path_factory.mktemp("plan")))
    assert write_plan(directory, given).added == tuple(each.id for each in given)
    assert entries(directory) == given
    plan = BatchPlan.open(directory)
    assert [plan.index(each.id) for each in given] == list(range(len(given)))
    assert write_plan(directory, reversed(given)) == PlanChanges()
