"""The transcript of a session as blocks of HTML, updated as events come in."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    AwaitingModel,
    EndReason,
    Noticed,
    PlanPresented,
    Prompted,
    QuestionAnswered,
    QuestionAsked,
    RequestFailed,
    Retrying,
    RunEnded,
    Severity,
    Steered,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.frozen import Frozen
from tejat.core.messages.types import FunctionCall, InlineData
from tejat.core.model import CONVERSATION
from tejat.core.tools.call_details import CallDetails
from tejat.core.tools.call_events import CallFinished, CallState, OutputUpdated, StateChanged
from tejat.engine.subagents.complete_task import COMPLETE_TASK
from tejat.ui.html.agent_block import AgentBlock
from tejat.ui.html.blocks import (
    AnswerBlock,
    NoticeBlock,
    PlanBlock,
    PromptBlock,
    QuestionBlock,
    RunEndBlock,
    ThoughtBlock,
)
from tejat.ui.html.call_block import CallBlock
from tejat.ui.shared.labels.run_summary import SUMMARY_MIN_SECONDS, RunMeter
from tejat.ui.shared.notices import retry_message, screen_notice, side_request_notice, waiting_message

_FINAL_STATES = frozenset({CallState.SUCCESS, CallState.ERROR, CallState.CANCELLED})


class BlockUpdate(Frozen):
    """A block that is new or has changed.

    `block_id` is unique in the transcript; the numbers of the ids are in the order of the document. `html` is the whole
    markup of the block, one element with this id; empty if the block is gone. `parent` is the id of the block of a
    sub-agent, in whose element with the attribute `data-children` the block belongs; empty for the top level. When the
    parent is replaced, its children stay.
    """

    block_id: str
    html: str
    parent: str = ""


class _Content(Protocol):
    """What a block shows."""

    def render(self, block_id: str) -> str: ...


class _Place:
    """A place in the document. Without content the block is gone."""

    __slots__ = ("content", "html", "is_known", "number", "parent")

    def __init__(self, number: int, parent: str, content: _Content) -> None:
        self.number = number
        self.parent = parent
        self.content: _Content | None = content
        self.html: str | None = None
        self.is_known = False

    @property
    def block_id(self) -> str:
        return f"b{self.number}"


class _Thread:
    """The open blocks of the session's own agent or of a sub-agent, whose block is `parent`."""

    def __init__(self, parent: str = "") -> None:
        self.parent = parent
        self.answer: tuple[_Place, AnswerBlock] | None = None
        self.thoughts: tuple[_Place, ThoughtBlock] | None = None
        self.attempt: list[_Place] = []
        """The blocks of the present response, which are void if the attempt fails."""
        self.status: _Place | None = None
        """What the model is waited for; gone with the next sign of life."""
        self.calls: dict[int, tuple[_Place, CallBlock | AgentBlock]] = {}
        self.last: _Place | None = None


