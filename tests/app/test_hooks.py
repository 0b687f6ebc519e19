"""Hooks in whole runs: real tools, rules and scripts, a scripted model, and folders that are not to be trusted."""

import asyncio
import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support.approver import NO, YES, FakeApprover
from support.program import ProgramEnv, script_answer, text_script
from tejat.app.session.lifespan import open_agent
from tejat.app.tools.open_tools import open_tools
from tejat.config.paths import app_paths
from tejat.config.trust.decision import trust_folder
from tejat.core.agent.events import AgentEvent, EndReason, Noticed, Prompted, RunEnded, Severity
from tejat.core.agent.hooks import Hook, HookEvent, HookReply
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import ApprovalReply, Approver, EditConfirmation, InfoConfirmation
from tejat.core.approval.modes import ModeName
from tejat.core.errors import ConfigurationError, ErrorType
from tejat.core.frozen import replace
from tejat.core.messages.history import user_message
from tejat.core.messages.types import FunctionCall, JsonObject
from tejat.core.model import FailureKind, ModelFailure, ModelRequest
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import CallFinished


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def group(*lines: str, matcher: str = "", **fields: object) -> dict[str, object]:
    return {"matcher": matcher, "hooks": [{"type": "command", "command": line, **fields} for line in lines]}


def settings(folder: Path, **values: object) -> None:
    (folder / ".gemini").mkdir(exist_ok=True)
    (folder / ".gemini" / "settings.json").write_text(json.dumps(values))


