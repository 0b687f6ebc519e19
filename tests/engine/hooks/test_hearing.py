"""Who is told of what, and what the person hears of hooks."""

import json
from pathlib import Path

from hook_checks import around, hook, printing, run
from notes import Note
from tejat.config.hooks import Hook
from tejat.core.agent_events import Noticed, Severity
from tejat.core.hooks import HookEvent
from tejat.engine.hooks.hearing import (
    HookHearing,
    called,
    context_of,
    denial_of,
    failure_of,
    marked,
    objection_of,
    stop_of,
)
from tejat.engine.hooks.outcome import Outcome
from tejat.policy.rules import Decision
from tejat.workspace.processes.keeping import Keeper

NOTE = Note()


def heard(directory: Path, keeper: Keeper, *hooks: Hook, trigger: str | None = None) -> list[Noticed]:
    """What the person is told when this happens."""
    told: list[Noticed] = []
    hearing = HookHearing(hooks, around(directory, keeper))
    hearing.belong_to("id", "", told.append)
    run(hearing.about(hooks[0].event, {}, trigger=trigger))
    return told


def saying(**printed: object) -> str:
    return printing(json.dumps(printed))


class TestNotices:
    def test_a_message(self, tmp_path: Path, keeper: Keeper) -> None:
        message = Noticed('The hook "guard" (BeforeTool): Looked.', Severity.NOTE)
        assert heard(tmp_path, keeper, hook(saying(systemMessage="Looked."))) == [message]
        assert heard(tmp_path, keeper, hook("echo Looked.")) == [message]
        assert heard(tmp_path, keeper, hook(saying(systemMessage="Looked.", suppressOutput=True))) == []

    def test_a_failure_where_nobody_is_asked(self, tmp_path: Path, keeper: Keeper) -> None:
        told = 'The hook "guard" (AfterTool) failed: it ended with exit code 1.'
        assert heard(tmp_path, keeper, hook("exit 1", "AfterTool")) == [Noticed(told)]
        assert heard(tmp_path, keeper, hook("exit 1")) == []

    def test_what_cannot_be_had(self, tmp_path: Path, keeper: Keeper) -> None:
        wanting = hook(saying(hookSpecificOutput={"llm_request": {}}), "BeforeModel")
        told = 'The hook "guard" (BeforeModel) wants what hooks cannot do here: llm_request.'
        assert heard(tmp_path, keeper, wanting) == [Noticed(told)]

    def test_an_objection_that_comes_too_late(self, tmp_path: Path, keeper: Keeper) -> None:
        told = 'The hook "guard" ({}) objects, but this event only tells it what happens: {}'
        ending = hook("echo No. >&2; exit 2", "SessionEnd")
        assert heard(tmp_path, keeper, ending) == [Noticed(told.format("SessionEnd", "No."))]
        stopping = hook(saying(**{"continue": False, "stopReason": "Stop."}), "Notification")
        assert heard(tmp_path, keeper, stopping) == [Noticed(told.format("Notification", "Stop."))]
        asking = hook(saying(decision="ask", reason="Sure?"), "AfterTool")
        assert heard(tmp_path, keeper, asking) == [Noticed(told.format("AfterTool", "Sure?"))]
        assert heard(tmp_path, keeper, hook("exit 2", "AfterTool")) == []

    def test_whoever_listens_decides_nothing(self, tmp_path: Path, keeper: Keeper) -> None:
        def break_down(_: Noticed) -> None:
            raise BrokenPipeError

        hearing = HookHearing([hook("echo hi"), hook("exit 2")], around(tmp_path, keeper))
        hearing.belong_to("id", "", break_down)
        outcomes = run(hearing.about(HookEvent.BEFORE_TOOL, {}))
        assert [outcome.decision for outcome in outcomes] == [None, Decision.DENY]


