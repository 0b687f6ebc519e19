"""Neovim to test with: an installed one, or the one that scripts/test unpacks."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.source_tree import ROOT

LOUD_EDITOR = "EDITOR MISSING"
"""The prefix of a skip reason that is shown in the summary."""

_UNPACKED = ROOT / "build" / "neovim" / "usr"


def run_neovim(script: Path, environment: dict[str, str], *, cwd: Path) -> str:
    """Run a Lua script in Neovim without a screen or a configuration, and return what it prints. Skips without it."""
    program = shutil.which("nvim") or str(_UNPACKED / "bin" / "nvim")
    if not os.access(program, os.X_OK):
        pytest.skip(f"{LOUD_EDITOR}: Neovim is not installed; scripts/test unpacks it where apt-get has its packages")
    if program.startswith(str(_UNPACKED)):
        libraries = os.pathsep.join(str(path) for path in (_UNPACKED / "lib").glob("*-linux-*"))
        environment = {
            **environment,
            "LD_LIBRARY_PATH": libraries,
            "VIMRUNTIME": str(_UNPACKED / "share" / "nvim" / "runtime"),
        }
    done = subprocess.run(
        [program, "--headless", "-u", "NONE", "-i", "NONE", "-c", f"luafile {script}"],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.stdout + done.stderr
