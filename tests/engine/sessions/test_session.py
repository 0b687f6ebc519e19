"""A session from outside: what is told first, what last, whatever happens in between."""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from support.note_tool import NoteParams, NoteTool
from support.program import ProgramEnv, script_answer, text_script
from tejat.app.session.lifespan import open_agent
from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    EndReason,
    HistoryRepaired,
    Noticed,
    Prompted,
    RunEnded,
    SessionStarted,
    Severity,
    TextStreamed,
)
from tejat.core.agent.options import AgentOptions
from tejat.core.frozen import replace
from tejat.core.messages.history import history_problem, user_message
from tejat.core.messages.types import InlineData, Part, Text
from tejat.core.model import FailureKind, ModelFailure, ModelRequest, Usage
from tejat.core.tools.base import ToolContext, ToolResult
from tejat.core.tools.call_events import CallFinished
from tejat.engine.sessions.session import Session

HELLO = text_script("Hello there.", usage={"prompt": 10, "output": 5})


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


class Watching:
    """Runs prompts in one session and keeps all events."""

    def __init__(self, machine: ProgramEnv, script: str, **options: object) -> None:
        self.options = AgentOptions(
            directories=(str(machine.project),),
            model=machine.script(script),
            environment=machine.environment,
            **options,  # pyright: ignore[reportArgumentType] -- whatever a test wants
        )
        self.events: list[AgentEvent] = []
        self.meanwhile: Callable[[Session, AgentEvent], object] = lambda _session, _event: None

    def run(self, *prompts: str | Sequence[Part]) -> list[RunEnded]:
        async def main() -> list[RunEnded]:
            async with open_agent(self.options, None) as session:
                return [await self.one(session, prompt) for prompt in prompts]

        return asyncio.run(main())

    async def one(self, session: Session, prompt: str | Sequence[Part]) -> RunEnded:
        def emit(event: AgentEvent) -> None:
            self.events.append(event)
            self.meanwhile(session, event)

        try:
            return await session.prompt(prompt, emit)
        finally:
            assert isinstance(self.events[-1], RunEnded)
            assert history_problem(session.conversation.history.messages) is None

    def of(self, *kinds: type) -> list[AgentEvent]:
        return [event for event in self.events if isinstance(event, kinds)]


class TestOrder:
    def test_of_a_plain_run(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, HELLO, session_id="my-session")
        (ended,) = watching.run("hi")
        started, prompted, *words, answered, last = watching.events
        assert started == SessionStarted("my-session", watching.options.model or "", is_resumed=False)
        assert isinstance(prompted, Prompted)
        assert (prompted.display_text, prompted.message.parts) == ("hi", (Text("hi"),))
        assert words == [TextStreamed("Hello "), TextStreamed("there.")]
        assert isinstance(answered, Answered)
        assert last is ended
        assert ended.seconds > 0
        assert replace(ended, seconds=0.0) == RunEnded(
            EndReason.FINISHED, text="Hello there.", usage=Usage(10, output=5), cost=0.0, turns=1
        )

    def test_notes_come_first_and_once(self, machine: ProgramEnv) -> None:
        (machine.project / ".gemini").mkdir()
        (machine.project / ".gemini" / "settings.json").write_text('{"maxSessionTurns": 1}')
        watching = Watching(machine, HELLO + HELLO)
        watching.run("hi", "again")
        assert [type(event) for event in watching.events[:3]] == [SessionStarted, Noticed, Prompted]
        (note,) = watching.of(Noticed)
        assert isinstance(note, Noticed)
        assert (note.severity, "is not trusted" in note.message) == (Severity.NOTE, True)

    def test_two_runs_are_told_apart(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, HELLO + text_script("Again."))
        first, second = watching.run("hi", "and again")
        assert (first.text, second.text) == ("Hello there.", "Again.")
        assert [event.is_resumed for event in watching.of(SessionStarted) if isinstance(event, SessionStarted)] == [
            False,
            True,
        ]
        assert second.turns == 2

    def test_parts_are_sent_as_they_are(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, HELLO)
        parts = [Text("what is @this.png?"), InlineData("image/png", b"123")]
        watching.run(parts)
        (prompted,) = watching.of(Prompted)
        assert isinstance(prompted, Prompted)
        assert (prompted.display_text, prompted.message.parts) == ("", tuple(parts))

    def test_what_was_interrupted_is_told_when_it_is_taken_up_again(self, machine: ProgramEnv) -> None:
        calls = script_answer(calls=[("glob", {"pattern": "*"})])
        Watching(machine, calls + HELLO).run("hi")
        (journal,) = (machine.home / ".local" / "state").rglob("*.jsonl")
        kept = [line for line in journal.read_text().splitlines() if '"response"' not in line.partition(",")[2][:20]]
        journal.write_text("\n".join(kept[:4]) + "\n")
        watching = Watching(machine, HELLO, resume="latest")
        (ended,) = watching.run("go on")
        assert ended.reason is EndReason.FINISHED
        assert watching.events[1] == HistoryRepaired(("Marked a call without a result as interrupted.",))


