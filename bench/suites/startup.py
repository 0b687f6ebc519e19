"""Start-up of the program: time, beside the interpreter and codex, and counts that depend on no clock."""

import os
import subprocess
import sys
from collections.abc import Iterator

from tests.support.startup_counts import COUNTED, read_budget

from bench.measurement import Measurement, ratio
from bench.support import agents
from bench.support.tool_process import TEJAT

_ROUNDS = 30


def measure(_scratch: str) -> Iterator[Measurement]:
    yield ratio(
        "`tejat --version` over the bare interpreter",
        2.0,
        _print_version,
        lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
        rounds=_ROUNDS,
    )
    yield from _beside_codex()
    yield from _counts()


def _print_version() -> None:
    subprocess.run([TEJAT, "--version"], check=True, stdout=subprocess.DEVNULL)


def _beside_codex() -> Iterator[Measurement]:
    """Compare with codex as its package installs it.

    The program that its script starts is measured too, without a limit: it is native, and the bare interpreter alone
    takes longer.
    """
    installed = agents.find_codex()
    if installed is None:
        print("--   codex is not installed: `tejat --version` is not compared with it", flush=True)
        return
    native = agents.native_codex(installed)
    compared = [("codex", installed, 0.4)]
    if native != installed:
        compared.append(("the native program of codex", native, float("inf")))
    for name, program, limit in compared:
        yield ratio(
            f"`tejat --version` over {name}",
            limit,
            _print_version,
            lambda program=program: subprocess.run([program, "--version"], check=True, stdout=subprocess.DEVNULL),
            rounds=_ROUNDS,
        )


def _counts() -> Iterator[Measurement]:
    if sys.platform != "linux" or not os.path.exists("/proc/self/io"):
        print("--   this system does not count what a process writes: start-up is not counted", flush=True)
        return
    budget = read_budget()
    for name, count in COUNTED.items():
        counts = count()
        yield Measurement(f"{name}, counts over their budget", counts.share_of(budget[name]), 1.0, "x", str(counts))
