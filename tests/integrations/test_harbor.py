"""The agent for Harbor. It needs Python 3.12 and the package `harbor`, so these tests are skipped in most places."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("harbor", reason="harbor is not installed; it needs Python 3.12")
environments: Any = pytest.importorskip("harbor.environments.base")
contexts: Any = pytest.importorskip("harbor.models.agent.context")
task_config: Any = pytest.importorskip("harbor.models.task.config")
adapter: Any = pytest.importorskip("tejat.integrations.harbor")

KEYS = {"GEMINI_API_KEY": "gk", "ANTHROPIC_API_KEY": "ak", "OPENAI_API_KEY": "ok", "OPENROUTER_API_KEY": "rk"}
SCRIPT = """
[[answer]]
[[answer.call]]
name = "write_file"
args = { file_path = "hello.txt", content = "Hello" }
[answer.usage]
prompt = 100
output = 20
cached = 10
[[answer]]
say = "Done."
"""


class ShellEnvironment:
    """Runs commands in a directory of this machine instead of a container."""

    default_user = None

    def __init__(self, home: Path) -> None:
        self.home = home
        program = home / ".local/bin/tejat"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m tejat "$@"\n')
        program.chmod(0o755)
        self.uploads: list[tuple[str, str]] = []

    async def exec(self, command: str, env: dict[str, str] | None = None, **how: Any) -> Any:
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.home), **(env or {})}
        done = await asyncio.to_thread(
            subprocess.run,
            ["bash", "-c", command],
            cwd=self.home,
            env=variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return environments.ExecResult(stdout=done.stdout, stderr=done.stderr, return_code=done.returncode)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        self.uploads.append((str(source_path), target_path))


def agent(directory: Path, model: str | None, **options: Any) -> Any:
    return adapter.TejatAgent(directory, model_name=model, extra_env=KEYS, environment_logs_dir=directory, **options)


@pytest.mark.parametrize(
    ("model", "name", "variables"),
    [
        ("gemini/gemini-2.5-pro", "gemini:gemini-2.5-pro", {"GEMINI_API_KEY": "gk"}),
        ("gemini:gemini-2.5-pro", "gemini:gemini-2.5-pro", {"GEMINI_API_KEY": "gk"}),
        ("anthropic/claude-opus-4-5", "anthropic:claude-opus-4-5", {"ANTHROPIC_API_KEY": "ak"}),
        ("openai/gpt-5", "openai:gpt-5", {"OPENAI_API_KEY": "ok"}),
        (
            "openrouter/qwen/qwen3-coder",
            "openai:qwen/qwen3-coder",
            {"OPENAI_API_KEY": "rk", "OPENAI_BASE_URL": "https://openrouter.ai/api/v1"},
        ),
    ],
)
def test_models_and_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, name: str, variables: dict[str, str]
) -> None:
    for variable in ("GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    made = agent(tmp_path, model)
    assert f"--model {name} " in made.run_script("x")
    assert made.run_variables() == variables


def test_an_address_and_limits(tmp_path: Path) -> None:
    made = agent(tmp_path, "openai/gpt-5", base_url="http://x/v1", max_turns=7, max_cost=1.5, disable_web_search=True)
    assert made.run_variables()["OPENAI_BASE_URL"] == "http://x/v1"
    line = made.run_script("x")
    assert "--exclude-tools google_web_search,web_fetch --max-turns=7 --max-cost=1.5 --prompt=x" in line


def test_a_run_and_its_figures(tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text(SCRIPT)
    made = agent(
        tmp_path,
        f"scripted:{tmp_path / 'script.toml'}",
        mcp_servers=[
            task_config.MCPServerConfig(name="tools", transport="streamable-http", url="http://127.0.0.1:9/mcp")
        ],
    )
    context = contexts.AgentContext()
    asyncio.run(made.run("Write Hello", ShellEnvironment(tmp_path), context))
    assert (tmp_path / "hello.txt").read_text() == "Hello"
    settings = json.loads((tmp_path / ".gemini/settings.json").read_text())
    assert settings == {"mcpServers": {"tools": {"httpUrl": "http://127.0.0.1:9/mcp"}}}
    made.populate_context_post_run(context)
    assert (context.n_input_tokens, context.n_output_tokens, context.n_cache_tokens) == (100, 20, 10)
    written = json.loads((tmp_path / "trajectory.json").read_text())
    assert [step["source"] for step in written["steps"]] == ["user", "agent", "agent"]
    assert made.convert_trajectory(tmp_path) is not None


def test_a_failure_is_raised(tmp_path: Path) -> None:
    made = agent(tmp_path, "scripted:missing.toml")
    with pytest.raises(RuntimeError, match="could not read the script"):
        asyncio.run(made.run("x", ShellEnvironment(tmp_path), contexts.AgentContext()))


def test_no_run_no_figures(tmp_path: Path) -> None:
    context = contexts.AgentContext()
    agent(tmp_path, None).populate_context_post_run(context)
    assert context.is_empty()
    assert agent(tmp_path, None).convert_trajectory(tmp_path) is None
