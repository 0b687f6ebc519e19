"""Which models a session asks: fallback chains, side requests, presets, recordings."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from support.approver import FakeApprover
from support.model_servers.gemini import LoopbackServer, Received, Reply, error_reply, text_reply
from support.model_servers.responses import ResponsesServer, call_item, items_reply, reasoning_item
from support.model_servers.responses import text_reply as response_text
from support.program import ProgramEnv
from tejat.app.model_source import own_models, settings_of_service
from tejat.app.run_config import load_agent_config
from tejat.app.session.lifespan import open_session_manager
from tejat.core.agent.events import AgentEvent, EndReason, ModelChanged, Retrying, RunEnded, SessionStarted
from tejat.core.agent.options import AgentOptions
from tejat.core.agent.prices import Price
from tejat.core.approval.confirmation import ApprovalReply, ModelChangeConfirmation, Outcome
from tejat.core.frozen import replace
from tejat.core.messages.history import user_message
from tejat.core.model import FailureKind, ModelFailure, ModelOutput, ModelRequest, Usage

PRO, FLASH, LITE = "gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-3.5-flash-lite"
EXHAUSTED = error_reply(429, "You exceeded your quota, limit: 0")


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def options(machine: ProgramEnv, **more: Any) -> AgentOptions:
    known = AgentOptions(directories=(str(machine.project),), environment=machine.environment)
    return replace(known, **more)


def model_of(received: Received) -> str:
    return received.target.rpartition("/")[2].partition(":")[0]


def serve(machine: ProgramEnv, answer: Callable[[str], Reply]) -> LoopbackServer:
    """A Gemini service whose answers depend on the model."""
    server = LoopbackServer(lambda received: answer(model_of(received)))
    machine.environment |= {"GEMINI_API_KEY": "a-key-for-tests"}
    return server


def asked(server: LoopbackServer) -> list[str]:
    return [model_of(request) for request in server.requests]


class TestQuestions:
    @pytest.mark.parametrize(
        ("model", "outcomes", "models", "text"),
        [
            ("auto", [Outcome.PROCEED_ONCE], [PRO, FLASH, FLASH], "From gemini-3.8-flash."),
            (PRO, [Outcome.PROCEED_ONCE], [PRO, FLASH, FLASH], "From gemini-3.8-flash."),
            ("pro", [Outcome.TRY_AGAIN, Outcome.PROCEED_ONCE], [PRO, PRO, FLASH, FLASH], "From gemini-3.8-flash."),
            ("pro", [Outcome.STOP, Outcome.STOP], [PRO, PRO], ""),
        ],
    )
    def test_the_user_decides_when_the_quota_is_used_up(
        self, machine: ProgramEnv, model: str, outcomes: list[Outcome], models: list[str], text: str
    ) -> None:
        approver = FakeApprover([ApprovalReply(outcome) for outcome in outcomes])

        def answer(name: str) -> Reply:
            return EXHAUSTED if name == PRO else text_reply(f"From {name}.")

        async def main() -> list[str]:
            async with open_session_manager(options(machine, model=model), approver) as manager:
                return [(await manager.session.prompt("hi")).text for _ in range(2)]

        with serve(machine, answer) as server:
            machine.environment["GOOGLE_GEMINI_BASE_URL"] = server.address
            assert asyncio.run(main()) == [text, text]
            assert asked(server) == models
        assert all(isinstance(asked.confirmation, ModelChangeConfirmation) for asked in approver.questions)

    def test_the_user_is_told_of_a_change_without_a_question(self, machine: ProgramEnv) -> None:
        approver, changes = FakeApprover(), list[ModelChanged]()

        def answer(name: str) -> Reply:
            return error_reply(503, "busy", retry_after="0") if name == PRO else text_reply("Hi.")

        def keep_change(event: AgentEvent) -> None:
            if isinstance(event, ModelChanged):
                changes.append(event)

        async def main() -> None:
            async with open_session_manager(options(machine), approver) as manager:
                manager.events.subscribe(
                    lambda event: changes.append(event) if isinstance(event, ModelChanged) else None
                )
                await manager.session.prompt("hi")

        with serve(machine, answer) as server:
            machine.environment["GOOGLE_GEMINI_BASE_URL"] = server.address
            asyncio.run(main())
            assert asked(server) == [PRO, PRO, PRO, FLASH]
        assert [(change.before, change.after) for change in changes] == [(PRO, FLASH)]


@pytest.mark.parametrize(
    ("model", "purpose", "asked_model"),
    [
        ("auto", "edit_correction", LITE),
        ("auto", "web_fetch", LITE),
        ("auto", "compression", PRO),
        ("pro", "edit_correction", PRO),
        ("gemini-2.5-pro", "web_fetch", "gemini-2.5-pro"),
    ],
)
def test_who_answers_side_requests(machine: ProgramEnv, model: str, purpose: str, asked_model: str) -> None:
    async def main() -> None:
        async with open_session_manager(options(machine, model=model)) as manager:
            await manager.ask(ModelRequest([user_message("hi")], purpose=purpose))

    with serve(machine, lambda _: text_reply("Hi.")) as server:
        machine.environment["GOOGLE_GEMINI_BASE_URL"] = server.address
        asyncio.run(main())
        assert asked(server) == [asked_model]


def test_a_light_model_that_fails_is_not_asked_again(machine: ProgramEnv) -> None:
    async def main() -> None:
        async with open_session_manager(options(machine)) as manager:
            for _ in range(2):
                await manager.ask(ModelRequest([user_message("hi")], purpose="web_fetch"))

    with serve(machine, lambda name: error_reply(404, "none") if name == LITE else text_reply("Hi.")) as server:
        machine.environment["GOOGLE_GEMINI_BASE_URL"] = server.address
        asyncio.run(main())
        assert asked(server) == [LITE, PRO, PRO]


@pytest.mark.parametrize(
    ("settings", "project_model", "name", "counts"),
    [
        ({"name": "openai:mine"}, None, "openai:other", True),
        ({"name": "openai:mine"}, None, "gemini-2.5-pro", False),
        ({"name": "openai:mine"}, "gemini-2.5-pro", "gemini-2.5-pro", False),
        ({"name": "unheard-of"}, None, "gemini-2.5-pro", False),
        ({"name": "flash"}, None, "gemini-2.5-pro", True),
        ({"name": "precise"}, None, "gemini-2.5-pro", True),
        ({}, "openai:theirs", "gemini-2.5-pro", True),
    ],
)
def test_no_key_is_sent_to_the_address_of_another_service(
    machine: ProgramEnv, settings: dict[str, object], project_model: str | None, name: str, counts: bool
) -> None:
    presets = {"customAliases": {"precise": {"modelConfig": {"model": "gemini-2.5-pro"}}}}
    machine.write_user_settings(model={**settings, "baseUrl": "http://127.0.0.1:9"}, modelConfigs=presets)
    if project_model is not None:
        machine.write_project_settings(model={"name": project_model})
    config = load_agent_config(options(machine, trusts_folder=True))
    assert (settings_of_service(name, config).base_url is not None) is counts


@pytest.mark.parametrize("own_name", ["openai:mine", "precise"])
def test_a_project_does_not_decide_whose_address_it_is(machine: ProgramEnv, own_name: str) -> None:
    presets = {"customAliases": {"precise": {"modelConfig": {"model": "openai:mine"}}}}
    machine.write_user_settings(model={"name": own_name, "baseUrl": "http://127.0.0.1:9"}, modelConfigs=presets)
    theirs = {own_name: {"modelConfig": {"model": "gemini-2.5-pro"}}}
    machine.write_project_settings(modelConfigs={"customAliases": theirs})
    config = load_agent_config(options(machine, trusts_folder=True))
    assert settings_of_service("gemini-2.5-pro", config).base_url is None


def test_an_address_of_the_settings_is_asked_for_its_own_service_alone(machine: ProgramEnv) -> None:
    with serve(machine, lambda _: text_reply("Hi.")) as server:
        machine.write_user_settings(model={"name": "gemini-2.5-pro", "baseUrl": server.address})
        machine.environment |= {"ANTHROPIC_API_KEY": "another-key", "HTTPS_PROXY": "http://127.0.0.1:9"}
        assert machine.run("-p", "hi").stdout == "Hi.\n"
        asked_before = len(server.requests)
        machine.run("-m", "claude-sonnet-5", "-p", "hi", "--timeout", "1")
        assert len(server.requests) == asked_before


def test_presets_and_definitions_are_offered(machine: ProgramEnv) -> None:
    preset = {"modelConfig": {"model": FLASH}}
    definitions = {"shown": {"isVisible": True, "displayName": "Shown"}, "hidden": {"isVisible": False}}
    configs = {"customAliases": {"mine": preset, "web-search": preset}, "modelDefinitions": definitions}
    machine.write_user_settings(modelConfigs=configs)
    assert list(own_models(load_agent_config(options(machine), None))) == [("mine", "preset")]
    machine.write_user_settings(modelConfigs=configs, experimental={"dynamicModelConfiguration": True})
    assert list(own_models(load_agent_config(options(machine), None))) == [("mine", "preset"), ("shown", "Shown")]


def test_a_recorded_run_with_the_responses_api_can_be_replayed(machine: ProgramEnv) -> None:
    (machine.project / "a.txt").write_text("content\n")
    recording = str(machine.project.parent / "recording.jsonl")
    machine.write_user_settings(model={"api": "responses"})
    arguments = json.dumps({"file_path": str(machine.project / "a.txt")})
    replies = (items_reply(reasoning_item(1, "I look."), call_item("read_file", arguments)), response_text("Done."))

    async def run(wanted: AgentOptions) -> str:
        async with open_session_manager(wanted) as manager:
            return (await manager.session.prompt("Read a.txt.")).text

    with ResponsesServer(*replies) as server:
        machine.environment |= {"OPENAI_BASE_URL": server.base, "OPENAI_API_KEY": "a-key-for-tests"}
        assert asyncio.run(run(options(machine, model="openai:gpt-6", record=recording))) == "Done."
        assert [item["type"] for item in server.requests[1].body["input"]].count("reasoning") == 1
    assert asyncio.run(run(options(machine, replay=recording))) == "Done."


class Flaky:
    """Fails as often as it is told to, and then answers."""

    name, price = "mine", Price(1_000_000.0, 1_000_000.0, 0.0)

    def __init__(self, *failures: ModelFailure) -> None:
        self.failures = list(failures)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelOutput]:
        self.requests.append(request)
        if self.failures:
            raise self.failures.pop()
        yield "Here I am."
        yield Usage(prompt=2)


def busy() -> ModelFailure:
    return ModelFailure("Busy.", FailureKind.UNAVAILABLE, can_retry=True, retry_after=0.0)


class TestModelOfTheProgram:
    def run(self, machine: ProgramEnv, *prompts: str, **more: Any) -> tuple[list[RunEnded], list[AgentEvent]]:
        events: list[AgentEvent] = []

        async def main() -> list[RunEnded]:
            async with open_session_manager(options(machine, **more)) as manager:
                manager.events.subscribe(events.append)
                return [await manager.session.prompt(prompt) for prompt in prompts]

        return asyncio.run(main()), events

    def test_is_asked_and_named(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(model={"name": "gemini-2.5-pro"})
        model = Flaky()
        (ended,), events = self.run(machine, "hi", client=model)
        assert (ended.text, ended.usage, ended.cost) == ("Here I am.", Usage(prompt=2), 2.0)
        assert isinstance(events[0], SessionStarted)
        assert events[0].model == "mine"
        assert [request.messages[-1].text for request in model.requests] == ["hi"]

    def test_is_retried(self, machine: ProgramEnv) -> None:
        (ended,), events = self.run(machine, "hi", client=Flaky(busy(), busy()))
        assert ended.text == "Here I am."
        assert [event.reason for event in events if isinstance(event, Retrying)] == ["Busy."] * 2

    def test_its_failure_ends_the_run_and_no_other_model_is_asked(self, machine: ProgramEnv) -> None:
        failure = ModelFailure("No.", FailureKind.BAD_REQUEST)
        (first, second), _ = self.run(machine, "hi", "again", client=Flaky(failure))
        assert (first.reason, first.message, first.failure) == (EndReason.MODEL_FAILED, "No.", FailureKind.BAD_REQUEST)
        assert second.text == "Here I am."

    def test_its_price_counts(self, machine: ProgramEnv) -> None:
        model = Flaky()
        (ended,), _ = self.run(machine, "hi", client=model, max_cost=1.0)
        assert (ended.reason, model.requests) == (EndReason.COST_LIMIT, [])
        machine.write_user_settings(model={"prices": {"mine": {"input": 0.0, "output": 0.0}}})
        (ended,), _ = self.run(machine, "hi", client=model, max_cost=1.0)
        assert (ended.reason, ended.cost) == (EndReason.FINISHED, 0.0)

    def test_is_recorded_and_replayed(self, machine: ProgramEnv) -> None:
        file = str(machine.base / "recording")
        (ended,), _ = self.run(machine, "hi", client=Flaky(busy()), record=file)
        (again,), _ = self.run(machine, "hi", replay=file)
        assert again.text == ended.text == "Here I am."
        assert again.usage == ended.usage
