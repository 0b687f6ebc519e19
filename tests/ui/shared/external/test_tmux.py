"""What tmux says about its client: of a real one, and of one that answers strangely."""

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tejat.ui.shared.external.tmux import TmuxClient, read_tmux_client

TMUX = shutil.which("tmux")


def read(environment: Mapping[str, str], **options: tuple[str, ...]) -> TmuxClient | None:
    return asyncio.run(read_tmux_client(environment, **options))


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `tmux` to be written, the only one in PATH."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    return directory / "tmux"


def write_answer(program: Path, *values: str) -> None:
    answer = "\\t".join(values)
    program.write_text(f"#!/bin/sh\nprintf '{answer}\\n'\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("passthrough", "attached", "active", "zoomed", "pane", "passes"),
    [
        ("0", "1", "1", "0", "1", False),
        ("off", "1", "1", "0", "1", False),
        ("", "1", "1", "0", "1", False),
        ("1", "1", "1", "0", "0", True),
        ("on", "1", "1", "0", "1", True),
        ("on", "0", "1", "0", "1", False),
        ("on", "1", "0", "0", "1", False),
        ("on", "1", "1", "1", "0", False),
        ("on", "1", "1", "1", "1", True),
        ("all", "1", "0", "0", "0", True),
    ],
)
def test_whether_sequences_reach_the_terminal(
    program: Path, passthrough: str, attached: str, active: str, zoomed: str, pane: str, passes: bool
) -> None:
    write_answer(program, passthrough, attached, active, zoomed, pane, "kitty(0.35)", "xterm-kitty")
    assert read({}) == TmuxClient(passes, "kitty(0.35)", "xterm-kitty")


def test_no_answer(program: Path) -> None:
    assert read({}) is None
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    assert read({}) is None
    write_answer(program, "on", "1")
    assert read({}) is None


def test_a_program_of_the_workspace_is_not_run(program: Path) -> None:
    write_answer(program, "all", "1", "1", "0", "1", "kitty", "xterm-kitty")
    assert read({}, untrusted=(str(program.parent),)) is None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a pane in a tmux that nobody is attached to."""
    assert TMUX is not None
    own = tmp_path / "environment"
    base = {"PATH": os.environ["PATH"], "TMUX_TMPDIR": str(tmp_path), "LANG": "C.UTF-8"}
    command = f"env > {own}.new; mv {own}.new {own}; sleep 60"
    subprocess.run([TMUX, "-f", "/dev/null", "new-session", "-d", command], env=base, check=True, timeout=60)
    try:
        end = time.monotonic() + 60
        while not own.exists() and time.monotonic() < end:
            time.sleep(0.02)
        yield dict(line.split("=", 1) for line in own.read_text().splitlines() if "=" in line)
    finally:
        subprocess.run([TMUX, "kill-server"], env=base, check=True, timeout=60)


@pytest.mark.skipif(TMUX is None, reason="needs tmux")
def test_a_real_one(server: dict[str, str]) -> None:
    found = read(server)
    assert found is not None
    assert not found.passes_sequences
