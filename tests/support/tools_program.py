"""`tejat tools` as a program."""

import json
import os
import subprocess
import sys
from pathlib import Path

TOOLS_COMMAND = [sys.executable, "-m", "tejat", "tools"]


def run_tools(
    *words: str | Path, cwd: Path, given: bytes | None = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run `tejat tools` with this input."""
    return subprocess.run(
        [*TOOLS_COMMAND, *words],
        input=given,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


def printed_object(done: subprocess.CompletedProcess[bytes]) -> dict[str, object]:
    """The one JSON object that was printed."""
    assert done.stdout.endswith(b"\n")
    assert done.stdout.count(b"\n") == 1
    return json.loads(done.stdout)
