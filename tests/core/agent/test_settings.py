"""Settings of an agent: what is accepted, and what is refused in which words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from tejat.core.agent.hooks import Hook, HookEvent
from tejat.core.agent.options import PLAN_APPROVALS, AgentOptions
from tejat.core.agent.settings import AgentSettings, check_prompt, parse_settings
from tejat.core.approval.modes import ApprovalMode, ModeName, PlanModeName, SandboxName, parse_sandbox_word
from tejat.core.frozen import fields_of, replace
from tejat.core.messages.prompt import Attachment
from tejat.core.messages.types import FunctionResponse, Text
from tejat.core.model import ModelRequest
from tejat.core.tools.base import BaseTool
from tejat.engine.sessions.storage_sessions import MemoryStorage
from tejat.tools.python.function_tool import tool

DEFAULTS = AgentOptions(names_arguments=True)


class OwnModel:
    async def stream(self, _: ModelRequest) -> Any:
        yield "Hello."


@tool
def noted() -> None:
    """Does nothing."""


def guard(_: object) -> None:
    """Objects to nothing."""


def test_the_settings_are_those_of_the_options() -> None:
    fields = {field.name for field in fields_of(AgentOptions)}
    assert set(AgentSettings.__annotations__) == fields - {"client", "names_arguments"}


def test_every_default_can_be_given() -> None:
    given: Any = {name: getattr(DEFAULTS, name) for name in AgentSettings.__annotations__}
    given |= {"answers": {}, "hooks": {}}
    assert parse_settings(given) == DEFAULTS


def test_the_words_are_those_of_the_modes() -> None:
    assert sorted(get_args(ModeName)) == sorted(ApprovalMode)
    assert get_args(PlanModeName) == PLAN_APPROVALS
    assert {"auto", "required", "off"} <= set(get_args(SandboxName))
    assert all(parse_sandbox_word(word) for word in get_args(SandboxName))


class AsyncStorage(MemoryStorage):
    async def append(self, session_id: str, lines: Sequence[str], position: int) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]


class OldStorage(MemoryStorage):
    def append(self, session_id: str, lines: Sequence[str]) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]


MODEL, STORAGE = OwnModel(), MemoryStorage()


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        ({"directories": "a"}, {"directories": ("a",)}),
        ({"directories": Path("a")}, {"directories": ("a",)}),
        ({"directories": iter(["a", Path("b")])}, {"directories": ("a", "b")}),
        ({"allowed_tools": "b"}, {"allowed_tools": ("b",)}),
        ({"tools": noted}, {"tools": (noted,)}),
        ({"tools": [noted]}, {"tools": (noted,)}),
        ({"answers": {"a": "b"}}, {"answers": (("a", "b"),)}),
        ({"extensions": "x"}, {"extensions": ("x",)}),
        ({"mode": ApprovalMode.PLAN}, {"mode": "plan"}),
        ({"max_cost": 0, "timeout": 1, "max_turns": 1}, {"max_cost": 0, "timeout": 1, "max_turns": 1}),
        ({"record": Path("r")}, {"record": "r"}),
        ({"model": "openai:x"}, {"model": "openai:x"}),
        ({"model": MODEL}, {"client": MODEL}),
        ({"storage": STORAGE}, {"storage": STORAGE}),
        (
            {"hooks": {"BeforeTool": guard, "AfterTool": [Hook(guard, "read"), guard]}},
            {
                "hooks": (
                    (HookEvent.BEFORE_TOOL, Hook(guard)),
                    (HookEvent.AFTER_TOOL, Hook(guard, "read")),
                    (HookEvent.AFTER_TOOL, Hook(guard)),
                )
            },
        ),
        (
            {"hooks": [Hook(guard, event="AfterTool"), Hook(guard, event=HookEvent.BEFORE_TOOL)]},
            {
                "hooks": (
                    (HookEvent.AFTER_TOOL, Hook(guard, event="AfterTool")),
                    (HookEvent.BEFORE_TOOL, Hook(guard, event="BeforeTool")),
                )
            },
        ),
        (
            {"hooks": Hook(guard, event="AfterTool")},
            {"hooks": ((HookEvent.AFTER_TOOL, Hook(guard, event="AfterTool")),)},
        ),
    ],
)
def test_accepted(given: Any, changes: dict[str, Any]) -> None:
    assert parse_settings(given) == replace(DEFAULTS, **changes)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("modell", "x", "Agent has no setting 'modell'. Did you mean 'model'?"),
        ("zzzzzzzzzzzz", "x", "Agent has no setting 'zzzzzzzzzzzz'."),
        ("max_turns", "5", "max_turns must be a whole number greater than 0, not '5'."),
        ("max_turns", 1.5, "max_turns must be a whole number greater than 0, not 1.5."),
        ("max_tokens", True, "max_tokens must be a whole number greater than 0, not True."),
        ("timeout", "1", "timeout must be seconds greater than 0, not '1'."),
        ("max_cost", "1", "max_cost must be dollars, 0 or more, not '1'."),
        ("directories", None, "directories must be a path or several paths, not None."),
        ("directories", ["a", 5], "directories must be a path or several paths, not 5."),
        ("directories", {"a": 1}, "directories must be a path or several paths, not an object of the type dict."),
        ("allowed_tools", b"x", "allowed_tools must be a name or several names, not b'x'."),
        ("mode", 5, "mode must be one of 'default', 'auto_edit', 'plan', 'yolo', not 5."),
        ("trusts_folder", "no", "trusts_folder must be True or False, not 'no'."),
        ("system", 5, "system must be a string, not 5."),
        ("system", b"x" * 100, f"system must be a string, not {repr(b'x' * 100)[:60]}...."),
        ("record", 5, "record must be a path, not 5."),
        (
            "tools",
            [print],
            "tools must be tools (a function becomes one with `@tool`, a class by calling it), not the function print.",
        ),
        (
            "tools",
            BaseTool,
            "tools must be tools (a function becomes one with `@tool`, a class by calling it), not the class BaseTool.",
        ),
        (
            "model",
            OwnModel,
            "model must be a model name or an object with the method `stream` (",
        ),
        (
            "storage",
            {},
            "storage must be an object with the methods of `SessionStorage`, not an object of the type dict.",
        ),
        ("storage", AsyncStorage(), "storage: the method `append` must be a plain function, not an `async` one."),
        ("storage", OldStorage(), "storage: the method `append` must take three arguments: session_id, lines and "),
        (
            "environment",
            {"API_KEY": 5},
            "environment must be a mapping of strings to strings, not a mapping in which 'API_KEY' is of the type int.",
        ),
        (
            "answers",
            {"a": 1},
            "answers must be a mapping from question headers to answers (strings), not a mapping in which 'a' is of ",
        ),
        (
            "mcp_servers",
            [],
            "mcp_servers must be a mapping from names to servers, not an object of the type list.",
        ),
        ("buffers", 5, "buffers must be an object with the methods `read` and `write`, not 5."),
        ("terminals", "tty", "terminals must be an object with the method `start`, not 'tty'."),
        ("hooks", guard, "hooks must be a list of hooks or a mapping from events to functions, not <function guard"),
        ("hooks", None, "hooks must be a list of hooks or a mapping from events to functions, not None."),
        ("hooks", {"BeforeTool": "guard"}, "hooks must be functions or `Hook` objects, not 'guard'."),
        ("hooks", {"BeforeTool": OwnModel}, "hooks must be functions or `Hook` objects, not the class OwnModel."),
        ("hooks", {"BeforeTool": lambda: None}, "The hook '<lambda>' must take one argument, the event."),
        ("hooks", [Hook(noted.execute, event="BeforeTool")], "The hook 'execute' must take one argument"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_wrong_types(name: str, value: Any, message: str) -> None:
    settings: Any = {name: value}
    with pytest.raises(TypeError) as caught:
        parse_settings(settings)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "yes"}, "mode must be one of 'default', 'auto_edit', 'plan', 'yolo', not 'yes'."),
        ({"approve_plan": "yolo"}, "approve_plan must be one of 'default', 'auto_edit', not 'yolo'."),
        ({"sandbox": "on"}, "sandbox must be one of 'auto', 'required', 'off', 'true', 'false', "),
        ({"model": ""}, "model must be a model name or an object with the method `stream` "),
        ({"session_id": " "}, "session_id must be a string that is not empty, not ' '."),
        ({"resume": ""}, "resume must be a string that is not empty, not ''."),
        ({"max_turns": 0}, "max_turns must be a whole number greater than 0, not 0."),
        ({"max_tokens": -1}, "max_tokens must be a whole number greater than 0, not -1."),
        ({"max_cost": -0.5}, "max_cost must be dollars, 0 or more, not -0.5."),
        ({"timeout": 0}, "timeout must be seconds greater than 0, not 0."),
        ({"timeout": float("nan")}, "timeout must be seconds greater than 0, not nan."),
        ({"timeout": float("inf")}, "timeout must be seconds greater than 0, not inf."),
        ({"directories": ()}, "directories is empty. An agent needs a directory to work in."),
        ({"directories": ""}, 'directories has an empty path. Use "." for the current directory.'),
        ({"directories": ["a", ""]}, "directories has an empty path."),
        ({"policy_paths": ""}, "policy_paths must be a path or several paths, not ''."),
        ({"admin_policy_paths": ["a", ""]}, "admin_policy_paths must be a path or several paths, not ''."),
        ({"record": ""}, "record must be a path, not ''."),
        ({"session_file": ""}, "session_file must be a path, not ''."),
        ({"storage": STORAGE, "keeps_session": False}, "storage has no effect with keeps_session=False."),
        ({"hooks": {"PreToolUse": guard}}, "hooks: unknown event 'PreToolUse'. Use one of BeforeTool, AfterTool, "),
        (
            {"hooks": [Hook(guard)]},
            "hooks: the hook 'guard' has no event. Pass {\"BeforeTool\": guard}, or set `event`.",
        ),
        (
            {"hooks": {"AfterTool": Hook(guard, name="g", event="BeforeTool")}},
            "hooks: the hook 'g' is for BeforeTool, but is listed under AfterTool.",
        ),
        ({"model": MODEL, "replay": "file"}, "model has no effect with replay."),
    ],
)
def test_wrong_values(settings: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the message is compared below
        parse_settings(settings)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("prompt", ["", "hello", ["hello", Text("x")], [], (Attachment("a", ()),)])
def test_prompts(prompt: object) -> None:
    assert check_prompt(prompt)


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (None, "prompt must be a string or a list of parts, not None."),
        (b"x", "prompt must be a string or a list of parts, not b'x'."),
        (["x", 5], "prompt must be a string or a list of strings and parts, not 5."),
        (["x", Text(5)], "Text.text must be a string, not 5."),  # pyright: ignore[reportArgumentType]
        (
            [FunctionResponse("glob", {})],
            "prompt cannot have a FunctionResponse: the model has called nothing that it answers.",
        ),
    ],
)
def test_no_prompts(prompt: object, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        check_prompt(prompt)
    assert str(caught.value) == message
