"""Hooks for tests: real commands, run by a supervisor."""

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from tejat.config.hooks import CLAUDE_EVENT_NAMES, HookConfig
from tejat.config.paths import SourceTier
from tejat.core.agent.hooks import HookEvent
from tejat.core.frozen import replace
from tejat.engine.hooks.runner import PROJECT_VARIABLES, HookContext
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

_Value = TypeVar("_Value")

TIMEOUT_SECONDS = 60.0


def make_hook(command: str, event: str = "BeforeTool", **fields: Any) -> HookConfig:
    """A hook of the user, with the event name as written in settings."""
    known = CLAUDE_EVENT_NAMES.get(event) or HookEvent(event)
    made = HookConfig(
        known, event, fields.pop("name", "guard"), command, "", SourceTier.USER, "settings.json:1", TIMEOUT_SECONDS
    )
    return replace(made, **fields)


def print_command(text: str, *, code: int = 0, stderr: str = "") -> str:
    """A command line that prints this and exits with `code`."""
    aside = f"cat >&2 <<'END'\n{stderr}\nEND\n" if stderr else ""
    return f"cat > /dev/null\n{aside}cat <<'END'\n{text}\nEND\nexit {code}"


def hook_environment(directory: Path, supervisor: ProcessSupervisor) -> HookContext:
    environment = {"PATH": os.environ["PATH"], **dict.fromkeys(PROJECT_VARIABLES, str(directory))}
    bash, here = ("/bin/bash", "-c", "--"), str(directory)
    return HookContext(supervisor, bash, here, here, environment, "a-session", "/the/journal")


def run(work: "Coroutine[Any, Any, _Value]") -> _Value:
    return asyncio.run(asyncio.wait_for(work, TIMEOUT_SECONDS))
