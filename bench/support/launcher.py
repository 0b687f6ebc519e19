"""Launch a program as a user does, and measure it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# The system counts the memory of whoever starts a program as the program's own, so a small process has to do it.
_LAUNCHER = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
seconds = time.perf_counter() - start
os.write(int(sys.argv[1]), f"{seconds} {usage.ru_maxrss} {os.waitstatus_to_exitcode(status)}".encode())
"""
_UNIT_OF_MEMORY = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Launched:
    """A finished program. `peak_memory` is that of its largest process in bytes."""

    seconds: float
    peak_memory: int
    output: str


def launch(command: Sequence[str], directory: str, environment: Mapping[str, str]) -> Launched:
    """Run a program to its end. Raises AssertionError with its output if it failed."""
    incoming, outgoing = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(outgoing), *command],
            cwd=directory,
            env=environment,
            pass_fds=[outgoing],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        seconds, memory, code = os.read(incoming, 100).split()
    finally:
        os.close(incoming)
        os.close(outgoing)
    assert int(code) == 0, f"{command[0]} ended with {int(code)}: {done.stdout}{done.stderr}"
    return Launched(float(seconds), int(memory) * _UNIT_OF_MEMORY, done.stdout)
