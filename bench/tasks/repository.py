"""Git repositories of the tasks. The same files give the same commits, so a batch can be resumed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bench.tasks.case import TaskCase

_WHEN = "2026-03-01T12:00:00+00:00"


def create_repository(case: TaskCase, path: Path) -> None:
    """Create the repository of a task, unless it is there."""
    if (path / ".git" / "complete").exists():
        return
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    if case.files.is_dir():
        shutil.copytree(case.files, path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (path / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
    environment = _environment()
    _run(["git", "init", "-q", "-b", "main"], path, environment)
    _commit(path, environment, "Begin")
    if case.setup.exists():
        _run([sys.executable, "-B", str(case.setup)], path, environment)
        _commit(path, environment, "Add generated files")
    (path / ".git" / "complete").touch()


def _commit(path: Path, environment: Mapping[str, str], message: str) -> None:
    """Commit everything, if there is anything."""
    _run(["git", "add", "-A"], path, environment)
    if subprocess.run(["git", "diff", "--cached", "--quiet"], cwd=path, env=environment, check=False).returncode:
        _run(["git", "commit", "-q", "-m", message], path, environment)


def _run(command: list[str], path: Path, environment: Mapping[str, str]) -> None:
    subprocess.run(command, cwd=path, env=environment, check=True, stdin=subprocess.DEVNULL)


def _environment() -> dict[str, str]:
    """Our environment without any configuration of git, and with a fixed author and date."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    person = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _PERSON.items()}
    return {**kept, **person, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


_PERSON = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": _WHEN}