class HtmlTranscript:
    """Turns events into blocks. `handle_event` only notes what changed; markup is made in `take_updates`.

    Paths below `root` are shown relative to it. `describe` gives the kinds of tools. Without `with_split` diffs have no
    side-by-side table.
    """

    def __init__(
        self,
        *,
        root: str,
        describe: Callable[[FunctionCall], CallDetails] | None = None,
        with_split: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._root = root
        self._describe = describe
        self._with_split = with_split
        self._clock = clock
        self._meter = RunMeter()
        self._places: list[_Place] = []
        self._changed: dict[int, _Place] = {}
        self._main = _Thread()
        self._agents: dict[str, tuple[_Place, AgentBlock, _Thread]] = {}
        self._questions: dict[str, tuple[_Place, QuestionBlock]] = {}
        self._is_mid_answer = False
        self._began = False

    def handle_event(self, event: AgentEvent) -> None:
        self._meter.count(event)
        self._handle(self._main, event)

    def take_updates(self) -> Sequence[BlockUpdate]:
        """Return the blocks that changed since the last call, each once, in document order."""
        self._split_answers()
        changed, self._changed = self._changed, {}
        updates: list[BlockUpdate] = []
        for number in sorted(changed):
            place = changed[number]
            if place.content is None and not place.is_known:
                continue
            place.is_known = place.content is not None
            updates.append(self._update(place))
        return updates

    def blocks(self) -> Sequence[BlockUpdate]:
        """Return all blocks so far in document order."""
        self._split_answers()
        return [self._update(place) for place in self._places if place.content is not None]

    def _handle(self, thread: _Thread, event: AgentEvent) -> None:
        match event:
            case TextStreamed(text):
                self._add_text(thread, text)
            case ThoughtStreamed(text):
                self._add_thought(thread, text)
            case Answered() | Retrying() | AwaitingModel() | RequestFailed():
                self._handle_response(thread, event)
            case StateChanged() | OutputUpdated() | CallFinished():
                self._handle_call(thread, event)
            case AgentStarted() | AgentActivity() | AgentEnded():
                self._handle_agent(thread, event)
            case Prompted():
                self._begin_run(thread, event)
            case Steered(text):
                self._append(thread, PromptBlock(text))
            case PlanPresented():
                self._append(thread, PlanBlock(event))
            case QuestionAsked() | QuestionAnswered():
                self._handle_question(event)
            case RunEnded():
                self._end_run(thread, event)
            case _:
                self._add_notice(thread, screen_notice(event))

    def _handle_question(self, event: QuestionAsked | QuestionAnswered) -> None:
        """Show questions of sub-agents at the top level too: they must not be overlooked."""
        if isinstance(event, QuestionAsked):
            block = QuestionBlock(event.question)
            self._questions[event.question.question_id] = self._append(self._main, block), block
        elif (asked := self._questions.pop(event.question_id, None)) is not None:
            place, block = asked
            block.answer(event.reply)
            self._touch(place)

    def _begin_run(self, thread: _Thread, prompted: Prompted) -> None:
        if thread is self._main:
            self._meter.begin(self._clock())
            self._began = True
        self._close_response(thread)
        self._abandon_calls(thread)
        attachments = tuple(part.label for part in prompted.message.parts if isinstance(part, InlineData))
        text = prompted.display_text or prompted.message.text
        if text or attachments:
            self._append(thread, PromptBlock(text, attachments))

    def _add_text(self, thread: _Thread, text: str) -> None:
        self._clear_status(thread)
        self._close_thoughts(thread)
        if thread.answer is None:
            if not text.strip():
                return
            block = AnswerBlock()
            place = self._append(thread, block)
            thread.answer = place, block
            thread.attempt.append(place)
        self._is_mid_answer |= thread is self._main
        if thread.answer[1].append(text):
            self._touch(thread.answer[0])

    def _add_thought(self, thread: _Thread, text: str) -> None:
        self._clear_status(thread)
        if thread.thoughts is None:
            if not text.strip():
                return
            block = ThoughtBlock()
            place = self._append(thread, block)
            thread.thoughts = place, block
            thread.attempt.append(place)
        thread.thoughts[1].append(text)
        self._touch(thread.thoughts[0])

    def _handle_response(self, thread: _Thread, event: Answered | Retrying | AwaitingModel | RequestFailed) -> None:
        self._clear_status(thread)
        match event:
            case Answered(purpose=purpose):
                if purpose == CONVERSATION:
                    self._close_response(thread)
                    self._abandon_calls(thread)
            case Retrying():
                if event.purpose == CONVERSATION:
                    self._discard_attempt(thread)
                self._set_status(thread, Noticed(retry_message(event, wait=event.wait) + "."))
            case AwaitingModel():
                self._set_status(thread, Noticed(waiting_message(event), Severity.NOTE))
            case RequestFailed():
                self._add_notice(thread, side_request_notice(event))

    def _close_response(self, thread: _Thread) -> None:
        self._close_thoughts(thread)
        if thread.answer is not None:
            # A long block may have been left as it was for the last pieces.
            self._touch(thread.answer[0])
        thread.answer = None
        thread.attempt.clear()
        if thread is self._main:
            self._is_mid_answer = False

    def _close_thoughts(self, thread: _Thread) -> None:
        if thread.thoughts is not None:
            place, block = thread.thoughts
            block.close()
            self._touch(place)
            thread.thoughts = None

    def _discard_attempt(self, thread: _Thread) -> None:
        """Remove the blocks of a failed attempt."""
        for place in thread.attempt:
            self._remove(place)
        self._close_response(thread)

    def _handle_call(self, thread: _Thread, event: StateChanged | OutputUpdated | CallFinished) -> None:
        if event.call.name == COMPLETE_TASK and thread is not self._main:
            return
        self._clear_status(thread)
        known = thread.calls.get(event.index)
        if known is None:
            if isinstance(event, StateChanged) and event.state in _FINAL_STATES:
                return
            block = CallBlock(event.call, root=self._root, describe=self._describe, with_split=self._with_split)
            known = thread.calls[event.index] = self._append(thread, block), block
        place, block = known
        match event:
            case StateChanged(_index, call, state):
                if isinstance(block, CallBlock) and state not in _FINAL_STATES:
                    block.set_state(call, state)
            case OutputUpdated(output=output):
                if isinstance(block, CallBlock):
                    block.set_output(output)
            case CallFinished():
                block.finish(event)
                del thread.calls[event.index]
        self._touch(place)

    def _abandon_calls(self, thread: _Thread) -> None:
        """Close the calls that have no result: a run was stopped, or the record of it ends there."""
        for place, block in thread.calls.values():
            if isinstance(block, CallBlock):
                block.abandon()
                self._touch(place)
        thread.calls.clear()

    def _handle_agent(self, thread: _Thread, event: AgentStarted | AgentActivity | AgentEnded) -> None:
        match event:
            case AgentStarted():
                self._start_agent(thread, event)
            case AgentActivity(agent_id, _name, inner):
                self._meter.count(inner)
                if (agent := self._agents.get(agent_id)) is None:
                    self._handle(thread, inner)
                    return
                place, block, own = agent
                self._handle(own, inner)
                if isinstance(inner, Answered | CallFinished):
                    block.record(inner)
                    self._touch(place)
            case AgentEnded(agent_id):
                if (agent := self._agents.pop(agent_id, None)) is not None:
                    place, block, own = agent
                    self._clear_status(own)
                    self._close_response(own)
                    self._abandon_calls(own)
                    block.end(event)
                    self._touch(place)

    def _start_agent(self, thread: _Thread, started: AgentStarted) -> None:
        """Show an agent in place of the call that started it."""
        self._clear_status(thread)
        block = AgentBlock(started, root=self._root)
        for index, (place, call) in thread.calls.items():
            if isinstance(call, CallBlock) and call.call_id == started.call_id:
                place.content = block
                thread.calls[index] = place, block
                self._touch(place)
                break
        else:
            place = self._append(thread, block)
        self._agents[started.agent_id] = place, block, _Thread(place.block_id)

    def _end_run(self, thread: _Thread, ended: RunEnded) -> None:
        was_cut = self._is_mid_answer and ended.reason is not EndReason.FINISHED
        self._clear_status(thread)
        self._close_response(thread)
        self._abandon_calls(thread)
        summary = self._meter.end(ended, self._clock()) if self._began else None
        self._began = False
        is_worth_showing = summary is not None and summary.seconds >= SUMMARY_MIN_SECONDS
        block = RunEndBlock(ended, summary if is_worth_showing else None, was_cut=was_cut)
        if not block.is_empty:
            self._append(thread, block)

    def _add_notice(self, thread: _Thread, noticed: Noticed | None) -> None:
        if noticed is not None:
            self._clear_status(thread)
            self._append(thread, NoticeBlock(noticed))

    def _set_status(self, thread: _Thread, noticed: Noticed) -> None:
        thread.status = self._append(thread, NoticeBlock(noticed, class_="notice status"))

    def _clear_status(self, thread: _Thread) -> None:
        if thread.status is not None:
            self._remove(thread.status)
            thread.status = None

    def _split_answers(self) -> None:
        """Continue long answers in new blocks, as long as nothing else follows them."""
        for thread in (self._main, *(agent[2] for agent in self._agents.values())):
            if thread.answer is None or thread.last is not thread.answer[0]:
                continue
            for rest in thread.answer[1].split():
                self._touch(thread.answer[0])
                place = self._append(thread, rest)
                thread.answer = place, rest
                thread.attempt.append(place)

    def _append(self, thread: _Thread, content: _Content) -> _Place:
        place = _Place(len(self._places) + 1, thread.parent, content)
        self._places.append(place)
        thread.last = place
        self._touch(place)
        return place

    def _remove(self, place: _Place) -> None:
        place.content = None
        self._touch(place)

    def _touch(self, place: _Place) -> None:
        place.html = None
        self._changed[place.number] = place

    def _update(self, place: _Place) -> BlockUpdate:
        if place.html is None:
            place.html = "" if place.content is None else place.content.render(place.block_id)
        return BlockUpdate(place.block_id, place.html, place.parent)