def script(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def saying(**printed: object) -> str:
    return f"cat > /dev/null; cat <<'END'\n{json.dumps(printed)}\nEND"


def made(name: str, **args: object) -> tuple[str, dict[str, object]]:
    """A call in a script."""
    return name, {each: str(given) for each, given in args.items()}


def writing(path: Path, content: str = "new") -> FunctionCall:
    return FunctionCall("write_file", {"file_path": str(path), "content": content})


def call(
    machine: ProgramEnv, wanted: FunctionCall, person: Approver | None = None, *, mode: ModeName | None = "auto_edit"
) -> ToolResult:
    """What comes of one call with the tools as they are set up here."""

    async def main() -> ToolResult:
        directories = [str(machine.project)]
        with open_tools(directories, person, mode=mode, sandbox="off", environment=machine.environment) as session:
            return await session.scheduler.run(wanted)

    return asyncio.run(main())


def run(
    machine: ProgramEnv, model: str, *prompts: str, person: Approver | None = None, **more: Any
) -> tuple[list[RunEnded], list[AgentEvent]]:
    events: list[AgentEvent] = []
    options = AgentOptions(
        directories=(str(machine.project),),
        model=machine.script(model),
        environment=machine.environment,
        mode="auto_edit",
        sandbox="off",
    )

    async def main() -> list[RunEnded]:
        async with open_agent(replace(options, **more), person) as session:
            return [await session.prompt(prompt, events.append) for prompt in prompts]

    return asyncio.run(main()), events


def noticed(events: Sequence[AgentEvent]) -> list[Noticed]:
    return [event for event in events if isinstance(event, Noticed)]


class TestCalls:
    def test_denied(self, machine: ProgramEnv) -> None:
        settings(machine.home, hooks={"BeforeTool": [group("echo 'Not today.' >&2; exit 2", matcher="write_file")]})
        target = machine.project / "a.txt"
        result = call(machine, writing(target))
        assert result.error == ToolError("Tool execution blocked: Not today.", ErrorType.POLICY_VIOLATION)
        assert not target.exists()
        target.write_text("one\n")
        assert call(machine, FunctionCall("read_file", {"path": str(target)})).error is None

    def test_a_yes_of_a_hook_opens_nothing(self, machine: ProgramEnv) -> None:
        """The rules want an answer, and nobody is there to give it."""
        allowing = saying(decision="allow", hookSpecificOutput={"permissionDecision": "allow"})
        settings(machine.home, hooks={"BeforeTool": [group(allowing)]})
        result = call(machine, writing(machine.project / "a.txt"), mode=None)
        assert result.error is not None
        assert result.error.type is ErrorType.POLICY_VIOLATION
        assert not (machine.project / "a.txt").exists()

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            (saying(decision="ask", reason="Sure?"), " asks: Sure?"),
            ("exit 1", " failed: it exited with code 1."),
            ("sleep 600", " failed: it took longer than 0.3 seconds and was stopped."),
            ("echo '{\"decision\": 5}'", " failed: it printed JSON where decision is not a string."),
        ],
    )
    @pytest.mark.parametrize("mode", ["auto_edit", "yolo"])
    def test_who_asks_or_fails_leaves_it_to_a_person(
        self, machine: ProgramEnv, line: str, why: str, mode: ModeName
    ) -> None:
        settings(
            machine.home, hooks={"BeforeTool": [group(line, name="guard", timeout=300 if "sleep" in line else 60_000)]}
        )
        target = machine.project / "a.txt"
        told = f'Hook "guard" (BeforeTool){why}'
        alone = call(machine, writing(target), mode=mode)
        assert alone.error == ToolError(
            'Tool execution for "WriteFile" requires user confirmation, which is not supported in non-interactive '
            f"mode. {told}",
            ErrorType.POLICY_VIOLATION,
        )
        assert not target.exists()
        person = FakeApprover([NO, YES])
        assert call(machine, writing(target), person, mode=mode).error is not None
        assert not target.exists()
        assert call(machine, writing(target), person, mode=mode).error is None
        assert target.read_text() == "new"
        assert [(each.reason, each.always, each.scopes) for each in person.questions] == [(told, None, ())] * 2

    def test_even_a_tool_that_never_asks_is_asked_about(self, machine: ProgramEnv) -> None:
        settings(machine.home, hooks={"BeforeTool": [group("exit 1", name="guard")]})
        person = FakeApprover([YES])
        result = call(machine, FunctionCall("list_directory", {"path": str(machine.project)}), person)
        assert result.error is None
        (question,) = person.questions
        assert isinstance(question.confirmation, InfoConfirmation)

    def test_one_that_cannot_be_understood_ends_the_run_and_says_where(self, machine: ProgramEnv) -> None:
        settings(machine.home, hooks={"BeforeTool": [{**group("true"), "matcher": 5}]})
        where = machine.home / ".gemini" / "settings.json"
        told = f"Error in {where}: line 1: in hooks.BeforeTool, matcher must be a string"
        with pytest.raises(ConfigurationError, match=re.escape(told)):
            call(machine, FunctionCall("list_directory", {"path": str(machine.project)}))

    def test_rewritten_arguments_are_what_runs(self, machine: ProgramEnv) -> None:
        new = {"hookSpecificOutput": {"tool_input": {"content": "rewritten"}}}
        settings(machine.home, hooks={"BeforeTool": [group(saying(**new))]})
        target = machine.project / "a.txt"
        result = call(machine, writing(target))
        assert target.read_text() == "rewritten"
        assert isinstance(result.llm_content, str)
        note = "\n\n[System] Tool input parameters were modified by a hook before execution."
        assert result.llm_content.endswith(note)

    def test_rewritten_arguments_are_judged_and_shown_again(self, machine: ProgramEnv) -> None:
        hidden = machine.project / ".git" / "hooks" / "pre-commit"
        hidden.parent.mkdir(parents=True)
        new = {"hookSpecificOutput": {"tool_input": {"file_path": str(hidden)}}}
        settings(machine.home, hooks={"BeforeTool": [group(saying(**new))]})
        alone = call(machine, writing(machine.project / "a.txt"))
        assert alone.error is not None
        assert alone.error.type is ErrorType.POLICY_VIOLATION
        person = FakeApprover([NO])
        call(machine, writing(machine.project / "a.txt"), person)
        (confirmation,) = person.confirmations
        assert isinstance(confirmation, EditConfirmation)
        assert confirmation.file_path == str(hidden)
        assert list(machine.project.rglob("*")) == [machine.project / ".git", hidden.parent]

    @pytest.mark.parametrize(("where", "kind"), [("/etc/passwd", "path_not_in_workspace"), (5, "invalid_tool_params")])
    def test_rewritten_arguments_are_checked_again(self, machine: ProgramEnv, where: object, kind: str) -> None:
        new = {"hookSpecificOutput": {"tool_input": {"file_path": where}}}
        settings(machine.home, hooks={"BeforeTool": [group(saying(**new))]})
        result = call(machine, writing(machine.project / "a.txt"))
        assert result.error is not None
        assert result.error.message.startswith("Tool parameter modification by hook failed validation: ")
        assert list(machine.project.iterdir()) == []

    def test_what_is_wrong_already_is_not_told_to_hooks(self, machine: ProgramEnv) -> None:
        settings(machine.home, hooks={"BeforeTool": [group(f"touch {machine.base}/MARK")]})
        assert call(machine, FunctionCall("write_file", {})).error is not None
        assert not (machine.base / "MARK").exists()

    def test_a_result_is_seen_without_the_persons_keys(self, machine: ProgramEnv) -> None:
        secret = "a-secret-of-some-length"
        machine.environment["SERVICE_TOKEN"] = secret
        (machine.project / "a.txt").write_text(f"token {secret}\n")
        told = machine.base / "told.json"
        settings(machine.home, hooks={"AfterTool": [group(f"cat > {told}; env > {machine.base}/env")]})
        reading = script_answer(calls=[made("read_file", path=machine.project / "a.txt")])
        (ended,), _ = run(machine, reading + text_script("Done."), "go")
        assert ended.reason is EndReason.FINISHED
        assert json.loads(told.read_text())["tool_response"]["llmContent"] == "token [the secret SERVICE_TOKEN]\n"
        assert secret not in (machine.base / "env").read_text()


