"""Running the program where no sandbox works: in one, which allows no other, with its own source as the root."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.program import ProgramEnv, ProgramResult
from tejat.workspace.sandbox.landlock import abi_version
from tejat.workspace.sandbox.landlock_sandbox import LandlockSandbox
from tejat.workspace.sandbox.types import SandboxPolicy

SOURCE = Path(__file__).parents[2] / "src"


def run_without_sandbox(env: ProgramEnv, *words: str) -> ProgramResult:
    """Run the program with these arguments. The test is skipped where Landlock does not work."""
    if not abi_version():
        pytest.skip("SANDBOX MISSING: this kernel has no Landlock")
    (env.base / "temporary").mkdir(exist_ok=True)
    home, temporary = env.home.resolve(), (env.base / "temporary").resolve()
    wrapped = LandlockSandbox().wrap(
        [sys.executable, "-m", "tejat", *words],
        SandboxPolicy((str(home),), str(temporary), (), (), network=False),
        directory=str(SOURCE),
    )
    done = subprocess.run(
        wrapped.arguments,
        cwd=SOURCE,
        env=env.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ProgramResult(done.returncode, done.stdout, done.stderr)
