"""The check of a task: it fails for the files as they are, and nothing in the tree decides."""

import os
import subprocess
from pathlib import Path

import pytest
from bench.tasks.case import TaskCase, load_cases
from bench.tasks.repository import create_repository
from bench.tasks.task_file import check_command

CASES = {case.id: case for case in load_cases()}


def judge(case: TaskCase, tree: Path) -> "subprocess.CompletedProcess[str]":
    command = ["/bin/sh", "-c", check_command(case)]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False, timeout=100)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def solved(tmp_path: Path) -> Path:
    """The tree of the first task, solved."""
    tree = tmp_path / "tree"
    create_repository(CASES["01-failing-test"], tree)
    edit(tree / "ledger" / "money.py", "round(total * weight / whole)", "total * weight // whole")
    return tree


@pytest.mark.parametrize("name", CASES)
def test_untouched_files_fail(name: str, tmp_path: Path) -> None:
    create_repository(CASES[name], tmp_path / "tree")
    before = sorted(os.listdir(tmp_path / "tree"))
    done = judge(CASES[name], tmp_path / "tree")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" in done.stdout + done.stderr, "it fails because a test does"
    assert sorted(os.listdir(tmp_path / "tree")) == before


def test_a_solution_passes(solved: Path) -> None:
    done = judge(CASES["01-failing-test"], solved)
    assert (done.returncode, done.stderr) == (0, "")
    (solved / "try.py").touch()
    assert judge(CASES["01-failing-test"], solved).returncode == 0


def test_files_that_must_stay(solved: Path) -> None:
    (solved / "tests" / "test_invoice.py").write_text("", encoding="utf-8")
    os.remove(solved / "tests" / "__init__.py")
    done = judge(CASES["01-failing-test"], solved)
    assert done.returncode == 1
    assert "tests/__init__.py: deleted, but it must stay as it was" in done.stdout
    assert "tests/test_invoice.py: changed, but it must stay as it was" in done.stdout


def test_new_files_where_none_are_wanted(tmp_path: Path) -> None:
    create_repository(CASES["18-migration"], tmp_path / "tree")
    (tmp_path / "tree" / "migrate.py").touch()
    assert "migrate.py: a new file" in judge(CASES["18-migration"], tmp_path / "tree").stdout


@pytest.mark.parametrize(
    "line", ["raise SystemExit(0)", "import os; os._exit(0)", "import unittest; unittest.main = 0"]
)
def test_an_exit_is_no_success(line: str, tmp_path: Path) -> None:
    create_repository(CASES["01-failing-test"], tmp_path / "tree")
    with (tmp_path / "tree" / "ledger" / "money.py").open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    assert judge(CASES["01-failing-test"], tmp_path / "tree").returncode == 1


def test_modules_of_the_tree_do_not_replace_the_judge(tmp_path: Path) -> None:
    create_repository(CASES["01-failing-test"], tmp_path / "tree")
    for name in ("check.py", "judge.py", "check_of_case.py", "tomllib.py", "secrets.py"):
        (tmp_path / "tree" / name).write_text("raise SystemExit(0)\n", encoding="utf-8")
    assert judge(CASES["01-failing-test"], tmp_path / "tree").returncode == 1