class TestWholeRuns:
    def written(self, machine: ProgramEnv, *names: str) -> str:
        return script_answer(
            calls=[made("write_file", file_path=machine.project / name, content="x") for name in names]
        )

    def test_a_stop_ends_the_run_and_what_was_still_to_come(self, machine: ProgramEnv) -> None:
        stopping = """grep -q b.txt && echo '{"continue": false, "stopReason": "Enough."}' || true"""
        settings(machine.home, hooks={"BeforeTool": [group(stopping)]})
        (ended,), events = run(machine, self.written(machine, "a.txt", "b.txt", "c.txt") + text_script("On."), "go")
        assert (ended.reason, ended.message) == (
            EndReason.TOOL_STOPPED,
            "Agent execution stopped by hook: Enough.",
        )
        assert [path.name for path in machine.project.iterdir()] == ["a.txt"]
        finished = [event.result.error for event in events if isinstance(event, CallFinished)]
        assert [None if error is None else error.type for error in finished] == [
            None,
            ErrorType.STOP_EXECUTION,
            ErrorType.CANCELLED,
        ]

    def test_a_prompt_is_refused_and_the_next_one_is_not(self, machine: ProgramEnv) -> None:
        settings(machine.home, hooks={"BeforeAgent": [group("grep -q secret && { echo 'No.' >&2; exit 2; } || true")]})
        (first, second), events = run(machine, text_script("Hello."), "a secret", "hi")
        assert (first.reason, second.text) == (EndReason.NOT_ALLOWED, "Hello.")
        assert first.message.startswith("Agent execution blocked: No. (Hook ")
        (prompted,) = [event for event in events if isinstance(event, Prompted)]
        assert prompted.message.text == "hi"

    def test_what_is_added_reaches_the_model_marked(self, machine: ProgramEnv) -> None:
        adding = {
            event: [group(saying(hookSpecificOutput={"additionalContext": f"Of {event}."}))]
            for event in ("SessionStart", "BeforeAgent")
        }
        settings(machine.home, hooks=adding)
        _, events = run(machine, text_script("One.", "Two."), "first", "second")
        contexts = [event.message.text for event in events if isinstance(event, Prompted)]
        start, prompt = (f"<hook_context>\nOf {event}.\n</hook_context>" for event in ("SessionStart", "BeforeAgent"))
        assert contexts == [f"first{start}\n\n{prompt}", f"second{prompt}"]

    def test_no_request_goes_out_that_a_hook_objects_to(self, machine: ProgramEnv) -> None:
        count = machine.base / "count"
        line = f"echo x >> {count}; [ $(wc -l < {count}) -lt 2 ] || {{ echo 'Too many.' >&2; exit 2; }}"
        settings(machine.home, hooks={"BeforeModel": [group(line)]})
        (ended,), _ = run(machine, self.written(machine, "a.txt") + text_script("Never said."), "go")
        assert (ended.reason, ended.text, ended.turns) == (EndReason.NOT_ALLOWED, "", 2)
        assert ended.message.startswith("Agent execution blocked: Too many.")

    def test_nor_one_on_the_side(self, machine: ProgramEnv) -> None:
        """What a tool, or a summary, asks the model."""
        settings(machine.home, hooks={"BeforeModel": [group("echo No. >&2; exit 2", name="guard")]})
        options = AgentOptions(
            (str(machine.project),), machine.script(text_script("Hi.")), environment=machine.environment
        )

        async def main() -> None:
            async with open_agent(options, None) as session:
                await session.query(ModelRequest((user_message("What is this?"),)))

        with pytest.raises(ModelFailure) as caught:
            asyncio.run(main())
        assert caught.value.kind is FailureKind.BLOCKED
        assert caught.value.message == 'Agent execution blocked: No. (Hook "guard" (BeforeModel))'

    def test_an_answer_that_a_hook_objects_to_is_paid_for_and_not_obeyed(self, machine: ProgramEnv) -> None:
        settings(machine.home, hooks={"AfterModel": [group("echo No. >&2; exit 2")]})
        calls = [made("write_file", file_path=machine.project / "a", content="x")]
        (ended,), _ = run(machine, script_answer(calls=calls, usage={"prompt": 10, "output": 5}), "go")
        assert (ended.reason, ended.usage.total) == (EndReason.NOT_ALLOWED, 15)
        assert list(machine.project.iterdir()) == []

    def test_a_model_that_ended_is_sent_on(self, machine: ProgramEnv) -> None:
        line = """grep -q '"stop_hook_active":true' || { echo 'Run the tests.' >&2; exit 2; }"""
        settings(machine.home, hooks={"Stop": [group(line)]})
        (ended,), _ = run(machine, text_script("Done.", "Tested."), "go")
        assert (ended.reason, ended.text) == (EndReason.FINISHED, "Done.\nTested.")

    def test_but_not_for_ever(self, machine: ProgramEnv) -> None:
        settings(machine.home, hooks={"AfterAgent": [group("exit 2")]})
        (ended,), events = run(machine, text_script(*(f"Answer {number}." for number in range(20))), "go")
        assert (ended.reason, ended.turns) == (EndReason.FINISHED, 9)
        assert noticed(events)[-1] == Noticed("Hooks continued the run 8 times. Ending it.")

    def test_the_time_of_a_run_is_over_for_hooks_too(self, machine: ProgramEnv) -> None:
        for event in ("BeforeAgent", "AfterAgent"):
            settings(machine.home, hooks={event: [group("sleep 600")]})
            (ended,), _ = run(machine, text_script("Hello."), "go", timeout=1.0)
            assert ended.reason is EndReason.TIME_LIMIT

    def test_the_session_from_its_beginning_to_its_end(self, machine: ProgramEnv) -> None:
        log = machine.base / "log.jsonl"
        events = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd", "Notification")
        # In one write: notifications are told beside everything else.
        line = f"told=$(cat); printf '%s\\n' \"$told\" >> {log}"
        settings(machine.home, hooks={event: [group(line)] for event in events})
        asking = [made("run_shell_command", command="echo hi")]
        (ended,), _ = run(
            machine,
            script_answer(calls=asking) + text_script("Done."),
            "go",
            person=FakeApprover([YES]),
            session_id="my-session",
        )
        assert ended.reason is EndReason.FINISHED
        told = [json.loads(line) for line in log.read_text().splitlines() if line]
        order = [each["hook_event_name"] for each in told]
        order.remove("Notification")
        assert order == ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"]
        assert {each["session_id"] for each in told} == {"my-session"}
        (transcript,) = {each["transcript_path"] for each in told}
        assert Path(transcript).is_file()
        assert told[-2]["prompt_response"] == "Done."

    def test_what_hooks_say_and_what_is_wrong_with_them_is_told(self, machine: ProgramEnv) -> None:
        settings(
            machine.home,
            hooks={
                "AfterAgent": [group("exit 7", name="late")],
                "BeforeAgent": [group("echo hi", name="early")],
                "X": [1],
            },
        )
        _, events = run(machine, text_script("Hello."), "go")
        where = machine.home / ".gemini" / "settings.json"
        unknown, *others = noticed(events)
        assert unknown.message.startswith(f"{where}:1: hooks.X is not a known event")
        assert others == [
            Noticed('Hook "early" (BeforeAgent): hi', Severity.NOTE),
            Noticed('Hook "late" (AfterAgent) failed: it exited with code 7.'),
        ]

    def test_a_summary_is_announced(self, machine: ProgramEnv) -> None:
        told = machine.base / "told.json"
        settings(machine.home, hooks={"PreCompress": [group(f"cat > {told}")]}, model={"compressionThreshold": 0.0})
        run(machine, text_script("Hello."), "go")
        assert json.loads(told.read_text())["trigger"] == "auto"


