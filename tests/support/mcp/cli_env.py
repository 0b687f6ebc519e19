"""A home and a project for `tejat mcp` subcommands, which run in this process."""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.program import TEJAT, ProgramResult, write_settings
from tejat.cli.main import main

MCP = Path(__file__).parents[2] / "mcp"
OFFICIAL = [sys.executable, str(MCP / "official_server.py")]
HOSTILE = [sys.executable, "-SE", str(MCP / "hostile_server.py")]


@dataclass(frozen=True)
class McpCliEnv:
    """Where the commands run."""

    home: Path
    project: Path
    _capture: pytest.CaptureFixture[str]

    def run(self, *words: str) -> ProgramResult:
        """Run `tejat` with these words."""
        self._capture.readouterr()
        try:
            code = main([*words])
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else -1
        said = self._capture.readouterr()
        return ProgramResult(code, said.out, said.err)

    def mcp(self, *words: str) -> ProgramResult:
        return self.run("mcp", *words)

    def trust(self) -> None:
        assert self.run("trust", "--yes").code == 0

    @property
    def user_file(self) -> Path:
        return self.home / ".gemini" / "settings.json"

    @property
    def project_file(self) -> Path:
        return self.project / ".gemini" / "settings.json"

    def write_servers(self, **servers: list[str] | dict[str, Any]) -> None:
        """Write servers into the user's settings: command lines, or whole entries."""
        write_servers(self.home, **servers)

    async def run_in_process(self, *words: str) -> ProgramResult:
        """Run `tejat mcp` in a process of its own, while servers of this one answer."""
        process = await asyncio.create_subprocess_exec(
            *TEJAT,
            "mcp",
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, aside = await process.communicate()
        assert process.returncode is not None
        return ProgramResult(process.returncode, out.decode(), aside.decode())


def write_servers(home: Path, **servers: list[str] | dict[str, Any]) -> None:
    entries = {name: given if isinstance(given, dict) else _program(given) for name, given in servers.items()}
    write_settings(home, {"mcpServers": entries})


def _program(words: list[str]) -> dict[str, Any]:
    return {"command": words[0], "args": words[1:]}


def make_cli_env(base: Path, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> McpCliEnv:
    """An empty home and project below `base`."""
    here = McpCliEnv((base / "home").resolve(), (base / "project").resolve(), capture)
    for directory in (here.home, here.project):
        directory.mkdir()
    monkeypatch.setenv("HOME", str(here.home))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.chdir(here.project)
    return here


def read_servers(path: Path) -> Any:
    return json.loads(path.read_text())["mcpServers"]
