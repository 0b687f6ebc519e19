"""Events become blocks, each update is small, and nothing that failed stays."""

import time
from collections.abc import Iterable, Sequence

import pytest

from support.html_checks import HOSTILE_TEXTS, HtmlCheck, text_of
from support.long_session import long_session
from support.sample_events import ALL_EVENTS, RETRYING
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
    RunEnded,
    Steered,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.agent.questions import PendingQuestion
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, ExecConfirmation, Outcome
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, InlineData
from tejat.core.model import ModelResponse, Usage
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_details import CallDetails
from tejat.core.tools.call_events import CallFinished, CallState, OutputUpdated, StateChanged
from tejat.core.tools.display import FileDiff
from tejat.ui.html.blocks import MAX_SEGMENT_CHARS
from tejat.ui.html.document import nest_blocks
from tejat.ui.html.transcript import BlockUpdate, HtmlTranscript

SHELL = FunctionCall("run_shell_command", {"command": "make"}, "call-1")
ANSWERED = Answered(ModelResponse(model_message("x"), usage=Usage(1000, 0, 10)), 1.0)


def transcript_of(events: Iterable[AgentEvent]) -> HtmlTranscript:
    transcript = HtmlTranscript(root="/w")
    for event in events:
        transcript.handle_event(event)
    return transcript


def texts(blocks: Sequence[BlockUpdate]) -> list[str]:
    return [" ".join(text_of(block.html).split()) for block in blocks]


def apply(page: dict[str, BlockUpdate], updates: Sequence[BlockUpdate]) -> None:
    """Apply updates as a page does."""
    for update in updates:
        if update.html:
            page[update.block_id] = update
        else:
            del page[update.block_id]


def test_every_event_is_handled_and_the_updates_make_up_the_blocks() -> None:
    transcript = HtmlTranscript(root="/w")
    page: dict[str, BlockUpdate] = {}
    for event in ALL_EVENTS:
        transcript.handle_event(event)
        apply(page, transcript.take_updates())
    assert list(page.values()) == list(transcript.blocks())
    numbers = [int(block_id.removeprefix("b")) for block_id in page]
    assert numbers == sorted(numbers)
    assert HtmlCheck(nest_blocks(transcript.blocks())).problems == []
    assert transcript.take_updates() == []


def test_a_turn() -> None:
    transcript = transcript_of(
        [
            Prompted(user_message("see @a", InlineData("image/png", b"123")), "see @a"),
            ThoughtStreamed("**Looking**\n\nI look."),
            TextStreamed("I *lo"),
            TextStreamed("ok*."),
            ANSWERED,
            StateChanged(0, SHELL, CallState.VALIDATING),
            StateChanged(0, SHELL, CallState.EXECUTING),
            OutputUpdated(0, SHELL, "cc a.c\n"),
            CallFinished(0, SHELL, CallState.SUCCESS, ToolResult("x", "cc a.c\nld a\n", exit_code=0), (), 2.0),
            Steered("And b."),
            TextStreamed("Done."),
            ANSWERED,
            RunEnded(EndReason.FINISHED),
        ]
    )
    prompt, thought, answer, call, steered, done = texts(transcript.blocks())
    assert prompt.startswith("Your promptsee @a")
    assert "image/png" in prompt
    assert thought == "Thinking: LookingLooking I look."
    assert answer == "I look."
    assert call == "✓ Ran make (2.0 s)cc a.c ld a"
    assert (steered, done) == ("Your promptAnd b.", "Done.")


def test_a_running_call_shows_its_time_and_the_end_of_its_output() -> None:
    transcript = transcript_of(
        [StateChanged(0, SHELL, CallState.EXECUTING), OutputUpdated(0, SHELL, "x\n" * 100_000 + "end")]
    )
    (block,) = transcript.take_updates()
    check = HtmlCheck(block.html)
    assert check.problems == []
    assert "Running make (0 s)" in " ".join(check.text.split())
    assert check.text.endswith("end")
    assert len(block.html) < 20_000
    assert float(check.all_with_class("elapsed")[0]["data-since"]) == pytest.approx(time.time(), abs=60)


def test_a_failed_attempt_leaves_nothing() -> None:
    transcript = HtmlTranscript(root="/w")
    page: dict[str, BlockUpdate] = {}
    for event in (ThoughtStreamed("Hm."), TextStreamed("Wrong."), RETRYING):
        transcript.handle_event(event)
        apply(page, transcript.take_updates())
    assert texts(list(page.values())) == ["▲ Warning: The service is busy. Retrying in 2 s (attempt 2 of 5)."]
    for event in (TextStreamed("Right."), ANSWERED):
        transcript.handle_event(event)
        apply(page, transcript.take_updates())
    assert texts(list(page.values())) == ["Right."]


