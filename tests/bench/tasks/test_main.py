"""The benchmark through the real batch: scripted models solve all tasks, one that does nothing solves none."""

import subprocess
import sys
from pathlib import Path

import pytest
from bench.tasks.__main__ import main, run_cases
from bench.tasks.case import load_cases

from tejat.batch.result import TaskFailure, TaskResult, TaskStatus

JOBS = ["--jobs", "2"]
CASES = load_cases()
NOTHING = """
[[answer]]
say = "Done."
"""

pytestmark = pytest.mark.timeout(600)


def skip_without_sandbox(results: dict[str, TaskResult]) -> None:
    if any(result.failure is TaskFailure.SANDBOX for result in results.values()):
        pytest.skip("SANDBOX MISSING: no sandbox works here")


def test_scripted_models_solve_all_tasks(tmp_path: Path) -> None:
    code, results = run_cases(CASES, tmp_path, arguments=JOBS)
    skip_without_sandbox(results)
    wrong = {
        result.id: (result.status, result.exit_code, result.message, stderr(tmp_path, result))
        for result in results.values()
        if result.status is not TaskStatus.PASSED or result.exit_code != 0
    }
    assert wrong == {}
    assert (code, sorted(results)) == (0, [case.id for case in CASES])
    assert all(result.patch and result.files_changed for result in results.values())


def test_a_model_that_does_nothing_solves_none(tmp_path: Path) -> None:
    (tmp_path / "nothing.toml").write_text(NOTHING, encoding="utf-8")
    model = f"scripted:{tmp_path / 'nothing.toml'}"
    code, results = run_cases(CASES, tmp_path / "out", model=model, arguments=JOBS)
    skip_without_sandbox(results)
    assert code == 1
    assert {result.status for result in results.values()} == {TaskStatus.FAILED}
    assert len(results) == 20


def test_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.tasks", "--only", "2", "--out", str(tmp_path / "out")]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=300)
    if "No sandbox" in done.stdout:
        pytest.skip("SANDBOX MISSING: no sandbox works here")
    assert done.returncode == 0, done.stdout + done.stderr
    table = done.stdout.splitlines()[-2:]
    assert table[0].startswith("passed   02-similar-places")
    assert table[1].startswith("1/1  ")
    again = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=300)
    assert again.stdout.splitlines()[-2:] == table, "the task is not run again"


def test_list_and_unknown_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--only", "4"]) == 0
    assert capsys.readouterr().out == "04-bytes: Edits that keep every other byte\n"
    assert main(["--only", "99"]) == 2
    assert "Unknown task '99'" in capsys.readouterr().err


def stderr(folder: Path, result: TaskResult) -> str:
    path = folder / "batch" / result.directory / "stderr.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""
