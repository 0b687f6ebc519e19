"""Hooks for tests: real scripts in a directory, and a keeper that runs them."""

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from tejat.config.hooks import OTHER_SPELLINGS, Hook
from tejat.config.places import SourceTier
from tejat.core.hooks import HookEvent
from tejat.core.value import replace
from tejat.engine.hooks.running import PROJECT_VARIABLES, Surroundings
from tejat.workspace.processes.keeping import Keeper

_Value = TypeVar("_Value")

LONG = 60.0


def hook(command: str, event: str = "BeforeTool", **fields: Any) -> Hook:
    """A hook of the person, under the name of its event as it would be written."""
    known = OTHER_SPELLINGS.get(event) or HookEvent(event)
    made = Hook(known, event, fields.pop("name", "guard"), command, "", SourceTier.USER, "settings.json:1", LONG)
    return replace(made, **fields)


def printing(text: str, *, code: int = 0, stderr: str = "") -> str:
    """A command line that prints this and ends so."""
    aside = f"cat >&2 <<'END'\n{stderr}\nEND\n" if stderr else ""
    return f"cat > /dev/null\n{aside}cat <<'END'\n{text}\nEND\nexit {code}"


def around(directory: Path, keeper: Keeper) -> Surroundings:
    environment = {"PATH": os.environ["PATH"], **dict.fromkeys(PROJECT_VARIABLES, str(directory))}
    bash, here = ("/bin/bash", "-c", "--"), str(directory)
    return Surroundings(keeper, bash, here, here, environment, "a-session", "/the/journal")


def run(work: "Coroutine[Any, Any, _Value]") -> _Value:
    return asyncio.run(asyncio.wait_for(work, LONG))
