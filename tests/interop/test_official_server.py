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

from foreign_checks import PATIENT, SECONDS, Person, Stage, Talk, calling
from mcp_links import eventually
from model_server import say
from notes import YES
from tejat.core.agent_events import AgentEvent, EndReason, RunEnded
from tejat.core.confirm import Answer, ElicitationConfirmation, Outcome, Question
from tejat.core.events import OutputUpdated
from tejat.engine.session import Session
from tejat.mcp.untrusted import untrusted

SERVER = Path(__file__).parent / "full_server.py"
TRANSPORTS = ("stdio", "http", "sse")
REFUSED = "The server refused: "
SAMPLED = {"role": "user", "parts": [{"text": "What is six times seven?"}]}
TOLD = "<untrusted_context>\n{}\n</untrusted_context>"


@pytest.fixture(params=TRANSPORTS)
def entry(request: pytest.FixtureRequest) -> Generator[dict[str, Any]]:
    """The server in the settings."""
    if request.param == "stdio":
        yield {"command": sys.executable, "args": [str(SERVER)], "startTimeout": PATIENT}
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


def helpful(question: Question) -> Answer:
    """Somebody who agrees to everything, and says where to go."""
    asked = question.confirmation
    if isinstance(asked, ElicitationConfirmation):
        return Answer(Outcome.PROCEED_ONCE, answers={"city": "Rome"} if asked.fields is not None else {})
    return YES


def test_everything_it_offers_and_asks(tmp_path: Path, entry: dict[str, Any]) -> None:
    stage, person = Stage(tmp_path), Person(helpful)
    stage.person_sets(mcpServers={"full": {**entry, "sampling": True}})
    talk = stage.talk(
        calling("full__media"),
        calling("full__plan"),
        calling("full__visit"),
        calling("full__think"),
        say("Forty-two."),
        calling("full__roots"),
        say("That is all."),
        prompts=("go", "/review --code=main.py --style=strict", "What is in @full:memo://one ?"),
        approver=person,
    )
    assert [ended.reason for ended in talk.ended] == [EndReason.FINISHED] * 3
    assert talk.declared() == [
        *("list_mcp_resources", "read_mcp_resource", "full__media", "full__plan", "full__visit"),
        *("full__think", "full__roots", "full__slow", "full__grow"),
    ]
    assert talk.responses == [
        "Tool execution succeeded.",
        TOLD.format("accept: city='Rome' days=3"),
        TOLD.format("accept"),
        TOLD.format("The model says: Forty-two."),
        TOLD.format("project"),
    ]
    assert talk.system().endswith(
        "---[start of server instructions]---\nBe gentle.\n---[end of server instructions]---"
    )
    assert [part for part in talk.prompt(1) if "inlineData" in part] == [
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgoAAAAAAAAAAA=="}},
        {"inlineData": {"mimeType": "audio/wav", "data": "UklGRi4uLi5XQVZFZm10IA=="}},
    ]
    (sampled,) = [body for body in talk.bodies if body["contents"] == [SAMPLED]]
    assert sampled["generationConfig"]["maxOutputTokens"] == 50
    assert "tools" not in sampled
    assert talk.prompt(-2) == [{"text": "Review main.py, be strict."}]
    assert {"text": untrusted("Remember the milk.")} in talk.prompt(-1)
    assert kinds(person) == ["mcp", "mcp", "elicitation", "mcp", "elicitation", "mcp", "mcp"]
    assert asked(person) == [("Where to?", None), ("Have a look.", "https://page.example/look")]


def kinds(person: Person) -> list[str]:
    return [question.confirmation.type for question in person.questions]


def asked(person: Person) -> list[tuple[str, str | None]]:
    """What the server asked, and where it wanted the person to go."""
    shown = [question.confirmation for question in person.questions]
    return [(each.message, each.url) for each in shown if isinstance(each, ElicitationConfirmation)]


def test_what_it_may_not_ask_what_changes_and_what_is_called_off(tmp_path: Path, entry: dict[str, Any]) -> None:
    """Nobody is there, and the model is not for servers. A tool that comes later tells that the server was told."""
    stage = Stage(tmp_path)
    stage.person_sets(mcpServers={"full": {**entry, "trust": True}})
    replies = (
        *(calling("full__slow", seconds=600), calling("full__plan"), calling("full__think")),
        *(calling("full__grow"), say("Grown."), calling("full__called_off")),
    )

    async def main() -> Talk:
        async with stage.session(*replies) as (session, talk):
            running = asyncio.create_task(session.run("slowly", lambda event: stop_at_progress(event, talk, running)))
            await asyncio.wait([running])
            assert running.cancelled()
            await session.run("grow", talk.events.append)
            await eventually(lambda: "full__called_off" in declared_now(session))
            await session.run("look", talk.events.append)
        return talk

    talk = asyncio.run(asyncio.wait_for(main(), SECONDS))
    assert [event.output for event in talk.events if isinstance(event, OutputUpdated)] == ["[1/2] half of it"]
    assert talk.declared(-1)[-2:] == ["full__grow", "full__called_off"]
    _, plan, think, *others = talk.responses
    assert plan.startswith(f"MCP tool 'plan' of server 'full' failed: {REFUSED}Nobody can be asked here.")
    assert think.startswith(f"MCP tool 'think' of server 'full' failed: {REFUSED}The model may not be asked here.")
    assert others == [TOLD.format("grown"), TOLD.format("slow")]


def stop_at_progress(event: AgentEvent, talk: Talk, running: "asyncio.Task[RunEnded]") -> None:
    talk.events.append(event)
    if isinstance(event, OutputUpdated):
        running.cancel()


def declared_now(session: Session) -> list[str]:
    """The tools that the next request would tell of."""
    return [declaration.name for declaration in session.conversation.premises.declarations()]
