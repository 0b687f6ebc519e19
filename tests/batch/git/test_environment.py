"""Environments of git: what is passed on, and which settings win."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from support.packages import write_tree
from tejat.batch.git.environment import (
    closed_environment,
    committing_environment,
    fetching_environment,
    reading_environment,
)


def setting(environment: Mapping[str, str], key: str) -> str:
    done = subprocess.run(["git", "config", key], env=environment, cwd="/", capture_output=True, text=True, check=False)
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def _settings_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {".gitconfig": "[user]\n\tname = Ada\n[core]\n\tfsmonitor = true\n\thooksPath = /hooks\n"})
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.email")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "ada@example.org")
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_TRACE", "GIT_EXTERNAL_DIFF", "GIT_AUTHOR_DATE"):
        monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -i key")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Bob")


def test_closed() -> None:
    environment = closed_environment({"GIT_DIR": "/here"}, [("x.y", "z")])
    assert {"HOME", "GIT_INDEX_FILE", "GIT_TRACE", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND"}.isdisjoint(environment)
    assert environment["GIT_DIR"] == "/here"
    assert [setting(environment, key) for key in ("user.name", "user.email", "x.y")] == ["", "", "z"]


@pytest.mark.parametrize(
    "environment",
    [reading_environment, lambda: fetching_environment({}, is_local=False), lambda: committing_environment({})],
)
def test_of_the_user(environment: Callable[[], dict[str, str]]) -> None:
    found = environment()
    assert {"GIT_DIR", "GIT_INDEX_FILE", "GIT_TRACE", "GIT_EXTERNAL_DIFF", "GIT_AUTHOR_DATE"}.isdisjoint(found)
    keys = ("user.name", "user.email", "core.fsmonitor", "core.hooksPath", "protocol.ext.allow")
    assert [setting(found, key) for key in keys] == ["Ada", "ada@example.org", "false", os.devnull, "never"]
    assert found["GIT_SSH_COMMAND"] == "ssh -i key"
    assert found["GIT_TERMINAL_PROMPT"] == "0"


def test_identity() -> None:
    assert committing_environment({})["GIT_AUTHOR_NAME"] == "Bob"
    assert "GIT_AUTHOR_NAME" not in reading_environment()
    assert setting(committing_environment({}), "user.useConfigOnly") == "true"


@pytest.mark.parametrize(
    ("allowed", "expected"), [("https", "https"), ("https:ext:ssh", "https:ssh"), ("ext:fd", "none"), ("", None)]
)
def test_protocols(monkeypatch: pytest.MonkeyPatch, allowed: str, expected: str | None) -> None:
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", allowed)
    if not allowed:
        monkeypatch.delenv("GIT_ALLOW_PROTOCOL")
    assert fetching_environment({}, is_local=False).get("GIT_ALLOW_PROTOCOL") == expected
    assert fetching_environment({}, is_local=True)["GIT_ALLOW_PROTOCOL"] == "file"
    assert reading_environment()["GIT_ALLOW_PROTOCOL"] == "none"


def test_a_count_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "many")
    assert setting(reading_environment(), "core.fsmonitor") == "false"