def test_hooks_and_commands_have_one_keeper(machine: ProgramEnv) -> None:
    told = machine.base / "told"
    settings(machine.home, hooks={"BeforeTool": [group(f"echo $PPID > {told}")]})
    done = call(machine, FunctionCall("run_shell_command", {"command": "echo it is $PPID"}), FakeApprover([YES]))
    assert done.error is None
    assert f"it is {told.read_text()}" in str(done.llm_content)


class TestWhoseHooks:
    def denying(self, who: str) -> dict[str, object]:
        return {"BeforeTool": [group(f"echo {who} >&2; exit 2", name=who)]}

    def trusted(self, machine: ProgramEnv) -> None:
        trust_folder(app_paths(machine.environment), str(machine.project))

    def test_a_folder_that_is_not_trusted_runs_nothing(self, machine: ProgramEnv) -> None:
        mark = machine.base / "MARK"
        events = ("SessionStart", "SessionEnd", "BeforeTool", "AfterTool", "BeforeAgent", "Stop", "BeforeModel")
        settings(machine.project, hooks={event: [group(f"touch {mark}")] for event in events})
        looking = script_answer(calls=[made("list_directory", path=machine.project)])
        (ended,), _ = run(machine, looking + text_script("Done."), "go")
        assert ended.reason is EndReason.FINISHED
        assert call(machine, FunctionCall("list_directory", {"path": str(machine.project)})).error is None
        assert not mark.exists()
        self.trusted(machine)
        run(machine, text_script("Done."), "go")
        assert mark.exists()

    def test_a_folder_cannot_switch_off_what_the_person_set(self, machine: ProgramEnv) -> None:
        settings(machine.home, hooks=self.denying("person"))
        settings(
            machine.project,
            hooks={"BeforeTool": [], "disabled": ["person"], "enabled": False},
            hooksConfig={"disabled": ["person"], "enabled": False},
        )
        self.trusted(machine)
        result = call(machine, FunctionCall("list_directory", {"path": str(machine.project)}))
        assert result.error == ToolError("Tool execution blocked: person", ErrorType.POLICY_VIOLATION)

    def test_the_hooks_of_both_run(self, machine: ProgramEnv) -> None:
        runs = machine.base / "runs"
        for folder, who in ((machine.home, "person"), (machine.project, "project")):
            settings(folder, hooks={"BeforeTool": [group(f"echo {who} >> {runs}")]})
        self.trusted(machine)
        call(machine, FunctionCall("list_directory", {"path": str(machine.project)}))
        assert runs.read_text().split() == ["project", "person"]

    def test_what_a_project_rewrites_the_person_still_judges(self, machine: ProgramEnv) -> None:
        rewriting = saying(hookSpecificOutput={"tool_input": {"content": "evil"}})
        settings(machine.project, hooks={"BeforeTool": [group(rewriting)]})
        settings(machine.home, hooks={"BeforeTool": [group("grep -q evil && { echo No. >&2; exit 2; } || true")]})
        self.trusted(machine)
        result = call(machine, writing(machine.project / "a.txt"))
        assert result.error == ToolError("Tool execution blocked: No.", ErrorType.POLICY_VIOLATION)

    def test_a_script_that_changed_since_it_was_trusted_is_not_run(self, machine: ProgramEnv) -> None:
        own = machine.project / "scripts" / "check.sh"
        script(own, "#!/bin/sh\nexit 0\n")
        settings(machine.project, hooks={"BeforeTool": [group('"$CLAUDE_PROJECT_DIR"/scripts/check.sh', name="check")]})
        self.trusted(machine)
        target = machine.project / "a.txt"
        changing = script_answer(calls=[made("write_file", file_path=own, content=f"touch {machine.base}/MARK")])
        going_on = script_answer(calls=[made("write_file", file_path=target, content="x")])
        (ended,), events = run(machine, changing + going_on + text_script("Done."), "go")
        assert ended.reason is EndReason.FINISHED
        first, second = [event.result for event in events if isinstance(event, CallFinished)]
        assert first.error is None
        assert second.error is not None
        assert "scripts/check.sh changed since this folder was trusted" in second.error.message
        assert not target.exists()
        assert not (machine.base / "MARK").exists()