class TestPrompts:
    def test_files_are_put_in_and_what_is_left_out_is_noted(self, machine: ProgramEnv) -> None:
        (machine.project / "a.txt").write_text("the content\n")
        watching = Watching(machine, HELLO)
        watching.run("see @a.txt and @../outside.txt")
        (prompted,) = watching.of(Prompted)
        assert isinstance(prompted, Prompted)
        assert "the content" in prompted.message.text
        assert prompted.display_text == "see @a.txt and @../outside.txt"
        (note,) = watching.of(Noticed)
        assert isinstance(note, Noticed)
        assert note.message.startswith("@../outside.txt is sent as plain text:")

    def test_files_are_put_in_though_the_model_has_no_tool_for_them(self, machine: ProgramEnv) -> None:
        (machine.project / "a.txt").write_text("the content\n")
        watching = Watching(machine, HELLO, excluded_tools=("read_many_files", "glob"))
        watching.run("see @a.tx")
        (prompted,) = watching.of(Prompted)
        assert isinstance(prompted, Prompted)
        assert "the content" in prompted.message.text

    def test_one_that_cannot_be_made_is_a_bad_prompt_and_nothing_is_sent(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, HELLO)
        (ended,) = watching.run(" ")
        assert replace(ended, seconds=0.0) == RunEnded(EndReason.BAD_PROMPT, message="The prompt is empty.", cost=0.0)
        assert [type(event) for event in watching.events] == [SessionStarted, RunEnded]

    @pytest.mark.parametrize("prompt", ["", " \n", []])
    def test_an_empty_one_is_a_bad_prompt(self, machine: ProgramEnv, prompt: str | list[Part]) -> None:
        ended, after = Watching(machine, HELLO).run(prompt, "hi")
        assert (ended.reason, ended.message) == (EndReason.BAD_PROMPT, "The prompt is empty.")
        assert after.reason is EndReason.FINISHED

    def test_the_words_of_the_run_before_are_not_told_again(self, machine: ProgramEnv) -> None:
        _, ended = Watching(machine, HELLO).run("hi", "")
        assert (ended.reason, ended.text) == (EndReason.BAD_PROMPT, "")


