"""Runs of a scripted model, in a home with the given files."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.support.tool_process import TEJAT


def scripted_run(directory: Path, files: Mapping[str, str]) -> Callable[[], object]:
    """Return a function that runs one prompt. `files` are the contents by path in `~/.gemini`."""
    home, project, script = directory / "home", directory / "project", directory / "script.toml"
    for name, content in files.items():
        path = home / ".gemini" / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(content, encoding="utf-8")
    home.mkdir(parents=True, exist_ok=True)
    project.mkdir()
    script.write_text('[[answer]]\nsay = "Hello."\n', encoding="utf-8")
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    command = [TEJAT, "-p", "hi", "-m", f"scripted:{script}"]

    def run() -> None:
        subprocess.run(command, check=True, cwd=project, env=environment, capture_output=True, timeout=60)

    run()  # what is said only once is said now
    return run
