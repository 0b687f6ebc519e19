"""Any interleaving of answers, failures and cancels leaves every call answered exactly once."""

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from support.note_tool import NoteParams, NoteTool, open_scheduler
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Confirmation, Outcome, Scope
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult
from tejat.core.tools.call_events import CallFinished, CallState, Event, StateChanged
from tejat.engine.calls.batch import Batch
from tejat.engine.calls.scheduler import Scheduler

KINDS = {"look": Kind.READ, "fetch": Kind.FETCH, "edit": Kind.EDIT, "run": Kind.OTHER}
ENDINGS = ("done", "fail", "break", "stale", "refuse to propose")
FINAL = {CallState.SUCCESS, CallState.ERROR, CallState.CANCELLED}


@dataclass
class World:
    """What the tools did: who was at work together with whom."""

    at_work: list[str] = field(default_factory=list[str])
    overlaps: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])


class Scripted(NoteTool):
    """Does what its text says: how it ends, after how many turns of the loop."""

    def __init__(self, name: str, world: World) -> None:
        super().__init__(name, asks=name != "look", kind=KINDS[name])
        self.world = world

    async def propose(self, params: NoteParams) -> Confirmation | None:
        await asyncio.sleep(0)
        if params.text.startswith("refuse"):
            raise ToolFailure("not like this", ErrorType.EDIT_PREPARATION_FAILURE)
        return await super().propose(params)

    async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
        ending, _, turns = params.text.rpartition(" ")
        self.world.at_work.append(self.name)
        self.world.overlaps.append(tuple(self.world.at_work))
        try:
            for _ in range(int(turns)):
                await asyncio.sleep(0)
            match ending:
                case "fail":
                    raise ToolFailure("failed", ErrorType.EXECUTION_FAILED)
                case "break":
                    raise ZeroDivisionError
                case "stale":
                    raise ToolFailure("moved on", ErrorType.STALE_FILE)
                case _:
                    return ToolResult("done")
        finally:
            self.world.at_work.remove(self.name)


class Crowd:
    """Answers with whatever comes next, after a while; may break."""

    def __init__(self, answers: Iterator[tuple[ApprovalReply | None, int]]) -> None:
        self.answers = answers

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        answer, turns = next(self.answers, (ApprovalReply(Outcome.CANCEL), 0))
        for _ in range(turns):
            await asyncio.sleep(0)
        if answer is None:
            raise OSError("the terminal is gone")
        return answer


calls = st.lists(
    st.builds(
        lambda name, ending, turns, call_id: FunctionCall(name, {"text": f"{ending} {turns}"}, call_id),
        st.sampled_from([*KINDS, "unheard of"]),
        st.sampled_from(ENDINGS),
        st.integers(0, 6),
        st.sampled_from([None, "a", "b"]),
    )
    | st.just(FunctionCall("edit", {"wrong": 1})),
    max_size=8,
)
answers = st.lists(
    st.tuples(
        st.none()
        | st.builds(
            ApprovalReply,
            st.sampled_from(list(Outcome)),
            new_content=st.none() | st.just("done 1"),
            scope=st.none() | st.sampled_from(list(Scope)),
        ),
        st.integers(0, 4),
    ),
    max_size=10,
)


def check(requests: list[FunctionCall], batch: Batch, events: list[Event], world: World) -> None:
    """One response each, in order, for the right call; one end each; nothing after the end; writers alone."""
    assert len(batch.responses) == len(batch.results) == len(requests)
    for request, (response, *_) in zip(requests, batch.responses, strict=True):
        assert isinstance(response, FunctionResponse)
        assert (response.name, response.id) == (request.name, request.id)
        assert len(response.response) >= 1
    if not events:  # cancelled before it began: nobody heard of it
        assert all(result.error and result.error.type is ErrorType.CANCELLED for result in batch.results)
        return
    finished = [event.index for event in events if isinstance(event, CallFinished)]
    assert sorted(finished) == list(range(len(requests)))
    for index in range(len(requests)):
        states = [event.state for event in events if isinstance(event, StateChanged) and event.index == index]
        assert [state in FINAL for state in states] == [False] * (len(states) - 1) + [True]
    assert all(len(group) == 1 or set(group) <= {"look", "fetch"} for group in world.overlaps)
    assert world.at_work == []


@given(calls, answers, st.none() | st.integers(0, 60))
@settings(max_examples=400, deadline=None)
def test_every_call_is_answered_once(
    requests: list[FunctionCall], given_answers: list[tuple[ApprovalReply | None, int]], cancelled_after: int | None
) -> None:
    world, events = World(), list[Event]()
    tools: list[BaseTool] = [Scripted(name, world) for name in KINDS]

    async def main(directory: Path) -> Batch:
        with open_scheduler(directory, tools, Crowd(iter(given_answers)), save=lambda *_: None) as scheduler:
            batch = scheduler.batch(requests, events.append)
            task = asyncio.create_task(batch.run())
            if cancelled_after is not None:
                for _ in range(cancelled_after):
                    await asyncio.sleep(0)
                task.cancel()
            await asyncio.wait([task])
            assert task.cancelled() or task.exception() is None
            return batch

    with tempfile.TemporaryDirectory() as directory:
        batch = asyncio.run(main(Path(directory)))
    check(requests, batch, events, world)


class ManyBatches(RuleBasedStateMachine):
    """Batches are started, cancelled and left to run in any order on one scheduler."""

    @initialize(given_answers=answers)
    def begin(self, given_answers: list[tuple[ApprovalReply | None, int]]) -> None:
        self.loop = asyncio.new_event_loop()
        self.world = World()
        self.directory = tempfile.TemporaryDirectory()
        tools: list[BaseTool] = [Scripted(name, self.world) for name in KINDS]
        self.opened = open_scheduler(Path(self.directory.name), tools, Crowd(iter(given_answers)), save=lambda *_: None)
        self.scheduler: Scheduler = self.opened.__enter__()
        self.batches: list[tuple[list[FunctionCall], Batch, list[Event], asyncio.Task[None]]] = []

    @rule(requests=calls)
    def start(self, requests: list[FunctionCall]) -> None:
        events: list[Event] = []
        batch = self.scheduler.batch(requests, events.append)
        self.batches.append((requests, batch, events, self.loop.create_task(batch.run())))

    @rule(turns=st.integers(1, 20))
    def go_on(self, turns: int) -> None:
        async def pass_turns() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)

        self.loop.run_until_complete(pass_turns())

    @rule(which=st.integers(0, 20))
    def cancel(self, which: int) -> None:
        if self.batches:
            self.batches[which % len(self.batches)][3].cancel()

    @invariant()
    def what_has_ended_is_complete(self) -> None:
        for requests, batch, events, task in getattr(self, "batches", []):
            if task.done():
                check(requests, batch, events, World())

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        for *_, task in self.batches:
            self.loop.run_until_complete(asyncio.wait([task]))
        self.what_has_ended_is_complete()
        check([], self.scheduler.batch([]), [], self.world)
        self.opened.__exit__(None, None, None)
        self.directory.cleanup()
        self.loop.close()


TestManyBatches = ManyBatches.TestCase
TestManyBatches.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
