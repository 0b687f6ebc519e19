"""Settings of an agent as a program gives them, and their check."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import iscoroutinefunction
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypedDict, cast, get_args

from tejat.core.agent.editor import EditorBuffers, EditorTerminals
from tejat.core.agent.hook_decorator import list_hooks
from tejat.core.agent.hooks import HooksLike
from tejat.core.agent.options import AgentOptions
from tejat.core.agent.storage import SessionStorage
from tejat.core.approval.approver import takes_arguments
from tejat.core.approval.modes import ModeName, PlanModeName, SandboxName
from tejat.core.messages.prompt import Attachment, Prompt
from tejat.core.messages.types import FunctionResponse, JsonObject, Part
from tejat.core.model import Model
from tejat.core.text.edit_distance import edit_distance
from tejat.core.text.one_or_many import OnePathOrMany, PathLike, describe_wrong_mapping, list_paths
from tejat.core.tools.base import BaseTool
from tejat.core.tools.tool_check import check_tool

if TYPE_CHECKING:
    from typing import TypeGuard

_MAX_SHOWN = 60
_MAX_DISTANCE = 3
_LETTERS_PER_MISTAKE = 3


class AgentSettings(TypedDict, total=False):
    """The settings of `Agent` and `SyncAgent`. All are optional.

    Workspace: `directories` (one path or several; commands start in the first), `environment` (replaces the environment
    variables), `trusts_folder` (use the folder's own settings), `strict_settings`.

    Model: `model` (a name or a `Model`), `system` (replaces the system prompt), `record` and `replay` (files).

    Tools: `tools` (added to the built-in ones), `allowed_tools` (need no approval), `excluded_tools` (removed),
    `mcp_servers` (added), `servers` and `extensions` (names of the only ones to use), `buffers` and `terminals` (of an
    editor).

    Approvals: `mode`, `sandbox`, `policy_paths`, `admin_policy_paths`, `answers` (to questions of the model),
    `requires_answers`, `approve_plan`, `agents_in_copies`, `hooks`.

    Session: `resume` ("latest", a number or an id), `session_id`, `session_file`, `storage`, `keeps_session` (False
    saves nothing).

    Limits: `max_turns`, `max_tokens`, `max_cost` (dollars), `timeout` (seconds).
    """

    directories: OnePathOrMany
    model: str | Model | None
    mode: ModeName | None
    allowed_tools: str | Iterable[str]
    excluded_tools: str | Iterable[str]
    policy_paths: OnePathOrMany
    admin_policy_paths: OnePathOrMany
    strict_settings: bool
    sandbox: SandboxName | None
    tools: BaseTool | Iterable[BaseTool]
    servers: str | Iterable[str] | None
    mcp_servers: Mapping[str, JsonObject] | None
    buffers: EditorBuffers | None
    terminals: EditorTerminals | None
    extensions: str | Iterable[str] | None
    answers: Mapping[str, str]
    requires_answers: bool
    approve_plan: PlanModeName | None
    agents_in_copies: bool
    trusts_folder: bool
    resume: str | None
    session_id: str | None
    session_file: str | PathLike | None
    storage: SessionStorage | None
    hooks: HooksLike
    keeps_session: bool
    max_turns: int | None
    max_tokens: int | None
    max_cost: float | None
    timeout: float | None
    record: str | PathLike | None
    replay: str | PathLike | None
    system: str | None
    environment: Mapping[str, str] | None


def parse_settings(settings: AgentSettings) -> AgentOptions:
    """Check the settings and make options of them.

    Raises TypeError for an unknown setting and for a value of another type, and ValueError for a value that cannot be
    meant. The message names the argument, what was expected and what was given.
    """
    values: dict[str, Any] = {name: _parse_setting(name, value) for name, value in settings.items()}
    if isinstance(values.get("model"), Model):
        values["client"] = values.pop("model")
    options = AgentOptions(**values, names_arguments=True)
    if not options.directories:
        raise ValueError("directories is empty. An agent needs a directory to work in.")
    if "" in options.directories:
        raise ValueError('directories has an empty path. Use "." for the current directory.')
    if options.storage is not None and not options.keeps_session:
        raise ValueError("storage has no effect with keeps_session=False. Pass only one of them.")
    if options.client is not None and options.replay is not None:
        raise ValueError("model has no effect with replay. Pass only one of them.")
    return options


def check_prompt(prompt: object) -> "TypeGuard[Prompt]":
    """Return True. Raises TypeError for anything that is no prompt."""
    if not isinstance(prompt, str):
        if not isinstance(prompt, Sequence) or isinstance(prompt, bytes | bytearray):
            _refuse("prompt", "a string or a list of parts", prompt)
        for piece in cast("Sequence[object]", prompt):
            if not isinstance(piece, str | Part | Attachment):
                _refuse("prompt", "a string or a list of strings and parts", piece)
            if isinstance(piece, FunctionResponse):
                raise TypeError("prompt cannot have a FunctionResponse: the model has called nothing that it answers.")
            if isinstance(piece, Part):
                from tejat.core.messages.value_check import check_value

                check_value(piece)
    return True


def _parse_setting(name: str, value: object) -> object:
    rule = _RULES.get(name)
    if rule is None:
        raise TypeError(f"Agent has no setting {name!r}.{_suggestion(name)}")
    if value is None and rule.is_optional:
        return None
    try:
        return rule.parse(value)
    except _WrongMapping as wrong:
        raise TypeError(f"{name} must be {rule.expected}, not {wrong.value}.") from None
    except _WrongType as wrong:
        _refuse(name, rule.expected, wrong.value)
    except _WrongValue as wrong:
        raise ValueError(f"{name} must be {rule.expected}, not {describe_value(wrong.value)}.") from None


def _refuse(name: str, expected: str, given: object) -> NoReturn:
    raise TypeError(f"{name} must be {expected}, not {describe_value(given)}.") from None


def describe_value(value: object) -> str:
    """Describe a value in an error: short ones as they are written, others by their type, for they may hold secrets."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if value is None or isinstance(value, str | bytes | bool | int | float):
        shown = repr(value)
        return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    return f"an object of the type {type(value).__name__}"


def _suggestion(name: str) -> str:
    distance, nearest = min((edit_distance(name, known), known) for known in _RULES)
    return f" Did you mean {nearest!r}?" if distance <= min(_MAX_DISTANCE, len(name) // _LETTERS_PER_MISTAKE) else ""


class _WrongSetting(Exception):
    """A value that a setting cannot have."""

    def __init__(self, value: object) -> None:
        self.value = value


class _WrongType(_WrongSetting):
    """A value of another type."""


class _WrongMapping(_WrongSetting):
    """A mapping with other contents, which are described."""


class _WrongValue(_WrongSetting):
    """A value of the right type that cannot be meant."""


class _Rule(NamedTuple):
    """What a setting may be. `parse` returns the value of the option and raises _WrongType and _WrongValue."""

    expected: str
    parse: Callable[[Any], object]
    is_optional: bool = False


def _is_name(value: object) -> bool:
    return isinstance(value, str)


def _is_path(value: object) -> bool:
    return isinstance(value, str | PathLike)


def _checked(accepts: Callable[[object], bool]) -> Callable[[object], object]:
    def parse(value: object) -> object:
        if not accepts(value):
            raise _WrongType(value)
        return value

    return parse


def _several(accepts: Callable[[object], bool]) -> Callable[[object], tuple[Any, ...]]:
    """One value or several. A single string is one name, not a sequence of letters."""

    def parse(value: object) -> tuple[Any, ...]:
        if accepts(value):
            return (value,)
        if not _is_collection(value):
            raise _WrongType(value)
        values = tuple(value)
        for each in values:
            if not accepts(each):
                raise _WrongType(each)
        return values

    return parse


def _is_collection(value: object) -> "TypeGuard[Iterable[object]]":
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | type)


def _parse_path(value: object) -> str:
    if not isinstance(value, str | PathLike):
        raise _WrongType(value)
    return _refuse_empty(list_paths(value))[0]


def _parse_paths(value: object) -> tuple[str, ...]:
    return list_paths(_several(_is_path)(value))


def _parse_files(value: object) -> tuple[str, ...]:
    return _refuse_empty(_parse_paths(value))


def _refuse_empty(paths: tuple[str, ...]) -> tuple[str, ...]:
    """An empty path would be the directory in which it is looked up."""
    if "" in paths:
        raise _WrongValue("")
    return paths


def _choice(words: Sequence[str]) -> Callable[[object], str]:
    def parse(value: object) -> str:
        if not isinstance(value, str):
            raise _WrongType(value)
        if value not in words:
            raise _WrongValue(value)
        return str(value)

    return parse


def _number(*types: type, accepts: Callable[[float], bool]) -> Callable[[object], float]:
    def parse(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, types):
            raise _WrongType(value)
        number = cast("float", value)
        if not isfinite(number) or not accepts(number):
            raise _WrongValue(value)
        return number

    return parse


def _mapping(values: type) -> Callable[[object], Mapping[str, Any]]:
    def parse(value: object) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise _WrongType(value)
        if wrong := describe_wrong_mapping(cast("object", value), values):
            raise _WrongMapping(wrong)
        return cast("Mapping[str, Any]", value)

    return parse


def _parse_servers(value: object) -> Mapping[str, Any]:
    return {} if value is None else _mapping(Mapping)(value)


def _parse_answers(value: object) -> tuple[tuple[str, str], ...]:
    return tuple(_mapping(str)(value).items())


def _parse_word(value: object) -> str:
    if not isinstance(value, str):
        raise _WrongType(value)
    if not value.strip():
        raise _WrongValue(value)
    return value


def _parse_model(value: object) -> object:
    return value if isinstance(value, Model) and not isinstance(value, type) else _parse_word(value)


def _methods(*names: str) -> Callable[[object], object]:
    return _checked(lambda value: all(callable(getattr(value, name, None)) for name in names))


def _parse_storage(value: object) -> object:
    if not isinstance(value, SessionStorage) or isinstance(value, type):
        raise _WrongType(value)
    for method in (value.append, value.read, value.session_ids):
        if iscoroutinefunction(method):
            raise TypeError(f"storage: the method `{method.__name__}` must be a plain function, not an `async` one.")
    if not takes_arguments(value.append, 3):
        raise TypeError("storage: the method `append` must take three arguments: session_id, lines and position.")
    return value


def _words(alias: object) -> Sequence[str]:
    return get_args(alias)


def _one_of(alias: object) -> _Rule:
    words = _words(alias)
    return _Rule(f"one of {', '.join(map(repr, words))}", _choice(words), is_optional=True)


_TOOLS = "tools (a function becomes one with `@tool`, a class by calling it)"
_SWITCH = _Rule("True or False", _checked(lambda value: isinstance(value, bool)))
_TEXT = _Rule("a string", _checked(_is_name), is_optional=True)
_WORD = _Rule("a string that is not empty", _parse_word, is_optional=True)
_PATH = _Rule("a path", _parse_path, is_optional=True)
_PATHS = _Rule("a path or several paths", _parse_files)
_NAMES = _Rule("a name or several names", _several(_is_name))
_COUNT = _Rule("a whole number greater than 0", _number(int, accepts=lambda number: number > 0), is_optional=True)

_RULES: Mapping[str, _Rule] = {
    "directories": _PATHS._replace(parse=_parse_paths),
    "model": _Rule(
        "a model name or an object with the method `stream` (`function_model` makes one of a function)",
        _parse_model,
        is_optional=True,
    ),
    "mode": _one_of(ModeName),
    "allowed_tools": _NAMES,
    "excluded_tools": _NAMES,
    "policy_paths": _PATHS,
    "admin_policy_paths": _PATHS,
    "strict_settings": _SWITCH,
    "sandbox": _one_of(SandboxName),
    "tools": _Rule(_TOOLS, _several(lambda value: isinstance(value, BaseTool) and check_tool(value) is value)),
    "servers": _NAMES._replace(is_optional=True),
    "mcp_servers": _Rule("a mapping from names to servers", _parse_servers),
    "buffers": _Rule("an object with the methods `read` and `write`", _methods("read", "write"), is_optional=True),
    "terminals": _Rule("an object with the method `start`", _methods("start"), is_optional=True),
    "extensions": _NAMES._replace(is_optional=True),
    "answers": _Rule("a mapping from question headers to answers (strings)", _parse_answers),
    "requires_answers": _SWITCH,
    "approve_plan": _one_of(PlanModeName),
    "agents_in_copies": _SWITCH,
    "trusts_folder": _SWITCH,
    "resume": _WORD,
    "session_id": _WORD,
    "session_file": _PATH,
    "storage": _Rule(
        "an object with the methods of `SessionStorage`",
        _parse_storage,
        is_optional=True,
    ),
    "hooks": _Rule("hooks", list_hooks),
    "keeps_session": _SWITCH,
    "max_turns": _COUNT,
    "max_tokens": _COUNT,
    "max_cost": _Rule("dollars, 0 or more", _number(int, float, accepts=lambda cost: cost >= 0), is_optional=True),
    "timeout": _Rule("seconds greater than 0", _number(int, float, accepts=lambda time: time > 0), is_optional=True),
    "record": _PATH,
    "replay": _PATH,
    "system": _TEXT,
    "environment": _Rule("a mapping of strings to strings", _mapping(str), is_optional=True),
}