def test_void_text_that_nobody_saw_needs_no_update() -> None:
    transcript = transcript_of([TextStreamed("Wrong."), RETRYING, TextStreamed("Right.")])
    assert texts(transcript.take_updates()) == ["Right."]


def test_waiting_is_shown_until_the_model_answers() -> None:
    transcript = transcript_of([AwaitingModel(12.0, 5000)])
    assert texts(transcript.blocks()) == ["• Waiting for the model (about 5,000 tokens sent, 12 s so far)..."]
    transcript.handle_event(TextStreamed("Here."))
    assert texts(transcript.blocks()) == ["Here."]


def test_the_end_of_a_run() -> None:
    clock = iter([0.0, 90.0])
    transcript = HtmlTranscript(root="/w", clock=lambda: next(clock))
    ended = RunEnded(EndReason.MODEL_FAILED, message="The service is down.", cost=0.02)
    for event in (Prompted(user_message("a"), "a"), ANSWERED, TextStreamed("Half an"), ended):
        transcript.handle_event(event)
    assert texts(transcript.blocks())[-1] == (
        "✗ The model did not answer: The service is down. The answer above is incomplete."
        "1 min 30 s · 1,010 tokens · $0.02"
    )


def test_questions_and_their_answers() -> None:
    request = ApprovalRequest(ExecConfirmation("T", "make", "/w"), "run_shell_command", directory="/w")
    transcript = transcript_of([QuestionAsked(PendingQuestion("q1", request, 0.0))])
    (block,) = transcript.take_updates()
    assert 'data-question="q1"' in block.html
    assert "Run this command?" in text_of(block.html)
    transcript.handle_event(QuestionAnswered("q1", ApprovalReply(Outcome.PROCEED_ONCE)))
    (answered,) = transcript.take_updates()
    assert answered.block_id == block.block_id
    assert text_of(answered.html).startswith("Run a command: Allow once")
    transcript.handle_event(QuestionAnswered("q1", None))
    assert transcript.take_updates() == []


def agent_events(call_id: str) -> list[AgentEvent]:
    call = FunctionCall("read_file", {"file_path": "/w/a.py"}, "inner")
    request = ApprovalRequest(ExecConfirmation("T", "make", "/w"), "run_shell_command", agent="reader-1")
    inner: list[AgentEvent] = [
        TextStreamed("Inside."),
        ANSWERED,
        StateChanged(0, call, CallState.EXECUTING),
        CallFinished(0, call, CallState.SUCCESS, ToolResult("a\nb", ""), (), 0.0),
        QuestionAsked(PendingQuestion("q", request, 0.0)),
    ]
    return [
        AgentStarted("reader-1", "reader", call_id, "Find the parser.\nAll of it.", "m"),
        *(AgentActivity("reader-1", "reader", event) for event in inner),
        AgentEnded("reader-1", "reader", SubagentEnd.GOAL, turns=1, calls=1, usage=Usage(10, 0, 2), seconds=3.0),
    ]


def test_a_sub_agent_takes_the_place_of_its_call_and_holds_its_own_blocks() -> None:
    call = FunctionCall("invoke_agent", {"agent_name": "reader"}, "call-7")
    transcript = transcript_of([StateChanged(0, call, CallState.EXECUTING)])
    (started,) = transcript.take_updates()
    for event in agent_events("call-7"):
        transcript.handle_event(event)
    finished = CallFinished(0, call, CallState.SUCCESS, ToolResult("x", "line one\nline two"), (), 3.0)
    transcript.handle_event(finished)
    blocks = transcript.blocks()
    assert [block.parent for block in blocks] == ["", started.block_id, started.block_id, ""]
    agent, answer, read, question = texts(blocks)
    assert agent.startswith("✓ ok reader · 1 call · 12 tokens · 3.0 s")
    assert "line one line two" in agent
    assert (answer, read) == ("Inside.", "✓ Read a.pyResult: 2 linesa b")
    assert "Asked by the agent reader-1" in question
    nested = nest_blocks(blocks)
    assert HtmlCheck(nested).problems == []
    assert nested.index("Inside.") < nested.index("line one")


def test_a_sub_agent_without_a_known_call_has_a_block_of_its_own() -> None:
    blocks = transcript_of(agent_events("unknown")).blocks()
    assert [block.parent for block in blocks] == ["", "b1", "b1", ""]


