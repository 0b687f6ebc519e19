"""The repositories and the task file of a run."""

import base64
import io
import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from bench.tasks import judge
from bench.tasks.case import TaskCase
from bench.tasks.repository import create_repository

_UNPACK = """
import base64, io, os, sys, tempfile, zipfile
folder = tempfile.mkdtemp()
zipfile.ZipFile(io.BytesIO(base64.b64decode(sys.argv[1]))).extractall(folder)
os.execv(sys.executable, [sys.executable, "-B", os.path.join(folder, "judge.py"), os.path.join(folder, "case")])
"""
_ENTRIES = ("task.toml", "check.py", "setup.py", "files")


def write_task_file(cases: Iterable[TaskCase], folder: Path, *, scripted: bool, seconds: float) -> Path:
    """Create the repositories in `folder`, and return the path of a task file for `tejat batch run`.

    With `scripted` each task has the scripted model that solves it. `seconds` limits each run.
    """
    lines = list[str]()
    for case in cases:
        repository = folder / "repositories" / case.id
        create_repository(case, repository)
        task = {"id": case.id, "repo": str(repository), "prompt": case.prompt, "check": check_command(case)}
        model = {"model": f"scripted:{case.script}"} if scripted else {}
        rights = {"approval_mode": "yolo", "trust": True, "timeout": seconds, "check_timeout": 120}
        lines.append(json.dumps({**task, **model, **rights}))
    path = folder / "tasks.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def check_command(case: TaskCase) -> str:
    """A shell command for the tree of a task.

    What it runs and compares with is in the command itself: a sandbox may hide the folder of the task, as it does if
    the benchmark is in a temporary directory.
    """
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        _add(archive, "judge.py", Path(judge.__file__))
        for entry in _ENTRIES:
            path = case.folder / entry
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and "__pycache__" not in file.parts:
                    _add(archive, f"case/{file.relative_to(case.folder).as_posix()}", file)
    return shlex.join([sys.executable, "-I", "-c", _UNPACK, base64.b64encode(content.getvalue()).decode("ascii")])


def _add(archive: ZipFile, name: str, file: Path) -> None:
    """Add a file, always with the same date: a task that differs could not be continued."""
    archive.writestr(ZipInfo(name), file.read_bytes(), compress_type=ZIP_DEFLATED)
