"""What a process that locked itself in can still do, tried in processes of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tejat.workspace.sandbox.landlock import (
    READ_FILE,
    WRITE_FILE,
    abi_version,
    restrict_self,
    scope_flags,
    tcp_rights,
    write_rights,
)

pytestmark = pytest.mark.skipif(not abi_version(), reason="SANDBOX MISSING: this kernel has no Landlock")

LOCKED = """
import os, sys
from tejat.workspace.sandbox.landlock import *
inside, outside = sys.argv[1:]
abi = abi_version()
rights = write_rights(abi) | READ_FILE
descriptor = os.open(inside, os.O_PATH)
library = os.open("/", os.O_PATH)
restrict_self([(descriptor, rights)], files=rights, ports=tcp_rights(abi), scopes=scope_flags(abi))

def attempt(name, action):
    try:
        action()
    except PermissionError:
        print(name, "refused")
    else:
        print(name, "done")

attempt("read inside", lambda: os.open(inside + "/f", os.O_RDONLY))
attempt("read outside", lambda: os.open(outside + "/f", os.O_RDONLY))
attempt("write inside", lambda: os.open(inside + "/g", os.O_WRONLY | os.O_CREAT))
attempt("write outside", lambda: os.open(outside + "/g", os.O_WRONLY | os.O_CREAT))
attempt("remove outside", lambda: os.unlink(outside + "/f"))
attempt("list outside", lambda: os.listdir(outside))
attempt("signal outside", lambda: os.kill(os.getppid(), 0))
"""


def test_what_stays_and_what_goes(tmp_path: Path) -> None:
    for name in ("inside", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("x")
    done = subprocess.run(
        [sys.executable, "-c", LOCKED, tmp_path / "inside", tmp_path / "outside"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "read inside done",
        "read outside refused",
        "write inside done",
        "write outside refused",
        "remove outside refused",
        "list outside done",
        "signal outside refused" if abi_version() >= 6 else "signal outside done",
    ]


def test_each_version_adds_rights_and_takes_none_away() -> None:
    for older in range(1, 12):
        for rights in (write_rights, tcp_rights, scope_flags):
            assert rights(older) & rights(older + 1) == rights(older)
    assert [write_rights(abi).bit_count() for abi in (1, 2, 3, 4, 5, 6, 7)] == [10, 11, 12, 12, 13, 13, 13]
    assert [tcp_rights(abi) for abi in (3, 4)] == [0, 3]
    assert [scope_flags(abi) for abi in (5, 6)] == [0, 3]


def test_what_the_kernel_does_not_know_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        restrict_self([], files=1 << 60)
    (tmp_path / "f").write_text("still writable")
    assert READ_FILE & WRITE_FILE == 0
