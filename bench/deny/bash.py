"""Runs shell lines in bash and tells which ones start a program, wherever in the line it is hidden."""

import os
import shutil
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tejat.core.approval.modes import SandboxMode
from tejat.workspace.sandbox.selection import select_sandbox
from tejat.workspace.sandbox.types import SandboxPolicy

STUBS = "/stubs"
"""The directory of the programs, in lines."""

_SECONDS = "1"
_STUBBED = ("ls",)
_PROGRAMS = (
    *("awk", "bash", "cat", "chrt", "choom", "cp", "dash", "dbus-run-session", "dd", "ed", "env", "find", "flock"),
    *("gawk", "gdb", "git", "i386", "install", "ionice", "linux64", "ln", "lua", "m4", "make", "mawk", "mkdir", "mv"),
    *(
        "nice",
        "node",
        "nohup",
        "parallel",
        "perl",
        "php",
        "printf",
        "prlimit",
        "python3",
        "ruby",
        "run-parts",
        "script",
    ),
    *("sed", "setarch", "setpriv", "setsid", "sg", "sh", "sort", "split", "sqlite3", "ssh-agent", "stdbuf", "tar"),
    *("taskset", "tclsh", "tee", "timeout", "unshare", "vim", "which", "x86_64", "xargs"),
)
_DRIVER = r"""
export PATH="$1/stubs"
while IFS= read -r -d '' number && IFS= read -r -d '' line; do
    cd "$1/$number" || exit 1
    ignored=$(
        ulimit -t 2 -f 20000
        exec timeout -s KILL "$2" "$BASH" --norc --noprofile -c "$line" </dev/null 2>&1
    )
done
exit 0
"""


def find_lines_that_run(
    program: str, lines: Sequence[str], place: Path, *, files: Mapping[str, str] | None = None
) -> set[str]:
    """Run every line in a directory of its own, in a sandbox where there is one; return those that ran the program.

    The program is a stub that leaves a file with a name that no line knows. `/stubs/` in a line is where the programs
    are. `files` are in the directory before. A line is killed after some seconds.
    """
    stubs = place / "stubs"
    stubs.mkdir(parents=True)
    for name in (*_STUBBED, program):
        leaves_mark = f': > "RAN-{os.getpid()}"\n' if name == program else ""
        (stubs / name).write_text(f"#!/bin/sh\n{leaves_mark}", encoding="utf-8")
        (stubs / name).chmod(0o755)
    for name in _PROGRAMS:
        found = shutil.which(name)
        if found is not None:
            (stubs / name).symlink_to(found)
    for number in range(len(lines)):
        (place / str(number)).mkdir()
        for name, content in {"x": "a\nb\n", **(files or {})}.items():
            file = place / str(number) / name
            file.write_text(content, encoding="utf-8")
            file.chmod(0o755)
    texts = [line.replace(f"{STUBS}/", f"{stubs}/") for line in lines]
    fed = "".join(f"{number}\0{text}\0" for number, text in enumerate(texts))
    environment = {"HOME": str(place), "LANG": "C.UTF-8", "PATH": os.environ["PATH"]}
    with _fenced_in(place, "--norc", "--noprofile", "-c", _DRIVER, "driver", str(place), _SECONDS) as arguments:
        subprocess.run(
            arguments, input=fed.encode("utf-8", "replace"), env=environment, check=True, capture_output=True
        )
        time.sleep(0.2)  # something may still run in the background
    marked = {mark.parent.name for mark in place.glob(f"*/RAN-{os.getpid()}")}
    return {line for number, line in enumerate(lines) if str(number) in marked}


@contextmanager
def _fenced_in(place: Path, *words: str) -> Generator[Sequence[str]]:
    """Yield how to start bash so that whatever a line does stays in this place, if there is a sandbox."""
    arguments = (os.path.realpath(shutil.which("bash") or "/bin/bash"), *words)
    state, temporary = place.with_name(f"{place.name}-state"), place.with_name(f"{place.name}-temporary")
    state.mkdir()
    sandbox, _ = select_sandbox(SandboxMode.AUTO, roots=[str(place)], state_directory=str(state))
    if sandbox is None:
        yield arguments
        return
    temporary.mkdir()
    fence = SandboxPolicy((str(place),), str(temporary), read_only_paths=(), hidden_paths=(), network=False)
    wrapped = sandbox.wrap(arguments, fence, directory=str(place))
    yield wrapped.arguments
    wrapped.clean_up()
