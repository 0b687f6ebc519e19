"""The hooks around a call: what they may do to it, and what they may not."""

import asyncio
import json
from pathlib import Path

import pytest

from support.hooks import TIMEOUT_SECONDS, hook_environment, make_hook, print_command, run
from support.note_tool import NoteTool, edit_confirmation
from tejat.config.hooks import HookConfig
from tejat.core.agent.hooks import HookedCall
from tejat.core.approval.confirmation import (
    ApprovalRequest,
    ApprovalSubject,
    AskUserConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
)
from tejat.core.approval.user_question import UserQuestion
from tejat.core.errors import CallbackFailure, ErrorType, ToolFailure
from tejat.core.messages.types import FunctionCall, InlineData, JsonObject, PartListUnion, Text
from tejat.core.tools.base import ToolError, ToolResult
from tejat.engine.hooks.dispatcher import HookDispatcher
from tejat.engine.hooks.tool_hooks import REWRITTEN_NOTICE, ToolCallHooks
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

CALL = FunctionCall("note", {"text": "a"}, "id-1")
DONE = ToolResult("wrote a", "written")
GUARD = 'Hook "guard" ({})'
MARKED = "<hook_context>\nMind.\n</hook_context>"


def saying(**printed: object) -> str:
    return print_command(json.dumps(printed))


def hooks(directory: Path, supervisor: ProcessSupervisor, *given: HookConfig) -> ToolCallHooks:
    return ToolCallHooks(HookDispatcher(given, hook_environment(directory, supervisor)))


def before(directory: Path, supervisor: ProcessSupervisor, *given: HookConfig) -> HookedCall:
    return run(hooks(directory, supervisor, *given).before_tool(CALL, NoteTool()))


def refusal(directory: Path, supervisor: ProcessSupervisor, *given: HookConfig) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        before(directory, supervisor, *given)
    return caught.value


def after(
    directory: Path,
    supervisor: ProcessSupervisor,
    *given: HookConfig,
    result: ToolResult = DONE,
    checked: HookedCall | None = None,
) -> ToolResult:
    return run(
        hooks(directory, supervisor, *given).after_tool(CALL, NoteTool(), checked or HookedCall(CALL.args), result)
    )


class Remote(NoteTool):
    server_name = "files"

    @property
    def own_name(self) -> str:
        return "write"


