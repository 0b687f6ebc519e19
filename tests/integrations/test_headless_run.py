"""Command lines for the containers of benchmarks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.integrations.headless_run import (
    install_script,
    is_known_provider,
    logged_run,
    run_command,
    settings_script,
    skills_script,
    split_model_name,
    to_model_name,
    with_path,
)
from tejat.integrations.run_events import read_log

SCRIPT = """
[[answer]]
say = "I write it."
[[answer.call]]
name = "write_file"
args = { file_path = "hello.txt", content = "Hello" }
[[answer]]
say = "Done."
"""


def in_shell(line: str, home: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **variables}
    return subprocess.run(
        ["bash", "-c", line], cwd=home, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("gemini", "gemini-2.5-pro", "gemini:gemini-2.5-pro"),
        ("google", "gemini-2.5-pro", "gemini:gemini-2.5-pro"),
        ("vertex_ai", "gemini-2.5-pro", "vertex:gemini-2.5-pro"),
        ("anthropic", "claude-opus-4-5", "anthropic:claude-opus-4-5"),
        ("openai_responses", "gpt-5", "openai:gpt-5"),
        ("amazon-bedrock", "claude", "bedrock:claude"),
        ("openrouter", "qwen/qwen3-coder", "openai:qwen/qwen3-coder"),
        (None, "scripted:a.toml", "scripted:a.toml"),
    ],
)
def test_model_names(provider: str | None, model: str, expected: str) -> None:
    assert to_model_name(provider, model) == expected


def test_names_that_a_harness_cannot_split() -> None:
    assert split_model_name("gemini:gemini-2.5-pro") == ("gemini", "gemini-2.5-pro")
    assert split_model_name("vertex:gemini-2.5-pro") == ("vertex_ai", "gemini-2.5-pro")
    assert split_model_name("google/gemini-2.5-pro") == ("gemini", "gemini-2.5-pro")
    assert split_model_name("ollama:qwen3:8b") == ("ollama", "qwen3:8b")
    assert split_model_name("scripted:a.toml") is None
    assert split_model_name("anthropic/claude-opus-4-5") is None
    assert (is_known_provider("anthropic"), is_known_provider("openrouter")) == (True, False)


def test_a_command() -> None:
    assert run_command("do it") == [
        *("tejat", "--output-format", "stream-json", "--approval-mode", "yolo", "--sandbox", "off"),
        "--prompt=do it",
    ]
    command = run_command("x", model="openai:y", resumes=True, excluded_tools=("a", "b"), extra_arguments=["--debug"])
    assert command[7:] == [
        *("--model", "openai:y", "--resume", "latest", "--exclude-tools", "a,b", "--debug", "--prompt=x")
    ]


@pytest.mark.parametrize("prompt", ["-p 'quoted' $HOME `id`", "--help", 'two\nlines \\ "and more"'])
def test_a_run_in_a_shell(tmp_path: Path, prompt: str) -> None:
    """The program takes the flags, any prompt arrives unchanged, and only the last event is printed."""
    (tmp_path / "script.toml").write_text(SCRIPT)
    command = run_command(prompt, model=f"scripted:{tmp_path / 'script.toml'}", program=sys.executable)
    command[1:1] = ["-m", "tejat"]
    log = tmp_path / "a b" / "events.jsonl"
    log.parent.mkdir()
    done = in_shell(logged_run(command, events=str(log), errors=str(log.with_suffix(".txt"))), tmp_path)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1), log.with_suffix(".txt").read_text()
    assert json.loads(done.stdout)["type"] == "result"
    assert (tmp_path / "hello.txt").read_text() == "Hello"
    events = read_log(log.read_text().splitlines()).events
    assert [event["content"] for event in events if event.get("role") == "user"] == [prompt]


def test_a_failed_run_keeps_its_exit_code(tmp_path: Path) -> None:
    command = run_command("x", model="scripted:missing.toml", program=sys.executable)
    command[1:1] = ["-m", "tejat"]
    done = in_shell(logged_run(command, events="events.jsonl", errors="errors.txt"), tmp_path)
    assert done.returncode == 42
    assert "could not read the script" in done.stderr
    assert "could not read the script" in read_log(done.stdout.splitlines()).error


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    command = run_command("x", program=str(tmp_path / "missing"))
    done = in_shell(logged_run(command, events="events.jsonl", errors="errors.txt"), tmp_path)
    assert (done.returncode, done.stdout) == (127, "")
    assert "missing" in (tmp_path / "errors.txt").read_text() + done.stderr


def test_installation(tmp_path: Path) -> None:
    """The requirement is one word, and the program is found afterwards."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "uv").write_text(
        '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/arguments"\nmkdir -p "$HOME/.local/bin"\n'
        'printf "#!/bin/sh\\necho tejat 1.2.3\\n" > "$HOME/.local/bin/tejat"\nchmod +x "$HOME/.local/bin/tejat"\n'
    )
    (programs / "uv").chmod(0o755)
    done = in_shell(install_script("tejat @ https://x/$y.whl"), tmp_path, PATH=f"{programs}:/usr/bin:/bin")
    assert (done.returncode, done.stdout) == (0, "tejat 1.2.3\n"), done.stderr
    arguments = (tmp_path / "arguments").read_text().splitlines()
    assert arguments == ["tool", "install", "--force", "--python", ">=3.11", "tejat @ https://x/$y.whl"]
    assert in_shell(with_path("tejat --version"), tmp_path, PATH="/usr/bin:/bin").stdout == "tejat 1.2.3\n"


def test_settings_and_skills(tmp_path: Path) -> None:
    servers = {"it's": {"command": "server", "args": ["$HOME"]}}
    assert in_shell(settings_script(servers), tmp_path).returncode == 0
    assert json.loads((tmp_path / ".gemini/settings.json").read_text()) == {"mcpServers": servers}
    (tmp_path / "my skills/one").mkdir(parents=True)
    (tmp_path / "my skills/one/SKILL.md").write_text("x")
    assert in_shell(skills_script(str(tmp_path / "my skills")), tmp_path).returncode == 0
    assert (tmp_path / ".gemini/skills/one/SKILL.md").read_text() == "x"