GUARD_OF_GEMINI = """#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
content = event["tool_input"].get("content") or event["tool_input"].get("new_string") or ""
if "password" in content:
    print(json.dumps({"decision": "deny", "reason": "There is a password in it.", "systemMessage": "Found one."}))
else:
    print(json.dumps({"decision": "allow"}))
"""

GUARD_OF_ANOTHER = """#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
if event["hook_event_name"] != "PreToolUse" or event["tool_name"] != "Read":
    sys.exit(0)
if event["tool_input"].get("file_path", "").endswith(".env"):
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "Not that file.",
    }}))
"""

COMMANDS_OF_ANOTHER = """#!/usr/bin/env python3
import json, re, sys
event = json.load(sys.stdin)
if event.get("tool_name") == "Bash" and re.search(r"rm -rf", event["tool_input"]["command"]):
    print("That is dangerous.", file=sys.stderr)
    sys.exit(2)
"""


class TestPublishedScripts:
    """Settings and scripts in the way that both agents' users write them."""

    def test_of_this_agent(self, machine: ProgramEnv) -> None:
        script(machine.project / ".gemini" / "hooks" / "secrets.py", GUARD_OF_GEMINI)
        line = "$GEMINI_PROJECT_DIR/.gemini/hooks/secrets.py"
        hooks = {"BeforeTool": [group(line, matcher="write_file|replace", name="secrets", timeout=60000)]}
        settings(machine.project, hooks=hooks)
        trust_folder(app_paths(machine.environment), str(machine.project))
        target = machine.project / "a.txt"
        blocked = call(machine, writing(target, "my password"))
        assert blocked.error == ToolError(
            "Tool execution blocked: There is a password in it.", ErrorType.POLICY_VIOLATION
        )
        assert call(machine, writing(target, "my word")).error is None

    def test_of_another(self, machine: ProgramEnv) -> None:
        script(machine.project / ".claude" / "hooks" / "files.py", GUARD_OF_ANOTHER)
        script(machine.project / ".claude" / "hooks" / "commands.py", COMMANDS_OF_ANOTHER)
        where = '"$CLAUDE_PROJECT_DIR"/.claude/hooks'
        hooks = {
            "PreToolUse": [
                group(f"{where}/files.py", matcher="Read|Edit|Write", timeout=60),
                group(f"{where}/commands.py", matcher="Bash"),
            ]
        }
        settings(machine.project, hooks=hooks)
        for name in (".env", "a.txt"):
            (machine.project / name).write_text("x\n")
        trust_folder(app_paths(machine.environment), str(machine.project))
        read = [call(machine, FunctionCall("read_file", {"path": str(machine.project / n)})) for n in (".env", "a.txt")]
        assert [each.error for each in read] == [
            ToolError("Tool execution blocked: Not that file.", ErrorType.POLICY_VIOLATION),
            None,
        ]
        removed = call(machine, FunctionCall("run_shell_command", {"command": "rm -rf ."}), mode="yolo")
        assert removed.error == ToolError("Tool execution blocked: That is dangerous.", ErrorType.POLICY_VIOLATION)
        shown = call(machine, FunctionCall("run_shell_command", {"command": "ls"}), mode="yolo")
        assert shown.error is None