def test_calls_without_a_result_stop_waiting_with_the_run() -> None:
    transcript = transcript_of([StateChanged(0, SHELL, CallState.SCHEDULED)])
    assert texts(transcript.blocks()) == ["○ Run make (waiting)"]
    transcript.handle_event(RunEnded(EndReason.INTERRUPTED))
    assert texts(transcript.blocks()) == ["○ Run make", "■ Stopped."]


def test_kinds_of_tools_are_marked() -> None:
    transcript = HtmlTranscript(root="/w", describe=lambda call: CallDetails(Kind.EXECUTE, call.name))
    transcript.handle_event(StateChanged(0, SHELL, CallState.SCHEDULED))
    assert 'data-kind="execute"' in transcript.blocks()[0].html


def test_a_long_answer_continues_in_blocks_of_bounded_size() -> None:
    transcript = HtmlTranscript(root="/w")
    page: dict[str, BlockUpdate] = {}
    sent = 0
    paragraph = "Some words about it, and some more of them. " * 4
    whole = "".join(f"{paragraph}{number}\n\n" for number in range(200))
    for start in range(0, len(whole), 40):
        transcript.handle_event(TextStreamed(whole[start : start + 40]))
        updates = transcript.take_updates()
        assert all(len(update.html) < 3 * MAX_SEGMENT_CHARS for update in updates)
        sent += sum(len(update.html) for update in updates)
        apply(page, updates)
    assert len(page) > 4
    assert " ".join(texts(list(page.values()))) == " ".join(whole.split())
    assert 'class="block answer continued md"' in list(page.values())[1].html
    transcript.handle_event(RETRYING)
    apply(page, transcript.take_updates())
    assert len(page) == 1  # the notice about the retry


def test_a_list_is_not_torn_apart() -> None:
    items = "".join(f"{number}. item {number} with some words\n\n" for number in range(1, 400))
    transcript = HtmlTranscript(root="/w")
    for start in range(0, len(items), 10):
        transcript.handle_event(TextStreamed(items[start : start + 10]))
        transcript.take_updates()
    assert sum(block.html.count("<ol") for block in transcript.blocks()) == 1


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_text_in_every_place_stays_text(text: str) -> None:
    call = FunctionCall(text, {text: text, "command": text}, text)
    shell = FunctionCall("run_shell_command", {"command": f"{text}\n{text}"}, "s")
    edit = FunctionCall("replace", {"file_path": text}, "e")
    patch = f"@@ -1 +1 @@\n-a\n+{text.replace(chr(10), ' ')}\n"
    error = ToolResult(text, text, ToolError(text, ErrorType.EXECUTION_FAILED))
    transcript = transcript_of(
        [
            Prompted(user_message(text), text),
            ThoughtStreamed(text),
            TextStreamed(text),
            ANSWERED,
            StateChanged(0, call, CallState.EXECUTING),
            OutputUpdated(0, call, text),
            CallFinished(1, call, CallState.ERROR, error, (), 1.0),
            CallFinished(2, shell, CallState.SUCCESS, ToolResult(text, f"{text}\n{text}", exit_code=1), (), 1.0),
            CallFinished(3, edit, CallState.SUCCESS, ToolResult(text, FileDiff(text, text, patch, False)), (), 1.0),
            Noticed(text),
            PlanPresented(text, text),
            AgentStarted(text, text, "", text, text),
            AgentActivity(text, text, TextStreamed(text)),
            AgentEnded(text, text, SubagentEnd.ERROR, error=text, patch=patch),
            RunEnded(EndReason.FAILED, message=text),
        ]
    )
    check = HtmlCheck(nest_blocks(transcript.blocks()))
    assert check.problems == []
    assert not set(check.text) & set("\x00\x07\x1b\x7f\x9b\u202e\u2066\u200b\ufeff\U000e0041")


def test_ten_thousand_events_are_rendered_quickly() -> None:
    events = long_session(10_000)
    transcript_of(events[:200]).blocks()  # lexers are loaded
    started = time.thread_time()
    blocks = transcript_of(events).blocks()
    assert time.thread_time() - started < 5  # about 0.4 s
    assert len(blocks) > 1000


def test_noting_an_event_does_not_depend_on_the_length_of_the_session() -> None:
    events = long_session(10_000)
    transcript = HtmlTranscript(root="/w")
    started = time.thread_time()
    for event in events:
        transcript.handle_event(event)
    assert time.thread_time() - started < 1  # about 0.03 s
