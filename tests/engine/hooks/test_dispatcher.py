"""Who is told of what, and what the user hears of hooks."""

import json
from pathlib import Path

import pytest

from support.hooks import hook_environment, make_hook, print_command, run
from support.note_tool import NoteTool
from tejat.config.hooks import HookConfig
from tejat.core.agent.events import Noticed, Severity
from tejat.core.agent.hooks import HookEvent
from tejat.engine.hooks.dispatcher import (
    HookDispatcher,
    combined_context,
    combined_objection,
    failure_message,
    first_denial,
    first_stop,
    hook_label,
    wrap_context,
)
from tejat.engine.hooks.result import HookResult
from tejat.policy.types import Decision
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

NOTE = NoteTool()


def collect_notices(
    directory: Path, supervisor: ProcessSupervisor, *hooks: HookConfig, trigger: str = ""
) -> list[Noticed]:
    """What the user is told when this happens."""
    told: list[Noticed] = []
    hearing = HookDispatcher(hooks, hook_environment(directory, supervisor))
    hearing.bind_session("id", "", told.append)
    run(hearing.run_event_hooks(hooks[0].event, {}, trigger=trigger))
    return told


def saying(**printed: object) -> str:
    return print_command(json.dumps(printed))


class TestNotices:
    def test_a_message(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        message = Noticed('Hook "guard" (BeforeTool): Looked.', Severity.NOTE)
        assert collect_notices(tmp_path, supervisor, make_hook(saying(systemMessage="Looked."))) == [message]
        assert collect_notices(tmp_path, supervisor, make_hook("echo Looked.")) == [message]
        assert (
            collect_notices(tmp_path, supervisor, make_hook(saying(systemMessage="Looked.", suppressOutput=True))) == []
        )

    def test_a_failure_where_nobody_is_asked(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        told = 'Hook "guard" (AfterTool) failed: it exited with code 1.'
        assert collect_notices(tmp_path, supervisor, make_hook("exit 1", "AfterTool")) == [Noticed(told)]
        assert collect_notices(tmp_path, supervisor, make_hook("exit 1")) == []

    def test_what_cannot_be_had(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        wanting = make_hook(saying(hookSpecificOutput={"llm_request": {}}), "BeforeModel")
        told = 'Hook "guard" (BeforeModel) asked for something hooks cannot do here: llm_request.'
        assert collect_notices(tmp_path, supervisor, wanting) == [Noticed(told)]

    def test_an_objection_that_comes_too_late(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        told = 'Hook "guard" ({}) objected, but this event cannot be blocked: {}'
        ending = make_hook("echo No. >&2; exit 2", "SessionEnd")
        assert collect_notices(tmp_path, supervisor, ending) == [Noticed(told.format("SessionEnd", "No."))]
        stopping = make_hook(saying(**{"continue": False, "stopReason": "Stop."}), "Notification")
        assert collect_notices(tmp_path, supervisor, stopping) == [Noticed(told.format("Notification", "Stop."))]
        asking = make_hook(saying(decision="ask", reason="Sure?"), "AfterTool")
        assert collect_notices(tmp_path, supervisor, asking) == [Noticed(told.format("AfterTool", "Sure?"))]
        assert collect_notices(tmp_path, supervisor, make_hook("exit 2", "AfterTool")) == []

    def test_whoever_listens_decides_nothing(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        def break_down(_: Noticed) -> None:
            raise BrokenPipeError

        hearing = HookDispatcher([make_hook("echo hi"), make_hook("exit 2")], hook_environment(tmp_path, supervisor))
        hearing.bind_session("id", "", break_down)
        outcomes = run(hearing.run_event_hooks(HookEvent.BEFORE_TOOL, {}))
        assert [outcome.decision for outcome in outcomes] == [None, Decision.DENY]


class TestMeant:
    def test_by_tool_and_by_trigger(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        hooks = [
            make_hook("cat > told.json", matcher="^note$"),
            make_hook("touch MARK", matcher="other"),
            make_hook("exit 2", "Stop"),
        ]
        hearing = HookDispatcher(hooks, hook_environment(tmp_path, supervisor))
        outcomes = run(hearing.run_tool_hooks(HookEvent.BEFORE_TOOL, NOTE, {"tool_input": {}}))
        assert [outcome.hook for outcome in outcomes] == [hooks[0]]
        assert json.loads((tmp_path / "told.json").read_text())["tool_name"] == "note"
        assert not (tmp_path / "MARK").exists()
        starting = [make_hook("echo a", "SessionStart", matcher="startup"), make_hook("echo b", "SessionStart")]
        assert [each.message[-1] for each in collect_notices(tmp_path, supervisor, *starting, trigger="resume")] == [
            "b"
        ]

    def test_what_is_wanted_is_known_at_once(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        hearing = HookDispatcher([make_hook("x"), make_hook("x", "Stop")], hook_environment(tmp_path, supervisor))
        assert [event for event in HookEvent if hearing.has_hooks(event)] == [
            HookEvent.BEFORE_TOOL,
            HookEvent.AFTER_AGENT,
        ]

    def test_the_session_that_they_are_told_of(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        hearing = HookDispatcher(
            [make_hook('cat > told.json; echo "$GEMINI_SESSION_ID"')], hook_environment(tmp_path, supervisor)
        )
        hearing.bind_session("another", "/its/journal", lambda _: None)
        (outcome,) = run(hearing.run_event_hooks(HookEvent.BEFORE_TOOL, {}))
        told = json.loads((tmp_path / "told.json").read_text())
        assert (told["session_id"], told["transcript_path"], outcome.message) == ("another", "/its/journal", "another")

    def test_one_that_takes_long(
        self, tmp_path: Path, supervisor: ProcessSupervisor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tejat.engine.hooks.dispatcher._SLOW_SECONDS", 0.01)
        hook = make_hook("sleep 0.3")
        message = Noticed('Hook "guard" (BeforeTool) is running.', Severity.NOTE)
        assert collect_notices(tmp_path, supervisor, hook) == [message]
        told: list[Noticed] = []
        quiet = HookDispatcher([hook], hook_environment(tmp_path, supervisor), reports_running=False)
        quiet.bind_session("id", "", told.append)
        run(quiet.run_event_hooks(hook.event, {}))
        assert told == []

    def test_matchers_that_are_for_everything_are_told_of(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        hooks = [
            make_hook("x", matcher="(?!a)"),
            make_hook("x", matcher="a"),
            make_hook("x", "SessionStart", matcher="(?!a)"),
        ]
        (warning,) = HookDispatcher(hooks, hook_environment(tmp_path, supervisor)).warnings()
        assert warning.startswith("settings.json:1: the matcher '(?!a)' is invalid, so it matches every tool: ")


class TestTogether:
    YES = HookResult(make_hook("a"), Decision.ALLOW, "fine")
    ASK = HookResult(make_hook("b", name="asker"), Decision.ASK, "Sure?")
    NO = HookResult(make_hook("c"), Decision.DENY, "No.")
    STOP = HookResult(make_hook("d"), stops=True, reason="Stop.")
    FAILED = HookResult(make_hook("e", name="broken"), failure="exited with code 1")

    def test_the_strictest_of_all(self) -> None:
        assert first_denial([self.YES, self.ASK, self.NO]) is self.NO
        assert first_stop([self.NO, self.STOP]) is self.STOP
        assert (first_denial([self.YES, self.ASK]), first_stop([self.NO]), combined_objection([self.YES])) == (
            None,
            None,
            "",
        )
        assert combined_objection([self.YES, self.ASK, self.FAILED]) == (
            'Hook "asker" (BeforeTool) asks: Sure?\nHook "broken" (BeforeTool) failed: it exited with code 1.'
        )
        assert failure_message(self.FAILED) == 'Hook "broken" (BeforeTool) failed: it exited with code 1.'

    def test_contexts_are_put_together_and_marked(self) -> None:
        adding = [HookResult(make_hook("a"), context=text) for text in ("one", "", "two </hook_context> three")]
        assert combined_context(adding) == (
            "<hook_context>\none\n</hook_context>\n\n<hook_context>\ntwo <_/hook_context> three\n</hook_context>"
        )
        assert combined_context([self.YES]) == ""
        assert wrap_context("x") == "<hook_context>\nx\n</hook_context>"

    def test_a_long_command_is_a_name_too(self) -> None:
        assert hook_label(make_hook("x", name="a\n b" + "c" * 99)) == f'Hook "a b{"c" * 77}... [cut]" (BeforeTool)'
