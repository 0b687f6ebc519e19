"""Predictions for SWE-bench, read back as its harness does."""

import io
import json
import subprocess
from pathlib import Path

import pytest

from tejat.batch.directory import BatchDirectory
from tejat.batch.predictions import write_predictions
from tejat.batch.result import TaskResult, TaskStatus

TEXT = "--- a/größe.py\n+++ b/größe.py\n@@ -1 +1 @@\n-old\u2028\r\n+new\r\n"


def result(batch: BatchDirectory, task_id: str, patch: bytes | None, status: TaskStatus) -> TaskResult:
    """A result with its patch in place."""
    if patch is None:
        return TaskResult(task_id, status)
    folder = batch.task(task_id)
    Path(folder.path).mkdir(parents=True)
    Path(folder.patch).write_bytes(patch)
    return TaskResult(task_id, status, patch=batch.relative(folder.patch))


@pytest.fixture
def batch(tmp_path: Path) -> BatchDirectory:
    return BatchDirectory(str(tmp_path))


def test_a_line_for_each_task_that_was_tried(batch: BatchDirectory) -> None:
    results = [
        result(batch, "django__django-1", TEXT.encode(), TaskStatus.PASSED),
        result(batch, "django__django-2", b"diff --git a/x b/x\n", TaskStatus.FAILED),
        result(batch, "django__django-3", None, TaskStatus.FAILED),
        result(batch, "django__django-4", None, TaskStatus.ERROR),
        result(batch, "django__django-5", None, TaskStatus.SKIPPED),
    ]
    out = io.StringIO()
    assert write_predictions(batch, results, out, name="tejat+gemini-2.5-pro") == 3
    # The harness splits lines as files do, and decodes them by locale.
    assert out.getvalue().isascii()
    assert [json.loads(line) for line in io.StringIO(out.getvalue())] == [
        {"instance_id": f"django__django-{number}", "model_name_or_path": "tejat+gemini-2.5-pro", "model_patch": patch}
        for number, patch in ((1, TEXT), (2, "diff --git a/x b/x\n"), (3, ""))
    ]


def test_untried_tasks_count_as_unsolved_on_request(batch: BatchDirectory) -> None:
    results = [TaskResult("a", TaskStatus.ERROR), TaskResult("b", TaskStatus.SKIPPED)]
    out = io.StringIO()
    assert write_predictions(batch, results, out, name="tejat", includes_untried=True) == 2
    assert [json.loads(line)["model_patch"] for line in out.getvalue().splitlines()] == ["", ""]


def test_a_patch_that_is_not_utf_8_is_reported(batch: BatchDirectory) -> None:
    out, warnings = io.StringIO(), list[str]()
    results = [result(batch, "a", b"+gr\xfc\xdfe\n", TaskStatus.PASSED)]
    assert write_predictions(batch, results, out, name="tejat", warn=warnings.append) == 1
    assert json.loads(out.getvalue())["model_patch"] == "+gr\ufffd\ufffde\n"
    assert warnings == ["a: the patch is not UTF-8 and probably does not apply."]
    # The harness writes the patch to a file: no surrogates.
    json.loads(out.getvalue())["model_patch"].encode()


def test_a_patch_that_is_gone_leaves_the_others_alone(batch: BatchDirectory) -> None:
    out, warnings = io.StringIO(), list[str]()
    results = [
        TaskResult("a", TaskStatus.PASSED, patch="tasks/a/patch.diff"),
        result(batch, "b", b"+x\n", TaskStatus.PASSED),
    ]
    assert write_predictions(batch, results, out, name="tejat", warn=warnings.append) == 1
    assert warnings == ["a: could not read the patch: No such file or directory. Left out."]
    assert write_predictions(batch, results, io.StringIO(), name="tejat") == 1


def test_git_applies_the_patch_of_a_prediction(batch: BatchDirectory, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()

    def git(*arguments: str, given: bytes = b"") -> bytes:
        command = ["git", "-C", str(tree), *arguments]
        return subprocess.run(command, input=given, capture_output=True, check=True, timeout=60).stdout

    git("init", "-q")
    before, after = "eins\r\nzwei ä\n".encode(), "eins\r\nzwei ö\u2028\n".encode()
    (tree / "a b.txt").write_bytes(before)
    (tree / "data").write_bytes(bytes(range(256)))
    git("add", ".")
    (tree / "a b.txt").write_bytes(after)
    (tree / "data").write_bytes(bytes(range(255, -1, -1)))
    patch = git("diff", "--binary")
    git("checkout", "-q", ".")
    out = io.StringIO()
    write_predictions(batch, [result(batch, "x", patch, TaskStatus.PASSED)], out, name="tejat")
    git("apply", "-", given=json.loads(out.getvalue())["model_patch"].encode())
    assert ((tree / "a b.txt").read_bytes(), (tree / "data").read_bytes()) == (after, bytes(range(255, -1, -1)))
