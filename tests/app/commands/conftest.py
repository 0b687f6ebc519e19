"""The environment of slash commands."""

from pathlib import Path

import pytest

from support.command_runner import CommandEnv


@pytest.fixture
def env(tmp_path: Path) -> CommandEnv:
    return CommandEnv(tmp_path)
