"""A disk that is full or may not be written: refused in the right words, the old file whole, nothing left behind."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PREAMBLE = """
import json, os, resource, subprocess, sys
from tejat.core.errors import WorkspaceError
from tejat.workspace.files.atomic_write import ExpectedFile, write_atomically
from tejat.workspace.files.roots import Roots

place = sys.argv[1]
path = os.path.join(place, "f")

def attempt(name, size):
    with Roots([place]) as roots:
        old = None
        if name == "f":
            with roots.open_file(roots.locate(name)) as file:
                old = ExpectedFile(file.read_all(), file.status)
        try:
            write_atomically(roots, roots.locate(name), [b"n" * 1000] * (size // 1000), expected=old)
        except WorkspaceError as error:
            return [error.error_type, error.message.replace(place, "PLACE")]
        return ["written", ""]

def report(**facts):
    with open(path, "rb") as file:
        whole = file.read() == b"o" * 300_000
    names = sorted(os.path.join(where, name) for where, *all in os.walk(place) for names in all for name in names)
    print(json.dumps({**facts, "whole": whole, "names": [os.path.relpath(name, place) for name in names]}))
"""

FULL = """
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], check=True)
with open(path, "wb") as file:
    file.write(b"o" * 300_000)
report(old=attempt("f", 900_000), new=attempt("a/b/f", 900_000))
"""

READ_ONLY = """
subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
with open(path, "wb") as file:
    file.write(b"o" * 300_000)
subprocess.run(["mount", "-o", "remount,ro", place], check=True)
report(old=attempt("f", 1_000), new=attempt("new", 1_000))
"""

LIMITED = """
with open(path, "wb") as file:
    file.write(b"o" * 300_000)
resource.setrlimit(resource.RLIMIT_FSIZE, (500_500, resource.RLIM_INFINITY))
report(old=attempt("f", 900_000), new=attempt("a/b/f", 900_000), small=attempt("small", 500_000))
"""


def run(prefix: list[str], script: str, place: Path) -> dict[str, Any]:
    command = [*prefix, sys.executable, "-c", PREAMBLE + script, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def own_mounts() -> list[str]:
    """How to start a program that may mount; the test is skipped aloud where nobody here may."""
    unshare = shutil.which("unshare")
    for flags in ["-m"] if os.geteuid() == 0 else [], ["-rm"]:
        if unshare is None or not flags:
            continue
        probe = [unshare, *flags, "mount", "-t", "tmpfs", "none", "/tmp"]
        if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            return [unshare, *flags]
    pytest.skip("mounting is not allowed here; the file size limit stands in for the full disk")


def test_a_full_disk(tmp_path: Path) -> None:
    assert run(own_mounts(), FULL, tmp_path) == {
        "old": ["no_space_left", "No space left on device: PLACE/f (ENOSPC)"],
        "new": ["no_space_left", "No space left on device: PLACE/a/b/f (ENOSPC)"],
        "whole": True,
        "names": ["f"],
    }


def test_a_read_only_mount(tmp_path: Path) -> None:
    result = run(own_mounts(), READ_ONLY, tmp_path)
    words = "Permission denied writing to file: PLACE/{} (EROFS). "
    assert result == {
        "old": ["permission_denied", words.format("f") + "The file system is read-only."],
        "new": ["permission_denied", words.format("new") + "Read-only file system."],
        "whole": True,
        "names": ["f"],
    }


def test_a_file_size_limit(tmp_path: Path) -> None:
    """Runs everywhere: the write is cut short first, as on a full disk, and fails at the next call."""
    assert run([], LIMITED, tmp_path) == {
        "old": ["file_write_failure", "Error writing to file 'PLACE/f': File too large (EFBIG)"],
        "new": ["file_write_failure", "Error writing to file 'PLACE/a/b/f': File too large (EFBIG)"],
        "small": ["written", ""],
        "whole": True,
        "names": ["f", "small"],
    }