class TestFunctions:
    """Python functions of the program as hooks, in whole runs."""

    def test_no_settings_turn_them_off_and_matchers_hold(self, machine: ProgramEnv) -> None:
        settings(machine.home, hooksConfig={"enabled": False, "disabled": ["guard"]})
        seen: list[object] = []

        def guard(event: JsonObject) -> HookReply:
            seen.append(event["tool_name"])
            return HookReply("deny", "Not today.", message="I was here.")

        calls = [made("write_file", file_path=machine.project / "a", content="x"), made("glob", pattern="*")]
        hooks = ((HookEvent.BEFORE_TOOL, Hook(guard, " write_file|replace ")),)
        _, events = run(machine, script_answer(calls=calls) + text_script("Done."), "go", hooks=hooks)
        first, second = [event.result for event in events if isinstance(event, CallFinished)]
        assert first.error == ToolError("Tool execution blocked: Not today.", ErrorType.POLICY_VIOLATION)
        assert (second.error, seen) == (None, ["write_file"])
        assert [notice.message for notice in noticed(events)] == ['Hook "guard" (BeforeTool): I was here.']

    def test_they_rewrite_calls_and_add_to_prompts(self, machine: ProgramEnv) -> None:
        async def redirect(event: JsonObject) -> JsonObject:
            assert event["tool_name"] == "write_file"
            return {"hookSpecificOutput": {"tool_input": {"file_path": str(machine.project / "b")}}}

        hooks = (
            (HookEvent.BEFORE_TOOL, Hook(redirect, "*")),
            (HookEvent.BEFORE_AGENT, Hook(lambda event: HookReply(context=f"After {event['prompt']}."))),
        )
        calls = [made("write_file", file_path=machine.project / "a", content="x")]
        _, events = run(machine, script_answer(calls=calls) + text_script("Done."), "go", hooks=hooks)
        assert [path.name for path in machine.project.iterdir()] == ["b"]
        (prompted,) = [event for event in events if isinstance(event, Prompted)]
        assert prompted.message.text.endswith("<hook_context>\nAfter go.\n</hook_context>")

    def test_one_that_asks_asks_the_approver(self, machine: ProgramEnv) -> None:
        hooks = ((HookEvent.BEFORE_MODEL, Hook(lambda _: HookReply("ask", "Sure?"), name="careful")),)
        approver = FakeApprover(NO)
        (ended,), _ = run(machine, text_script("Never said."), "go", person=approver, hooks=hooks)
        assert ended.reason is EndReason.NOT_ALLOWED
        assert approver.questions[0].reason == 'Hook "careful" (BeforeModel) asks: Sure?'

    @pytest.mark.parametrize("answer", [NO, None], ids=["asked", "nobody to ask"])
    def test_a_guard_that_takes_too_long_has_failed(self, machine: ProgramEnv, answer: ApprovalReply | None) -> None:
        release = threading.Event()

        def block(_: JsonObject) -> None:
            release.wait(60)

        hooks = ((HookEvent.BEFORE_TOOL, Hook(block, name="slow", timeout=0.1)),)
        approver = None if answer is None else FakeApprover(answer)
        calls = [made("write_file", file_path=machine.project / "a", content="x")]
        script = script_answer(calls=calls) + text_script("Done.")
        _, events = run(machine, script, "go", person=approver, hooks=hooks, mode="yolo")
        release.set()
        (result,) = [event.result for event in events if isinstance(event, CallFinished)]
        failure = 'Hook "slow" (BeforeTool) failed: it took longer than 0.1 seconds.'
        assert result.error is not None
        assert list(machine.project.iterdir()) == []
        if approver is not None:
            assert approver.questions[0].reason == failure
        else:
            assert failure in result.error.message

    def test_an_observer_that_takes_too_long_is_reported(self, machine: ProgramEnv) -> None:
        async def wait(_: JsonObject) -> None:
            await asyncio.Event().wait()

        hooks = ((HookEvent.AFTER_AGENT, Hook(wait, timeout=0.1)),)
        (ended,), events = run(machine, text_script("Done."), "go", hooks=hooks)
        assert ended.text == "Done."
        assert noticed(events) == [Noticed('Hook "wait" (AfterAgent) failed: it took longer than 0.1 seconds.')]
