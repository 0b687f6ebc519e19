"""The hooks around a session: prompts and requests that must wait for them, and what they add."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from support.approver import NO, YES, FakeApprover
from support.hooks import hook_environment, make_hook, print_command, run
from tejat.config.hooks import HookConfig
from tejat.core.agent.events import SessionSource
from tejat.core.approval.confirmation import ApprovalRequest, InfoConfirmation
from tejat.core.errors import StoppedByHook
from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, InlineData
from tejat.core.model import ModelRequest, ModelResponse, Usage
from tejat.engine.hooks.dispatcher import HookDispatcher
from tejat.engine.hooks.session_hooks import SessionHooks
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

REQUEST = ModelRequest(
    (
        user_message("Look at", InlineData("image/png", b"xyz")),
        model_message(FunctionCall("note", {"text": "a"}, "1")),
    ),
    "Be kind.",
)
WITH_TOOLS = replace(
    REQUEST,
    tools=tuple(FunctionDeclaration(name, "", {}) for name in ("read_file", "glob", "files__stat", "write_file")),
)
ANSWER = ModelResponse(model_message("Fine."), usage=Usage(prompt=3, output=4))
FAILED = 'Hook "guard" ({}) failed: it exited with code 1.'


def saying(**printed: object) -> str:
    return print_command(json.dumps(printed))


def hooks(
    directory: Path, supervisor: ProcessSupervisor, *given: HookConfig, approver: FakeApprover | None = None
) -> SessionHooks:
    return SessionHooks(HookDispatcher(given, hook_environment(directory, supervisor)), approver)


def hook_input(directory: Path) -> dict[str, Any]:
    """What was told besides what every hook is told."""
    given = json.loads((directory / "told.json").read_text())
    return {name: given[name] for name in list(given)[5:]}


STEPS: list[tuple[str, Callable[[SessionHooks], Awaitable[object]], str]] = [
    ("BeforeAgent", lambda hooks: hooks.before_prompt("Go.", source=SessionSource.STARTUP), "the prompt"),
    ("BeforeModel", lambda hooks: hooks.before_model(REQUEST, "first"), "the request"),
    ("BeforeToolSelection", lambda hooks: hooks.select_tools(WITH_TOOLS, "first"), "the request"),
]


@pytest.mark.parametrize(("event", "step", "what"), STEPS)
class TestGuards:
    def stopped(self, given: SessionHooks, step: Callable[[SessionHooks], Awaitable[object]]) -> str:
        async def main() -> None:
            await step(given)

        with pytest.raises(StoppedByHook) as caught:
            run(main())
        return str(caught.value)

    def test_denied_and_stopped(
        self,
        tmp_path: Path,
        supervisor: ProcessSupervisor,
        event: str,
        step: Callable[[SessionHooks], Awaitable[object]],
        what: str,
    ) -> None:
        denying = hooks(tmp_path, supervisor, make_hook("echo No. >&2; exit 2", event), approver=FakeApprover([YES]))
        assert self.stopped(denying, step) == f'Agent execution blocked: No. (Hook "guard" ({event}))'
        stopping = hooks(tmp_path, supervisor, make_hook(saying(**{"continue": False, "stopReason": "Stop."}), event))
        assert self.stopped(stopping, step) == f'Agent execution stopped by hook: Stop. (Hook "guard" ({event}))'

    def test_one_that_fails_or_asks_is_for_the_user_to_decide(
        self,
        tmp_path: Path,
        supervisor: ProcessSupervisor,
        event: str,
        step: Callable[[SessionHooks], Awaitable[object]],
        what: str,
    ) -> None:
        approver = FakeApprover([YES, NO])
        given = hooks(tmp_path, supervisor, make_hook("exit 1", event), approver=approver)

        async def main() -> None:
            await step(given)

        run(main())
        assert self.stopped(given, step) == f"{FAILED.format(event)} You chose to stop."
        shown = InfoConfirmation("A hook asks for confirmation", f"If you continue, {what} is sent to the model.")
        assert approver.questions == [ApprovalRequest(shown, "hooks", FAILED.format(event))] * 2
        asking = hooks(tmp_path, supervisor, make_hook(saying(decision="ask", reason="Sure?"), event))
        assert self.stopped(asking, step).startswith(f'Hook "guard" ({event}) asks: Sure? No terminal to ask on')

    def test_without_anybody_nothing_is_sent(
        self,
        tmp_path: Path,
        supervisor: ProcessSupervisor,
        event: str,
        step: Callable[[SessionHooks], Awaitable[object]],
        what: str,
    ) -> None:
        given = hooks(tmp_path, supervisor, make_hook("exit 1", event))
        assert self.stopped(given, step) == (f"{FAILED.format(event)} No terminal to ask on, so nothing was sent.")


class TestPrompts:
    def test_a_session_begins_once(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        given = hooks(
            tmp_path,
            supervisor,
            make_hook("cat > told.json; echo x >> begun", "SessionStart"),
            make_hook(saying(hookSpecificOutput={"additionalContext": "It rains."}), "SessionStart"),
            make_hook(saying(hookSpecificOutput={"additionalContext": "Mind."}), "BeforeAgent"),
        )
        first = run(given.before_prompt("Go.", source=SessionSource.RESUME))
        assert first == "<hook_context>\nIt rains.\n</hook_context>\n\n<hook_context>\nMind.\n</hook_context>"
        assert hook_input(tmp_path) == {"source": "resume"}
        assert run(given.before_prompt("On.", source=SessionSource.RESUME)) == "<hook_context>\nMind.\n</hook_context>"
        assert (tmp_path / "begun").read_text() == "x\n"

    def test_a_new_session_is_called_startup(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        starting = make_hook("cat > told.json", "SessionStart", matcher="startup")
        run(hooks(tmp_path, supervisor, starting).before_prompt("Go.", source=SessionSource.STARTUP))
        assert hook_input(tmp_path) == {"source": "startup"}

    def test_the_prompt(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        run(
            hooks(tmp_path, supervisor, make_hook("cat > told.json", "UserPromptSubmit")).before_prompt(
                "Go.", source=SessionSource.STARTUP
            )
        )
        assert hook_input(tmp_path) == {"prompt": "Go."}

    def test_the_end(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        given = hooks(tmp_path, supervisor, make_hook("cat > told.json; echo Tests! >&2; exit 2", "AfterAgent"))
        words = run(given.after_prompt("Go.", "Done.", is_repeated=True))
        assert words == "<hook_context>\nTests!\n</hook_context>"
        assert hook_input(tmp_path) == {"prompt": "Go.", "prompt_response": "Done.", "stop_hook_active": True}

    @pytest.mark.parametrize("line", ["true", "exit 1", saying(**{"continue": False, "decision": "block"})])
    def test_nothing_to_go_on_with(self, tmp_path: Path, supervisor: ProcessSupervisor, line: str) -> None:
        given = hooks(tmp_path, supervisor, make_hook(line, "Stop"))
        assert run(given.after_prompt("Go.", "Done.", is_repeated=False)) == ""


class TestRequests:
    MESSAGES = (
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Look at\n[image/png, 3 bytes]"},
        {"role": "model", "content": '{"functionCall":{"id":"1","name":"note","args":{"text":"a"}}}'},
    )

    def test_before(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        run(hooks(tmp_path, supervisor, make_hook("cat > told.json", "BeforeModel")).before_model(REQUEST, "first"))
        assert hook_input(tmp_path) == {"llm_request": {"model": "first", "messages": list(self.MESSAGES)}}

    def test_after(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        given = hooks(tmp_path, supervisor, make_hook("cat > told.json; exit 2", "AfterModel"))
        with pytest.raises(StoppedByHook, match="Agent execution blocked: no reason given"):
            run(given.after_model(REQUEST, "first", ANSWER))
        assert hook_input(tmp_path)["llm_response"] == {
            "text": "Fine.",
            "candidates": [{"content": {"role": "model", "parts": ["Fine."]}, "finishReason": "STOP"}],
            "usageMetadata": {"totalTokenCount": 7},
        }

    def test_a_failure_afterwards_stops_nothing(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        run(hooks(tmp_path, supervisor, make_hook("exit 1", "AfterModel")).after_model(REQUEST, "first", ANSWER))

    def test_before_a_summary(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        run(hooks(tmp_path, supervisor, make_hook("cat > told.json; exit 2", "PreCompact")).before_compress())
        assert hook_input(tmp_path) == {"trigger": "auto"}


class TestClosing:
    def test_the_end_of_a_session_that_began(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        given = hooks(tmp_path, supervisor, make_hook("cat > told.json", "SessionEnd"))
        run(given.close())
        assert not (tmp_path / "told.json").exists()

        async def main() -> None:
            await given.before_prompt("Go.", source=SessionSource.STARTUP)
            await given.close()

        run(main())
        assert hook_input(tmp_path) == {"reason": "exit"}


class TestToolSelection:
    def names_left(self, directory: Path, supervisor: ProcessSupervisor, *configs: object) -> list[str]:
        given = [
            make_hook(saying(hookSpecificOutput={"toolConfig": config}), event="BeforeToolSelection")
            for config in configs
        ]
        request = run(hooks(directory, supervisor, *given).select_tools(WITH_TOOLS, "first"))
        return [tool.name for tool in request.tools]

    @pytest.mark.parametrize(
        ("configs", "left"),
        [
            ([{}], ["read_file", "glob", "files__stat", "write_file"]),
            ([{"mode": "AUTO"}], ["read_file", "glob", "files__stat", "write_file"]),
            ([{"mode": "NONE"}, {"allowedFunctionNames": ["glob"]}], []),
            ([{"mode": "ANY", "allowedFunctionNames": ["GlobTool", "run_shell_command"]}], ["glob"]),
            (
                [{"allowedFunctionNames": ["mcp_files_stat"]}, {"allowedFunctionNames": ["glob"]}],
                ["glob", "files__stat"],
            ),
        ],
    )
    def test_which_tools_are_left(
        self, tmp_path: Path, supervisor: ProcessSupervisor, configs: list[object], left: list[str]
    ) -> None:
        assert self.names_left(tmp_path, supervisor, *configs) == left

    @pytest.mark.parametrize("config", [{"mode": "SOME"}, {"allowedFunctionNames": [5]}, 5])
    def test_one_that_cannot_be_understood_stops_the_request(
        self, tmp_path: Path, supervisor: ProcessSupervisor, config: object
    ) -> None:
        with pytest.raises(StoppedByHook, match=r"toolConfig|allowedFunctionNames"):
            self.names_left(tmp_path, supervisor, config)

    def test_without_tools_nothing_is_run(self, tmp_path: Path, supervisor: ProcessSupervisor) -> None:
        hook = make_hook("exit 2", event="BeforeToolSelection")
        assert run(hooks(tmp_path, supervisor, hook).select_tools(REQUEST, "first")) is REQUEST
