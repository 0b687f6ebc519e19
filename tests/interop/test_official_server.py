"""A server of the official package over each transport, through whole runs of the agent."""

import asyncio
import json
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.approver import YES, FakeApprover
from support.external_tools import LONG_TIMEOUT_MS, SECONDS, AgentTranscript, ExternalToolsEnv, call_reply
from support.model_servers.gemini import text_reply
from support.wait import wait_until_async
from tejat.app.session import session_parts
from tejat.core.agent.events import AgentEvent, EndReason, RunEnded
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, ElicitationConfirmation, Outcome
from tejat.core.tools.call_events import OutputUpdated
from tejat.engine.sessions.session import Session
from tejat.mcp.content.untrusted import wrap_untrusted

SERVER = Path(__file__).parent / "full_server.py"
TRANSPORTS = ("stdio", "http", "sse")
REFUSED = "The server returned an error: "
SAMPLED = {"role": "user", "parts": [{"text": "What is six times seven?"}]}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
"""The picture of the server."""
TOLD = "<untrusted_context>\n{}\n</untrusted_context>"


@pytest.fixture(params=TRANSPORTS)
def entry(request: pytest.FixtureRequest) -> Generator[dict[str, Any]]:
    """The server in the settings."""
    if request.param == "stdio":
        yield {"command": sys.executable, "args": [str(SERVER)], "startTimeout": LONG_TIMEOUT_MS}
        return
    with served() as (http, sse):
        yield {"httpUrl": http} if request.param == "http" else {"url": sse, "type": "sse"}


@contextmanager
def served() -> Generator[tuple[str, str]]:
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(SERVER), "http"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        assert ready, "the server does not start"
        http, sse = json.loads(process.stdout.readline())
        yield http, sse
    finally:
        process.kill()
        process.communicate()


def helpful(question: ApprovalRequest) -> ApprovalReply:
    """Somebody who agrees to everything, and says where to go."""
    asked = question.confirmation
    if isinstance(asked, ElicitationConfirmation):
        return ApprovalReply(Outcome.PROCEED_ONCE, answers={"city": "Rome"} if asked.fields is not None else {})
    return YES


def test_everything_it_offers_and_asks(tmp_path: Path, entry: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    # The first prompt waits for the server, however long it takes to start on a busy machine.
    monkeypatch.setattr(session_parts, "_STARTUP_WAIT_SECONDS", SECONDS)
    env, user = ExternalToolsEnv(tmp_path), FakeApprover(helpful)
    env.write_user_settings(mcpServers={"full": {**entry, "sampling": True}})
    transcript = env.run_agent(
        call_reply("full__media"),
        call_reply("full__plan"),
        call_reply("full__visit"),
        call_reply("full__think"),
        text_reply("Forty-two."),
        call_reply("full__roots"),
        text_reply("That is all."),
        prompts=("go", "/review --code=main.py --style=strict", "What is in @full:memo://one ?"),
        approver=user,
    )
    assert [ended.reason for ended in transcript.results] == [EndReason.FINISHED] * 3
    assert transcript.declared_names() == [
        *("list_mcp_resources", "read_mcp_resource", "full__media", "full__plan", "full__visit"),
        *("full__think", "full__roots", "full__slow", "full__grow"),
    ]
    assert transcript.responses == [
        "Tool execution succeeded.",
        TOLD.format("accept: city='Rome' days=3"),
        TOLD.format("accept"),
        TOLD.format("The model says: Forty-two."),
        TOLD.format("project"),
    ]
    assert transcript.system_prompt().endswith(
        "---[start of server instructions]---\nBe gentle.\n---[end of server instructions]---"
    )
    assert [part for part in transcript.last_message_parts(1) if "inlineData" in part] == [
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"inlineData": {"mimeType": "audio/wav", "data": "UklGRi4uLi5XQVZFZm10IA=="}},
    ]
    (sampled,) = [body for body in transcript.bodies if body["contents"] == [SAMPLED]]
    assert sampled["generationConfig"]["maxOutputTokens"] == 50
    assert "tools" not in sampled
    assert transcript.last_message_parts(-2) == [{"text": "Review main.py, be strict."}]
    assert {"text": wrap_untrusted("Remember the milk.")} in transcript.last_message_parts(-1)
    assert kinds(user) == ["mcp", "mcp", "elicitation", "mcp", "elicitation", "mcp", "mcp"]
    assert asked(user) == [("Where to?", None), ("Have a look.", "https://page.example/look")]


def kinds(user: FakeApprover) -> list[str]:
    return [question.confirmation.type for question in user.questions]


def asked(user: FakeApprover) -> list[tuple[str, str | None]]:
    """What the server asked, and where it wanted the person to go."""
    shown = [question.confirmation for question in user.questions]
    return [(each.message, each.url) for each in shown if isinstance(each, ElicitationConfirmation)]


def test_what_it_may_not_ask_what_changes_and_what_is_called_off(tmp_path: Path, entry: dict[str, Any]) -> None:
    """Nobody is there, and the model is not for servers. A tool that comes later tells that the server was told."""
    env = ExternalToolsEnv(tmp_path)
    env.write_user_settings(mcpServers={"full": {**entry, "trust": True}})
    replies = (
        *(call_reply("full__slow", seconds=600), call_reply("full__plan"), call_reply("full__think")),
        *(call_reply("full__grow"), text_reply("Grown."), call_reply("full__called_off")),
    )

    async def main() -> AgentTranscript:
        async with env.open_session(*replies) as (session, transcript):
            running = asyncio.create_task(
                session.prompt("slowly", lambda event: stop_at_progress(event, transcript, running))
            )
            await asyncio.wait([running])
            assert running.cancelled()
            await session.prompt("grow", transcript.events.append)
            await wait_until_async(lambda: "full__called_off" in declared_now(session))
            await session.prompt("look", transcript.events.append)
        return transcript

    transcript = asyncio.run(asyncio.wait_for(main(), SECONDS))
    assert [event.output for event in transcript.events if isinstance(event, OutputUpdated)] == ["[1/2] half of it"]
    assert transcript.declared_names(-1)[-2:] == ["full__grow", "full__called_off"]
    _, plan, think, *others = transcript.responses
    assert plan.startswith(f"MCP tool 'plan' of server 'full' failed: {REFUSED}Nobody can be asked here.")
    assert think.startswith(f"MCP tool 'think' of server 'full' failed: {REFUSED}The model may not be asked here.")
    assert others == [TOLD.format("grown"), TOLD.format("slow")]


def stop_at_progress(event: AgentEvent, transcript: AgentTranscript, running: "asyncio.Task[RunEnded]") -> None:
    transcript.events.append(event)
    if isinstance(event, OutputUpdated):
        running.cancel()


def declared_now(session: Session) -> list[str]:
    """The tools that the next request would tell of."""
    return [declaration.name for declaration in session.conversation.template.declarations()]
