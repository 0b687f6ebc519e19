"""The examples for SDKs and frameworks: they run with the real packages, and need three lines of glue at most."""

import ast
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.framework_tools import NOTE, fill
from support.model_servers.conversation import Call, ConversationServer
from support.source_tree import ROOT

PAGE = ROOT / "docs" / "python" / "frameworks.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MAX_GLUE = 3
PACKAGES = {"openai", "anthropic", "google.genai", "pydantic_ai", "langchain", "agents", "google.adk"}


@dataclass(frozen=True)
class Example:
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def packages(self) -> set[str]:
        """The packages in use that the page is about."""
        modules: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                modules |= {f"{node.module}.{alias.name}" for alias in node.names}
        return {package for package in PACKAGES for module in modules if f"{module}.".startswith(f"{package}.")}

    @property
    def glue(self) -> set[int]:
        """The lines that use Tejat, without the imports."""
        own = {
            alias.asname or alias.name
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tejat")
            for alias in node.names
        }
        names = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        return {name.lineno for name in names if name.id in own | {"tools"}}

    def __str__(self) -> str:
        return "-".join(sorted(self.packages)) or "tejat"


EXAMPLES = [Example(text) for text in BLOCK.findall(PAGE.read_text(encoding="utf-8"))]


def test_every_package_has_an_example() -> None:
    assert set().union(*(example.packages for example in EXAMPLES)) == PACKAGES


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_glue_is_short(example: Example) -> None:
    assert 1 <= len(example.glue) <= MAX_GLUE


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_examples_run(example: Example, tmp_path: Path) -> None:
    python = str(ROOT / ".venv-adk" / "bin" / "python") if "google.adk" in example.packages else sys.executable
    with ConversationServer([Call("read_file", {"path": "note.txt"})], "It says heron.") as server:
        done = subprocess.run(
            [python, "-c", example.text],
            cwd=fill(tmp_path),
            env={**os.environ, **server.environment},
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        if example.packages:
            assert "It says heron." in done.stdout
            assert len(server.requests) == 2
            assert NOTE.strip() in server.requests[1].raw.decode()
        else:
            assert NOTE.strip() in done.stdout