class TestEnd:
    """`RunEnded` is the last event; the helper looks at that each time."""

    def test_when_it_is_cancelled(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, script_answer(say="one two three") + HELLO)

        async def main() -> RunEnded:
            async with open_agent(watching.options, None) as session:
                task = asyncio.ensure_future(watching.one(session, "hi"))
                watching.meanwhile = lambda _, event: event == TextStreamed("two ") and task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                return await watching.one(session, "again")

        again = asyncio.run(main())
        ended = watching.of(RunEnded)[0]
        assert isinstance(ended, RunEnded)
        assert (ended.reason, ended.message) == (EndReason.INTERRUPTED, "Operation cancelled.")
        assert ended.text == "one two \n\n[This answer was cut short: interrupted]"
        assert (again.reason, again.text) == (EndReason.FINISHED, "Hello there.")

    def test_when_it_is_interrupted(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, script_answer(say="one two three") + HELLO)
        watching.meanwhile = lambda session, event: event == TextStreamed("two ") and session.interrupt()
        ended, again = watching.run("hi", "again")
        assert (ended.reason, ended.message) == (EndReason.INTERRUPTED, "Operation cancelled.")
        assert ended.text == "one two \n\n[This answer was cut short: interrupted]"
        assert (again.reason, again.text) == (EndReason.FINISHED, "Hello there.")

    def test_when_it_is_interrupted_before_its_first_step(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, HELLO)

        async def main() -> tuple[bool, RunEnded, bool]:
            async with open_agent(watching.options, None) as session:
                task = asyncio.ensure_future(watching.one(session, "hi"))
                await asyncio.sleep(0)
                return session.interrupt(), await task, session.interrupt()

        was_interrupted, ended, again = asyncio.run(main())
        assert (was_interrupted, ended.reason, again) == (True, EndReason.INTERRUPTED, False)

    def test_when_the_program_has_a_defect(self, machine: ProgramEnv, monkeypatch: pytest.MonkeyPatch) -> None:
        watching = Watching(machine, HELLO)

        def break_it(session: Session, event: AgentEvent) -> None:
            if isinstance(event, Prompted):
                monkeypatch.setattr(session.conversation, "_loop_detector", None)

        watching.meanwhile = break_it
        with pytest.raises(AttributeError):
            watching.run("hi")
        ended = watching.events[-1]
        assert isinstance(ended, RunEnded)
        assert ended.reason is EndReason.FAILED
        assert ended.message.startswith("Internal error: AttributeError. Details are in ")

    @pytest.mark.parametrize("kind", sorted(set(FailureKind) - {FailureKind.CONTEXT_FULL}))
    def test_when_the_model_fails(self, machine: ProgramEnv, kind: FailureKind) -> None:
        (machine.home / ".gemini").mkdir()
        (machine.home / ".gemini" / "settings.json").write_text('{"general": {"maxAttempts": 1}}')
        failed, after = Watching(machine, script_answer(fail=kind.value) + HELLO).run("hi", "again")
        assert (failed.failure, after.reason) == (kind, EndReason.FINISHED)
        assert failed.message

    def test_a_refusal_for_the_size_is_answered_with_a_shorter_request(self, machine: ProgramEnv) -> None:
        (ended,) = Watching(machine, script_answer(fail=FailureKind.CONTEXT_FULL.value) + HELLO).run("hi")
        assert (ended.reason, ended.text) == (EndReason.FINISHED, "Hello there.")

    def test_before_the_next_run_begins(self, machine: ProgramEnv) -> None:
        """Prompts are answered one at a time, in the order they came."""
        watching = Watching(machine, text_script("One.") + text_script("Two."))

        async def main() -> list[str]:
            async with open_agent(watching.options, None) as session:
                runs = [session.prompt(prompt, watching.events.append) for prompt in ("1", "2")]
                return [ended.text for ended in await asyncio.gather(*runs)]

        assert asyncio.run(main()) == ["One.", "Two."]
        kinds = [type(event) for event in watching.of(SessionStarted, RunEnded)]
        assert kinds == [SessionStarted, RunEnded] * 2

    def test_what_could_not_be_recorded_is_told_once(self, machine: ProgramEnv) -> None:
        (machine.base / "no-home").write_text("")
        machine.environment["HOME"] = str(machine.base / "no-home")
        watching = Watching(machine, HELLO + HELLO)
        watching.run("hi", "again")
        noticed = [event.message for event in watching.of(Noticed) if isinstance(event, Noticed)]
        assert len(noticed) == len(set(noticed))
        assert any(message.startswith("Stopped saving this session to ") for message in noticed)


