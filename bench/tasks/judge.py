"""The check of a task: `python judge.py CASE` in its tree.

It compares the files with those that the task began with, and runs the hidden tests in a process of their own. Files
and tests are read from the folder of the task, so nothing in the tree decides. Only the standard library is used, and
no package of ours: the tree comes first on the path of modules.
"""

import os
import secrets
import subprocess
import sys
import tomllib
import unittest
from fnmatch import fnmatchcase
from importlib import util
from pathlib import Path

_SECONDS = 90
_IGNORED = {".git", "__pycache__", ".gitignore"}


def main(case: Path) -> int:
    wrong = _wrong_files(case, Path())
    for line in wrong:
        print(line)
    return 0 if _tests_pass(case) and not wrong else 1


def _wrong_files(case: Path, tree: Path) -> list[str]:
    """What is wrong with the files, one line each."""
    task = tomllib.loads((case / "task.toml").read_text(encoding="utf-8"))
    before, after = _contents(case / "files"), _contents(tree)
    allowed: list[str] = task.get("changes", ["*"])
    wrong = [
        f"{name}: {'changed' if name in after else 'deleted'}, but it must stay as it was"
        for name, content in sorted(before.items())
        if after.get(name) != content and not any(fnmatchcase(name, pattern) for pattern in allowed)
    ]
    if task.get("adds_nothing"):
        wrong += [f"{name}: a new file" for name in sorted(set(after) - set(before))]
    return wrong


def _contents(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder): path for path in folder.rglob("*")}
    return {
        name.as_posix(): path.read_bytes()
        for name, path in found.items()
        if path.is_file() and not _IGNORED & set(name.parts)
    }


def _tests_pass(case: Path) -> bool:
    """Run the tests in a child, which says so if they pass. Its exit code is not enough: code in the tree may exit."""
    word = secrets.token_hex(8)
    incoming, outgoing = os.pipe()
    command = [sys.executable, "-B", __file__, "--child", str(case), str(outgoing), word]
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        subprocess.run(command, env=environment, pass_fds=[outgoing], timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        print(f"The tests took longer than {_SECONDS} seconds.")
    os.close(outgoing)
    with os.fdopen(incoming, "rb") as pipe:
        return pipe.read() == word.encode()


def _run_tests(case: Path, outgoing: int, word: str) -> int:
    sys.path[0] = os.getcwd()
    spec = util.spec_from_file_location("check_of_case", case / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules["check_of_case"] = module
    spec.loader.exec_module(module)
    result = unittest.TextTestRunner(sys.stdout).run(unittest.defaultTestLoader.loadTestsFromModule(module))
    if result.testsRun == 0 or not result.wasSuccessful():
        return 1
    os.write(outgoing, word.encode())
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        sys.exit(_run_tests(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
    sys.exit(main(Path(sys.argv[1])))