class TestBefore:
    def test_without_an_objection(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        for line in ("true", saying(decision="allow", reason="fine"), "echo words"):
            assert before(tmp_path, supervisor, make_hook(line)) == HookedCall(CALL.args)
        assert before(tmp_path, supervisor) == HookedCall(CALL.args)
        assert before(tmp_path, supervisor, make_hook("exit 2", matcher="other")) == HookedCall(CALL.args)

    def test_what_they_are_told(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        telling = hooks(tmp_path, supervisor, make_hook("cat > told.json"))
        run(telling.before_tool(CALL, NoteTool()))
        told = json.loads((tmp_path / "told.json").read_text())
        assert {name: told[name] for name in list(told)[5:]} == {
            "tool_name": "note",
            "tool_input": {"text": "a"},
            "tool_use_id": "id-1",
        }
        run(telling.before_tool(FunctionCall("files__write", {}), Remote("files__write")))
        told = json.loads((tmp_path / "told.json").read_text())
        assert {name: told[name] for name in list(told)[5:]} == {
            "tool_name": "files__write",
            "tool_input": {},
            "mcp_context": {"server_name": "files", "tool_name": "write"},
        }

    @pytest.mark.parametrize("line", [saying(decision="deny", reason="No."), "echo No. >&2; exit 2"])
    def test_denied(self, tmp_path: Path, supervisor: ProcessSupervisor, line: str) -> None:
        failure = refusal(tmp_path, supervisor, make_hook("true"), make_hook(line))
        assert (failure.message, failure.error_type) == ("Tool execution blocked: No.", ErrorType.POLICY_VIOLATION)
        assert failure.display == f"Tool execution blocked: No. ({GUARD.format('BeforeTool')})"

    def test_stopped(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        stopping = make_hook(saying(**{"continue": False, "stopReason": "Enough."}))
        failure = refusal(tmp_path, supervisor, make_hook("exit 2"), stopping)
        assert (failure.message, failure.error_type) == (
            "Agent execution stopped by hook: Enough.",
            ErrorType.STOP_EXECUTION,
        )

    def test_asked(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        checked = before(tmp_path, supervisor, make_hook(saying(decision="ask", systemMessage="Sure?")))
        assert checked == HookedCall(CALL.args, objection=f"{GUARD.format('BeforeTool')} asks: Sure?")

    @pytest.mark.parametrize("line", ["exit 1", "sleep 60", "echo '{'", "kill -9 $$"])
    def test_one_that_fails_does_not_allow(self, tmp_path: Path, supervisor: ProcessSupervisor, line: str) -> None:
        checked = before(tmp_path, supervisor, make_hook(line, timeout=0.3), make_hook(saying(decision="allow")))
        assert checked.objection.startswith(f"{GUARD.format('BeforeTool')} failed: it ")

    def test_one_that_is_not_understood_denies(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        failure = refusal(tmp_path, supervisor, make_hook("", problem="settings.json:4: matcher must be a string."))
        assert failure.message == "Tool execution blocked: settings.json:4: matcher must be a string."

    def test_rewritten(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        new = {"hookSpecificOutput": {"tool_input": {"text": "b"}, "additionalContext": "Mind."}}
        assert before(tmp_path, supervisor, make_hook(saying(**new))) == HookedCall(
            {"text": "b"}, is_rewritten=True, context=MARKED
        )
        same = {"hookSpecificOutput": {"tool_input": {"text": "a"}}}
        assert before(tmp_path, supervisor, make_hook(saying(**same))) == HookedCall({"text": "a"})

    def test_rewritten_into_what_the_tool_does_not_take(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        for new, why in (({"text": 5}, "params/text must be string"), ({"text": "forbidden"}, "that may not be said")):
            failure = refusal(tmp_path, supervisor, make_hook(saying(hookSpecificOutput={"tool_input": new})))
            assert failure.message == f"Tool parameter modification by hook failed validation: {why}"
            assert failure.error_type is ErrorType.INVALID_TOOL_PARAMS


class TestAfter:
    def test_what_they_are_told(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        assert after(tmp_path, supervisor, make_hook("cat > told.json", "AfterTool")) == DONE
        told = json.loads((tmp_path / "told.json").read_text())
        assert told["tool_response"] == {"llmContent": "wrote a", "returnDisplay": "written"}
        failed = ToolResult("x", "x", ToolError("gone", ErrorType.FILE_NOT_FOUND))
        after(tmp_path, supervisor, make_hook("cat > told.json", "AfterTool"), result=failed)
        told = json.loads((tmp_path / "told.json").read_text())
        assert told["tool_response"]["error"] == {"type": "file_not_found", "message": "gone"}

    def test_the_result_is_hidden(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        result = after(tmp_path, supervisor, make_hook(saying(decision="block", reason="Secret."), "AfterTool"))
        told = "Tool result blocked: Secret."
        shown = f"{told} ({GUARD.format('AfterTool')})"
        assert result == ToolResult(told, shown, ToolError(told, ErrorType.EXECUTION_FAILED))

    def test_the_other_agent_only_objects(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        result = after(tmp_path, supervisor, make_hook("echo 'Line 3 is wrong.' >&2; exit 2", "PostToolUse"))
        assert result == ToolResult("wrote a\n\n<hook_context>\nLine 3 is wrong.\n</hook_context>", "written")

    def test_the_run_is_stopped(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        result = after(
            tmp_path, supervisor, make_hook(saying(**{"continue": False, "stopReason": "Enough."}), "AfterTool")
        )
        assert result.error == ToolError("Agent execution stopped by hook: Enough.", ErrorType.STOP_EXECUTION)

    def test_one_that_fails_changes_nothing(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        assert after(tmp_path, supervisor, make_hook("exit 1", "AfterTool")) == DONE

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("text", f"text\n\n{MARKED}"),
            (Text("text"), Text(f"text\n\n{MARKED}")),
            (["text"], f"text\n\n{MARKED}"),
            ([Text("a"), "b"], [Text("a"), "b", MARKED]),
            (InlineData("image/png", b"x"), [InlineData("image/png", b"x"), MARKED]),
            ([], [MARKED]),
        ],
    )
    def test_words_are_added_to_any_content(
        self, tmp_path: Path, supervisor: ProcessSupervisor, content: PartListUnion, expected: PartListUnion
    ) -> None:
        adding = make_hook(saying(hookSpecificOutput={"additionalContext": "Mind."}), "AfterTool")
        assert after(tmp_path, supervisor, adding, result=ToolResult(content, "shown")) == ToolResult(expected, "shown")

    def test_words_are_added_to_a_failure(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        failed = ToolResult("x", "x", ToolError("gone", ErrorType.FILE_NOT_FOUND))
        checked = HookedCall(CALL.args, is_rewritten=True, context="[context]")
        result = after(tmp_path, supervisor, result=failed, checked=checked)
        assert result.error == ToolError(f"gone{REWRITTEN_NOTICE}\n\n[context]", ErrorType.FILE_NOT_FOUND)


class TestAsked:
    CONFIRMATIONS: tuple[tuple[ApprovalSubject, JsonObject], ...] = (
        (
            edit_confirmation("a"),
            {"type": "edit", "title": "Confirm Note", "fileName": "note", "filePath": "/w/note", "fileDiff": "+a"},
        ),
        (
            ExecConfirmation("Shell", "ls -l", "/w", ("ls",)),
            {"type": "exec", "title": "Shell", "command": "ls -l", "rootCommand": "ls"},
        ),
        (
            McpConfirmation("Call", "files", "read", "Read"),
            {"type": "mcp", "title": "Call", "serverName": "files", "toolName": "read"},
        ),
        (
            InfoConfirmation("Fetch", "a page", ("https://x",)),
            {"type": "info", "title": "Fetch", "prompt": "a page", "urls": ["https://x"]},
        ),
        (
            ElicitationConfirmation("Tell", "files", "Your name?"),
            {"type": "elicitation", "title": "Tell", "serverName": "files", "message": "Your name?"},
        ),
        (
            AskUserConfirmation("The model asks", (UserQuestion("Your name?", "Name"),)),
            {
                "type": "ask_user",
                "title": "The model asks",
                "questions": [{"question": "Your name?", "header": "Name", "type": "text"}],
            },
        ),
    )

    @pytest.mark.parametrize(("asked", "details"), CONFIRMATIONS)
    def test_somebody_is_notified_meanwhile(
        self, tmp_path: Path, supervisor: ProcessSupervisor, asked: ApprovalSubject, details: JsonObject
    ) -> None:
        notified = tmp_path / "told.json"

        async def main() -> None:
            telling = hooks(tmp_path, supervisor, make_hook("cat > part; mv part told.json", "Notification"))
            telling.notify_question(ApprovalRequest(asked, "note"))
            for _ in range(int(TIMEOUT_SECONDS / 0.02)):
                if notified.exists():
                    break
                await asyncio.sleep(0.02)
            await telling.close()

        run(main())
        told = json.loads(notified.read_text())
        assert {name: told[name] for name in list(told)[5:]} == {
            "notification_type": "ToolPermission",
            "message": "note needs your permission.",
            "details": details,
        }

    def test_what_a_notified_function_raises_is_raised_at_the_next_call(
        self, tmp_path: Path, supervisor: ProcessSupervisor
    ) -> None:
        error = KeyError("lost")

        async def main() -> None:
            was_called = asyncio.Event()

            async def fail(_: object) -> None:
                was_called.set()
                raise error

            telling = hooks(tmp_path, supervisor, make_hook("", "Notification", function=fail))
            telling.notify_question(ApprovalRequest(edit_confirmation("a"), "note"))
            await was_called.wait()
            for _ in range(5):
                await asyncio.sleep(0)
            with pytest.raises(CallbackFailure) as caught:
                telling.raise_failure()
            assert caught.value.error is error
            telling.raise_failure()

        run(main())

    def test_closing_ends_what_still_notifies(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        async def main() -> None:
            telling = hooks(tmp_path, supervisor, make_hook("sleep 600; touch MARK", "Notification"))
            telling.notify_question(ApprovalRequest(edit_confirmation("a"), "note"))
            await asyncio.sleep(0)
            await telling.close()
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(main())
        assert not (tmp_path / "MARK").exists()

    def test_without_such_hooks_nothing_is_begun(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        async def main() -> None:
            hooks(tmp_path, supervisor, make_hook("true")).notify_question(
                ApprovalRequest(edit_confirmation("a"), "note")
            )
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(main())
