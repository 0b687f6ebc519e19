"""Agents with scripted models in a home and a project of their own."""

import os
from pathlib import Path
from typing import Any

from tejat.agent import Agent
from tejat.core.agent.events import AgentEvent
from tejat.core.tools.call_events import CallFinished
from tejat.sync_agent import SyncAgent

SCRIPT = """
[[answer]]
say = "Good morning."

[[answer]]
say = "Good night."
"""


def calling(name: str, arguments: str = "{}", *, expect: str = "", times: int = 1) -> str:
    """A script that calls a tool and then says that it is done, again and again."""
    return (
        times
        * f"""
[[answer]]
[[answer.call]]
name = "{name}"
args = {arguments}
{expect}

[[answer]]
say = "Done."
"""
    )


class AgentEnv:
    """A home and a project for agents to work in."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.environment = {"HOME": str(self.directory("home")), "PATH": os.environ["PATH"]}
        self.project = self.directory("project")

    def directory(self, name: str) -> Path:
        (self.base / name).mkdir()
        return self.base / name

    def agent(self, script: str, **more: Any) -> Agent:
        return Agent(**self.settings(script, **more))

    def sync_agent(self, script: str, **more: Any) -> SyncAgent:
        return SyncAgent(**self.settings(script, **more))

    def settings(self, script: str, **more: Any) -> Any:
        file = self.base / f"script-{len(list(self.base.iterdir()))}.toml"
        file.write_text(script, encoding="utf-8")
        told = {"directories": self.project, "environment": self.environment, "sandbox": "off"}
        return {"model": f"scripted:{file}", **told, **more}


async def events_of(agent: Agent, prompt: str = "hello") -> list[AgentEvent]:
    return [event async for event in agent.run(prompt)]


def finished(events: list[AgentEvent]) -> list[CallFinished]:
    return [event for event in events if isinstance(event, CallFinished)]
