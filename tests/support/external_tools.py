"""Agents with tools of others: real servers and commands, a model's service on the wire, and people who answer."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.model_servers.gemini import ModelServer, Received, Reply, function_call, text_reply
from support.program import ProgramEnv
from tejat.app.session.manager import open_agent
from tejat.app.tools.toolset import builtin_registry
from tejat.core.agent.events import AgentEvent, Noticed, RunEnded, Severity
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import Approver
from tejat.core.frozen import replace
from tejat.engine.sessions.session import Session

MCP = Path(__file__).parents[1] / "mcp"
HOSTILE = [sys.executable, "-SE", str(MCP / "hostile_server.py")]
BUILTIN_TOOLS = frozenset(builtin_registry().names())
LONG_TIMEOUT_MS = 60_000
"""Milliseconds that a server may take where nothing is to be said about that."""
SECONDS = 60


def hostile_server(*faults: str, **fields: Any) -> dict[str, Any]:
    """The entry of a server in the settings: the hostile one with these faults. -S and -E: it needs nothing."""
    return {"command": HOSTILE[0], "args": [*HOSTILE[1:], *faults], "startTimeout": LONG_TIMEOUT_MS, **fields}


def official_server(name: str = "official_server.py", **fields: Any) -> dict[str, Any]:
    """One of the official package."""
    return {"command": sys.executable, "args": [str(MCP / name)], "startTimeout": LONG_TIMEOUT_MS, **fields}


def gated_server(gate: Path, *faults: str, **fields: Any) -> dict[str, Any]:
    """The hostile one, which is not there before the gate is."""
    program = 'until [ -e "$0" ]; do sleep 0.02; done; exec "$@"'
    arguments = ["-c", program, str(gate), *HOSTILE, *faults]
    return {"command": "/bin/sh", "args": arguments, "startTimeout": LONG_TIMEOUT_MS, **fields}


def rude_server(method: str, answered: Path, **fields: Any) -> dict[str, Any]:
    """One that asks this as soon as it is there, and writes down what it was answered."""
    arguments = ["-SE", str(MCP / "rude_server.py"), method, str(answered)]
    return {"command": sys.executable, "args": arguments, "startTimeout": LONG_TIMEOUT_MS, **fields}


def tools_fault(*tools: str | dict[str, Any]) -> str:
    """The fault of having just these tools."""
    listed = [{"name": tool} if isinstance(tool, str) else tool for tool in tools]
    return f"result=tools/list:{json.dumps({'tools': listed})}"


def initialize_fault(instructions: str, **capabilities: Any) -> str:
    """The fault of introducing itself with these words."""
    told = {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "hostile", "version": "1"},
        "capabilities": capabilities or {"tools": {}},
        "instructions": instructions,
    }
    return f"result=initialize:{json.dumps(told)}"


@dataclass
class AgentTranscript:
    """What was said on all sides: the requests that the service got, the events, how each prompt ended."""

    requests: list[Received]
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])
    results: list[RunEnded] = field(default_factory=list[RunEnded])

    @property
    def bodies(self) -> list[Any]:
        return [received.body for received in self.requests]

    def declared_names(self, request: int = 0) -> list[str]:
        """The names of the tools in a request, without the built-in ones."""
        return [tool["name"] for tool in self._declarations(request) if tool["name"] not in BUILTIN_TOOLS]

    def declaration(self, name: str, request: int = 0) -> Any:
        (found,) = [tool for tool in self._declarations(request) if tool["name"] == name]
        return found

    def _declarations(self, request: int) -> list[Any]:
        return [tool for group in self.bodies[request]["tools"] for tool in group["functionDeclarations"]]

    def system_prompt(self, request: int = 0) -> str:
        return self.bodies[request]["systemInstruction"]["parts"][0]["text"]

    def last_message_parts(self, request: int = 0) -> list[Any]:
        """The parts of the last message of a request."""
        return self.bodies[request]["contents"][-1]["parts"]

    @property
    def responses(self) -> list[str]:
        """What every call came to, in words: what it gave, else why it failed."""
        answered = [
            part["functionResponse"]["response"]
            for content in self.bodies[-1]["contents"]
            for part in content["parts"]
            if "functionResponse" in part
        ]
        return [response.get("output", response.get("error")) for response in answered]

    @property
    def warnings(self) -> list[str]:
        return [event.message for event in self.notices(Severity.WARNING)]

    @property
    def notes(self) -> list[str]:
        return [event.message for event in self.notices(Severity.NOTE)]

    def notices(self, severity: Severity) -> list[Noticed]:
        return [event for event in self.events if isinstance(event, Noticed) and event.severity is severity]


class ExternalToolsEnv(ProgramEnv):
    """A home and a project, and a model's service that an agent there asks."""

    def write_policy(self, text: str) -> None:
        """Rules of the person."""
        policies = self.home / ".gemini" / "policies"
        policies.mkdir(parents=True, exist_ok=True)
        (policies / "mine.toml").write_text(text)

    def run_agent(
        self, *replies: Reply | str, prompts: Sequence[str] = ("go",), approver: Approver | None = None, **more: Any
    ) -> AgentTranscript:
        """Answer the prompts. A reply that is a text is the name of a tool to call without arguments."""

        async def main() -> AgentTranscript:
            async with self.open_session(*replies, approver=approver, **more) as (session, transcript):
                for prompt in prompts:
                    transcript.results.append(await session.prompt(prompt, transcript.events.append))
            return transcript

        return asyncio.run(asyncio.wait_for(main(), SECONDS))

    @asynccontextmanager
    async def open_session(
        self, *replies: Reply | str, approver: Approver | None = None, **more: Any
    ) -> AsyncGenerator[tuple[Session, AgentTranscript]]:
        """An agent in the project, which is trusted if nothing else is said. Behind the replies comes `Done.`"""
        given = [call_reply(reply) if isinstance(reply, str) else reply for reply in replies]
        with ModelServer([*given, *(text_reply("Done.") for _ in range(5))]) as service:
            self.environment |= {"GEMINI_API_KEY": "a-key-of-a-test", "GOOGLE_GEMINI_BASE_URL": service.address}
            usual = AgentOptions(
                directories=(str(self.project),),
                environment=self.environment,
                trusts_folder=True,
                sandbox="off",
                keeps_session=False,
            )
            async with open_agent(replace(usual, **more), approver) as session:
                yield session, AgentTranscript(service.requests)


def call_reply(*names: str, **args: Any) -> Reply:
    """An answer that calls these tools, all with these arguments."""
    return text_reply(*(function_call(name, args) for name in names))