class TestMeant:
    def test_by_tool_and_by_trigger(self, tmp_path: Path, keeper: Keeper) -> None:
        hooks = [hook("cat > told.json", matcher="^note$"), hook("touch MARK", matcher="other"), hook("exit 2", "Stop")]
        hearing = HookHearing(hooks, around(tmp_path, keeper))
        outcomes = run(hearing.about_tool(HookEvent.BEFORE_TOOL, NOTE, {"tool_input": {}}))
        assert [outcome.hook for outcome in outcomes] == [hooks[0]]
        assert json.loads((tmp_path / "told.json").read_text())["tool_name"] == "note"
        assert not (tmp_path / "MARK").exists()
        starting = [hook("echo a", "SessionStart", matcher="startup"), hook("echo b", "SessionStart")]
        assert [each.message[-1] for each in heard(tmp_path, keeper, *starting, trigger="resume")] == ["b"]

    def test_what_is_wanted_is_known_at_once(self, tmp_path: Path, keeper: Keeper) -> None:
        hearing = HookHearing([hook("x"), hook("x", "Stop")], around(tmp_path, keeper))
        assert [event for event in HookEvent if hearing.wants(event)] == [HookEvent.BEFORE_TOOL, HookEvent.AFTER_AGENT]

    def test_the_session_that_they_are_told_of(self, tmp_path: Path, keeper: Keeper) -> None:
        hearing = HookHearing([hook('cat > told.json; echo "$GEMINI_SESSION_ID"')], around(tmp_path, keeper))
        hearing.belong_to("another", "/its/journal", lambda _: None)
        (outcome,) = run(hearing.about(HookEvent.BEFORE_TOOL, {}))
        told = json.loads((tmp_path / "told.json").read_text())
        assert (told["session_id"], told["transcript_path"], outcome.message) == ("another", "/its/journal", "another")

    def test_matchers_that_are_for_everything_are_told_of(self, tmp_path: Path, keeper: Keeper) -> None:
        hooks = [hook("x", matcher="(?!a)"), hook("x", matcher="a"), hook("x", "SessionStart", matcher="(?!a)")]
        (warning,) = HookHearing(hooks, around(tmp_path, keeper)).warnings()
        assert warning.startswith("settings.json:1: the matcher '(?!a)' is taken for every tool: ")


class TestTogether:
    YES = Outcome(hook("a"), Decision.ALLOW, "fine")
    ASK = Outcome(hook("b", name="asker"), Decision.ASK, "Sure?")
    NO = Outcome(hook("c"), Decision.DENY, "No.")
    STOP = Outcome(hook("d"), stops=True, reason="Stop.")
    FAILED = Outcome(hook("e", name="broken"), failure="ended with exit code 1")

    def test_the_strictest_of_all(self) -> None:
        assert denial_of([self.YES, self.ASK, self.NO]) is self.NO
        assert stop_of([self.NO, self.STOP]) is self.STOP
        assert (denial_of([self.YES, self.ASK]), stop_of([self.NO]), objection_of([self.YES])) == (None, None, "")
        assert objection_of([self.YES, self.ASK, self.FAILED]) == (
            'The hook "asker" (BeforeTool) asks: Sure?\n'
            'The hook "broken" (BeforeTool) failed: it ended with exit code 1.'
        )
        assert failure_of(self.FAILED) == 'The hook "broken" (BeforeTool) failed: it ended with exit code 1.'

    def test_contexts_are_put_together_and_marked(self) -> None:
        adding = [Outcome(hook("a"), context=text) for text in ("one", "", "two </hook_context> three")]
        assert context_of(adding) == (
            "<hook_context>\none\n</hook_context>\n\n<hook_context>\ntwo <_/hook_context> three\n</hook_context>"
        )
        assert context_of([self.YES]) == ""
        assert marked("x") == "<hook_context>\nx\n</hook_context>"

    def test_a_long_command_is_a_name_too(self) -> None:
        assert called(hook("x", name="a\n b" + "c" * 99)) == f'The hook "a b{"c" * 77}... [cut]" (BeforeTool)'
