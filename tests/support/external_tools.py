"""Agents with MCP servers and discovered tools, a model server on the wire, and fake approvers."""

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
from tejat.app.session.lifespan import open_agent
from tejat.app.tools.listed_tools import builtin_registry
from tejat.core.agent.events import AgentEvent, Noticed, RunEnded, Severity
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import Approver
from tejat.core.frozen import replace
from tejat.engine.sessions.session import Session

MCP = Path(__file__).parents[1] / "mcp"
HOSTILE = [sys.executable, "-SE", str(MCP / "hostile_server.py")]
BUILTIN_TOOLS = frozenset(builtin_registry().names())
LONG_TIMEOUT_MS = 60_000
"""A server timeout for tests that are not about timeouts."""
SECONDS = 60


def hostile_server(*faults: str, **fields: Any) -> dict[str, Any]:
    """Settings entry of the hostile server with these faults. It needs no packages (-S, -E)."""
    return {"command": HOSTILE[0], "args": [*HOSTILE[1:], *faults], "startTimeout": LONG_TIMEOUT_MS, **fields}


def official_server(name: str = "official_server.py", **fields: Any) -> dict[str, Any]:
    """Settings entry of a server of the official package."""
    return {"command": sys.executable, "args": [str(MCP / name)], "startTimeout": LONG_TIMEOUT_MS, **fields}


def gated_server(gate: Path, *faults: str, **fields: Any) -> dict[str, Any]:
    """The hostile server, which starts when the file `gate` exists."""
    program = 'until [ -e "$0" ]; do sleep 0.02; done; exec "$@"'
    arguments = ["-c", program, str(gate), *HOSTILE, *faults]
    return {"command": "/bin/sh", "args": arguments, "startTimeout": LONG_TIMEOUT_MS, **fields}


def rude_server(method: str, answered: Path, **fields: Any) -> dict[str, Any]:
    """A server that sends a request at once and records the answer."""
    arguments = ["-SE", str(MCP / "rude_server.py"), method, str(answered)]
    return {"command": sys.executable, "args": arguments, "startTimeout": LONG_TIMEOUT_MS, **fields}


def tools_fault(*tools: str | dict[str, Any]) -> str:
    """The fault of offering just these tools."""
    listed = [{"name": tool} if isinstance(tool, str) else tool for tool in tools]
    return f"result=tools/list:{json.dumps({'tools': listed})}"


def initialize_fault(instructions: str, **capabilities: Any) -> str:
    """The fault of sending these instructions."""
    told = {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "hostile", "version": "1"},
        "capabilities": capabilities or {"tools": {}},
        "instructions": instructions,
    }
    return f"result=initialize:{json.dumps(told)}"


@dataclass
class AgentTranscript:
    """The requests to the service, the events, and the results of each prompt."""

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
        """The output or error of every call."""
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
    """A home, a project, and a model service."""

    def write_policy(self, text: str) -> None:
        """Write rules of the user."""
        policies = self.home / ".gemini" / "policies"
        policies.mkdir(parents=True, exist_ok=True)
        (policies / "mine.toml").write_text(text)

    def run_agent(
        self, *replies: Reply | str, prompts: Sequence[str] = ("go",), approver: Approver | None = None, **more: Any
    ) -> AgentTranscript:
        """Answer the prompts. A string reply is a call of that tool without arguments."""

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
        """An agent in the project, which is trusted by default. After the replies comes `Done.`"""
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
    """An answer that calls these tools with the same arguments."""
    return text_reply(*(function_call(name, args) for name in names))