class TestListeners:
    def test_all_get_the_same_events_until_they_leave(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, HELLO + text_script("Again."))
        always: list[AgentEvent] = []
        once: list[AgentEvent] = []

        async def main() -> None:
            async with open_agent(watching.options, None) as session:
                session.subscribe(always.append)
                unsubscribe = session.subscribe(once.append)
                await watching.one(session, "hi")
                unsubscribe()
                await watching.one(session, "again")

        asyncio.run(main())
        assert always == watching.events
        assert once == watching.events[: len(once)]
        assert isinstance(once[-1], RunEnded)

    def test_one_that_fails_keeps_nothing_from_the_others(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, HELLO)
        others: list[AgentEvent] = []

        def fail(_session: Session, event: AgentEvent) -> None:
            if isinstance(event, TextStreamed):
                raise ZeroDivisionError("broken")

        async def main() -> None:
            watching.meanwhile = fail
            async with open_agent(watching.options, None) as session:
                session.subscribe(others.append)
                await watching.one(session, "hi")

        with pytest.raises(ZeroDivisionError):
            asyncio.run(main())
        assert others == watching.events
        ended = others[-1]
        assert isinstance(ended, RunEnded)
        assert ended.reason is EndReason.FAILED


class TestOnTheSide:
    def ask(self, watching: Watching, *, purpose: str = "summary") -> list[str]:
        """What a tool would get that asks while a run is on its way."""
        found: list[str] = []

        async def question(session: Session) -> None:
            with suppress(asyncio.CancelledError):
                request = ModelRequest([user_message("sum it up")], purpose=purpose)
                try:
                    found.append((await session.query(request)).text)
                except ModelFailure as failure:
                    found.append(f"{failure.kind}: {failure.message}")

        async def main() -> None:
            async with open_agent(watching.options, None) as session:
                await watching.one(session, "hi")
                await question(session)

        asyncio.run(main())
        return found

    def test_is_answered_and_counted(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, HELLO + script_answer(purpose="summary", say="Short."))
        assert self.ask(watching) == ["Short."]

    def test_not_when_the_budget_is_spent(self, machine: ProgramEnv) -> None:
        answers = script_answer(say="Hello.", usage={"prompt": 19_995, "output": 5})
        answers += script_answer(purpose="summary", say="Never said.")
        reached = ["over_budget: Reached the limit of 20,000 tokens (20,000 used)."]
        assert self.ask(Watching(machine, answers, max_tokens=20_000)) == reached
        (would_exceed,) = self.ask(Watching(machine, answers, max_tokens=20_001))
        assert would_exceed.startswith("over_budget: The next request (about ")

    def test_nobody_hears_of_it_between_two_runs(self, machine: ProgramEnv) -> None:
        watching = Watching(machine, HELLO + script_answer(purpose="summary", say="Short."))
        self.ask(watching)
        assert isinstance(watching.events[-1], RunEnded)

    def test_a_tool_asks_while_it_runs_and_everybody_hears_of_it(self, machine: ProgramEnv) -> None:
        sessions: list[Session] = []

        class Asking(NoteTool):
            async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
                question = ModelRequest([user_message(params.text)], purpose="summary")
                return ToolResult(f"I was told: {(await sessions[0].query(question)).text}")

        usage = {"prompt": 3, "output": 2}
        call = script_answer(calls=[("asking", {"text": "sum it up"})], usage=usage)
        script = call + script_answer(purpose="summary", say="Short.", usage=usage) + text_script("Done.", usage=usage)
        watching = Watching(machine, script, tools=(Asking("asking", asks=False),))
        watching.meanwhile = lambda session, _: sessions.append(session)
        (ended,) = watching.run("hi")
        (finished,) = watching.of(CallFinished)
        assert isinstance(finished, CallFinished)
        assert finished.result == ToolResult("I was told: Short.")
        heard = [event for event in watching.of(Answered) if isinstance(event, Answered)]
        assert [event.purpose for event in heard] == ["conversation", "summary", "conversation"]
        assert (ended.reason, ended.text, ended.usage, ended.turns) == (
            EndReason.FINISHED,
            "Done.",
            Usage(9, output=6),
            2,
        )


def test_a_session_can_be_closed_and_its_journal_is_free_then(machine: ProgramEnv) -> None:
    first = Watching(machine, HELLO)
    first.run("hi")
    second = Watching(machine, HELLO, resume="latest")
    (ended,) = second.run("again")
    assert ended.reason is EndReason.FINISHED
    assert len(list((machine.home / ".local" / "state").rglob("*.jsonl"))) == 1
    assert os.listdir(machine.project) == []
