"""The result of one hook, parsed from its exit status and output, or from what a function returned."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn, cast

from tejat.config.hooks import HookConfig
from tejat.core.agent.hooks import HookEvent, HookReply
from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.text.str_enum import StrEnum
from tejat.policy.types import Decision
from tejat.workspace.processes.program import ProgramEndReason, ProgramResult

MAX_OUTPUT_BYTES = 2**20
"""Limit for the output of a hook."""
MAX_REASON_LENGTH = 4_000
MAX_CONTEXT_LENGTH = 20_000

_BLOCKING_EXIT_CODE = 2
_NO_REASON = lazy("no reason given")
_ROOT_NAME = lazy("it")
_DECISIONS = {
    "allow": Decision.ALLOW,
    "approve": Decision.ALLOW,
    "ask": Decision.ASK,
    "deny": Decision.DENY,
    "block": Decision.DENY,
}
_FIELDS = ("decision", "reason", "continue", "stopReason", "systemMessage", "suppressOutput", "hookSpecificOutput")
_UNSUPPORTED_FIELDS = ("llm_request", "llm_response", "toolConfig", "tailToolCallRequest", "clearContext")
_INNER_FIELDS = (
    *("hookEventName", "permissionDecision", "permissionDecisionReason", "tool_input", "updatedInput"),
    *("additionalContext", *_UNSUPPORTED_FIELDS),
)


class ToolMode(StrEnum):
    """What a hook wants the model to do with tools. The values are the words of Gemini's API."""

    AUTO = "AUTO"
    ANY = "ANY"
    NONE = "NONE"


class ToolSelection(NamedTuple):
    """The tools that a hook leaves to the model. No names mean all."""

    mode: ToolMode
    names: tuple[str, ...] = ()


class HookResult(Frozen):
    """The result of a hook. Its texts are not sanitised.

    `decision` is None or ALLOW if there is no objection. `stops` ends the run. `message` is for the user, `context` for
    the model. `new_input` is merged into the arguments of the call, or replaces them if `replaces_input`. `failure`
    completes the sentence "The hook ...". `ignored` are requested features that are not supported. `selection` limits
    the tools of the next request.
    """

    hook: HookConfig
    decision: Decision | None = None
    reason: str = ""
    stops: bool = False
    message: str = ""
    context: str = ""
    new_input: JsonObject | None = None
    replaces_input: bool = False
    failure: str = ""
    ignored: tuple[str, ...] = ()
    selection: ToolSelection | None = None


def failed_result(hook: HookConfig, what: str) -> HookResult:
    return HookResult(hook, failure=what)


def parse_result(hook: HookConfig, finished: ProgramResult) -> HookResult:
    """Parse the result of a finished hook. Anything invalid is a failure of the hook."""
    problem = _exit_problem(hook, finished)
    if problem:
        return failed_result(hook, problem)
    if finished.exit is not None and finished.exit.code == _BLOCKING_EXIT_CODE:
        return HookResult(hook, Decision.DENY, truncate(_decode(finished.stderr), MAX_REASON_LENGTH) or _NO_REASON)
    printed = _unquote(_decode(finished.stdout))
    if not printed and (on_stderr := _unquote(_decode(finished.stderr))).startswith("{"):
        printed = on_stderr  # some hooks print their answer there
    if not printed.startswith("{") and not _is_list(printed):
        return _parse_text(hook, printed)
    try:
        return _parse_json(hook, load_json(printed))
    except InvalidJson as error:
        return failed_result(hook, lazy("printed invalid JSON: {why}", why=error))
    except _InvalidField as invalid:
        return failed_result(hook, lazy("printed JSON where {unclear}", unclear=invalid))


def parse_answer(hook: HookConfig, answer: object) -> HookResult:
    """Parse what a Python hook returned. Raises TypeError and ValueError for anything invalid."""
    match answer:
        case None:
            return HookResult(hook)
        case HookReply():
            return _parse_reply(hook, answer)
        case Mapping():
            fields = dict(cast("Mapping[str, object]", answer))
            try:
                result = _parse_json(hook, fields)
                _check_names(fields)
                return result
            except _InvalidField as invalid:
                raise ValueError(f"The hook {hook.name!r} ({hook.event}) returned a dict where {invalid}.") from None
        case _:
            raise TypeError(
                f"The hook {hook.name!r} ({hook.event}) returned an object of the type {type(answer).__name__}. "
                "It must return None, a HookReply or a dict."
            )


def _check_names(fields: Mapping[str, object]) -> None:
    """Raises _InvalidField for a name that is unknown, and probably misspelled. The program's author can correct it."""
    inner = cast("Mapping[str, object]", fields.get("hookSpecificOutput") or {})
    for known, given in ((_FIELDS, fields), (_INNER_FIELDS, inner)):
        for name in given:
            if name not in known:
                raise _InvalidField(f"the field {name!r} is unknown (known fields: {', '.join(known)})")


def _parse_reply(hook: HookConfig, reply: HookReply) -> HookResult:
    decision = None if reply.decision is None else _DECISIONS[reply.decision]
    selection = None if reply.tools is None else ToolSelection(ToolMode.AUTO, tuple(reply.tools))
    if selection is not None and not selection.names:
        selection = ToolSelection(ToolMode.NONE)
    is_selection = hook.event is HookEvent.BEFORE_TOOL_SELECTION
    return HookResult(
        hook,
        decision,
        truncate(reply.reason, MAX_REASON_LENGTH) or _NO_REASON,
        reply.stops,
        truncate(reply.message, MAX_REASON_LENGTH),
        truncate(reply.context, MAX_CONTEXT_LENGTH),
        reply.tool_input,
        reply.replaces_input,
        ignored=() if is_selection or selection is None else ("tools",),
        selection=selection if is_selection else None,
    )


def truncate(text: str, max_length: int) -> str:
    return text if len(text) <= max_length else f"{text[:max_length]}... [cut]"


def _exit_problem(hook: HookConfig, finished: ProgramResult) -> str:
    if finished.reason is ProgramEndReason.TIME:
        return lazy("took longer than {seconds:g} seconds and was stopped", seconds=hook.timeout)
    if finished.reason is ProgramEndReason.OUTPUT:
        return lazy("printed more than {most} MiB and was stopped", most=MAX_OUTPUT_BYTES // 2**20)
    if finished.exit is None:
        return lazy("could not be killed")
    if finished.exit.code is None:
        return lazy("was killed by signal {signal}", signal=finished.exit.signal)
    if finished.exit.code not in (0, _BLOCKING_EXIT_CODE):
        first = _decode(finished.stderr).partition("\n")[0]
        message = lazy("exited with code {code}", code=finished.exit.code)
        return join_lazy("", (message, f" ({truncate(first, _MAX_SHOWN_LENGTH)})")) if first else message
    return ""


def _decode(printed: bytes) -> str:
    return printed.decode("utf-8-sig", "replace").strip()


def _unquote(printed: str) -> str:
    """Return what stands in a JSON string: some hooks encode their JSON twice."""
    while printed.startswith('"'):
        try:
            inner = load_json(printed)
        except InvalidJson:
            break
        if not isinstance(inner, str) or len(inner) >= len(printed):
            break
        printed = inner.strip()
    return printed


def _is_list(printed: str) -> bool:
    """Return whether it is a JSON list, which is no answer; text may begin with a bracket too."""
    try:
        return printed.startswith("[") and isinstance(load_json(printed), list)
    except InvalidJson:
        return False


def _parse_text(hook: HookConfig, printed: str) -> HookResult:
    """Parse plain text: a message for the user, or context for the model as in Claude Code."""
    if re.search(_JSON_OBJECT_START, printed):
        return failed_result(hook, lazy("printed other text before its JSON"))
    if hook.event is HookEvent.BEFORE_AGENT and hook.uses_claude_format:
        return HookResult(hook, context=truncate(printed, MAX_CONTEXT_LENGTH))
    return HookResult(hook, message=truncate(printed, MAX_REASON_LENGTH))


class _InvalidField(Exception):
    """A field has the wrong type or value."""


def _parse_json(hook: HookConfig, printed: object) -> HookResult:
    """Raises _InvalidField."""
    fields = _JsonFields(printed)
    inner = fields.inner("hookSpecificOutput")
    decisions = filter(None, (inner.text("permissionDecision"), fields.text("decision")))
    decision = max(map(_parse_decision, decisions), key=lambda decision: decision.strictness, default=None)
    stops = fields.boolean("continue", default=True) is False
    reason = inner.text("permissionDecisionReason") or fields.text("reason")
    replacing, merging = inner.mapping("updatedInput"), inner.mapping("tool_input")
    message = "" if fields.boolean("suppressOutput", default=False) else fields.text("systemMessage")
    reason = (fields.text("stopReason") if stops else "") or reason or fields.text("systemMessage")
    return HookResult(
        hook,
        decision,
        truncate(reason, MAX_REASON_LENGTH) or _NO_REASON,
        stops,
        truncate(message, MAX_REASON_LENGTH),
        truncate(inner.text("additionalContext"), MAX_CONTEXT_LENGTH),
        merging if replacing is None else replacing,
        replacing is not None,
        ignored=tuple(name for name in _UNSUPPORTED_FIELDS if inner.has(name) and _SUPPORTED.get(name) != hook.event),
        selection=_parse_selection(inner) if hook.event is HookEvent.BEFORE_TOOL_SELECTION else None,
    )


def _parse_selection(inner: "_JsonFields") -> ToolSelection | None:
    """Raises _InvalidField."""
    if not inner.has("toolConfig"):
        return None
    config = inner.inner("toolConfig")
    mode = config.text("mode") or ToolMode.AUTO
    if mode not in list(ToolMode):
        _fail("toolConfig.mode", lazy("AUTO, ANY or NONE"))
    return ToolSelection(ToolMode(mode), config.texts("allowedFunctionNames"))


def _parse_decision(word: str) -> Decision:
    known = _DECISIONS.get(word)
    if known is None:
        raise _InvalidField(lazy("the decision {word!r} is unknown", word=word[:_MAX_SHOWN_LENGTH]))
    return known


class _JsonFields:
    """Typed access to a JSON object, in which null means absent. Raises _InvalidField."""

    def __init__(self, data: object, name: str = _ROOT_NAME) -> None:
        if not isinstance(data, dict):
            _fail(name, lazy("an object"))
        self._data: Mapping[str, JsonValue] = data

    def has(self, name: str) -> bool:
        return self._data.get(name) is not None

    def text(self, name: str) -> str:
        value = self._data.get(name)
        if value is None:
            return ""
        return value.strip() if isinstance(value, str) else _fail(name, lazy("a string"))

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._data.get(name)
        items: Sequence[JsonValue] = () if value is None else value if isinstance(value, list) else (value,)
        texts = [item for item in items if isinstance(item, str)]
        return tuple(texts) if len(texts) == len(items) else _fail(name, lazy("a list of strings"))

    def boolean(self, name: str, *, default: bool) -> bool:
        value = self._data.get(name)
        if value is None:
            return default
        return value if isinstance(value, bool) else _fail(name, lazy("true or false"))

    def mapping(self, name: str) -> JsonObject | None:
        value = self._data.get(name)
        return value if value is None or isinstance(value, Mapping) else _fail(name, lazy("an object"))

    def inner(self, name: str) -> "_JsonFields":
        value = self._data.get(name)
        return _JsonFields({} if value is None else value, name)


def _fail(name: str, wanted: str) -> NoReturn:
    raise _InvalidField(lazy("{name} is not {wanted}", name=name, wanted=wanted))


_MAX_SHOWN_LENGTH = 200
_SUPPORTED = {"toolConfig": HookEvent.BEFORE_TOOL_SELECTION}
_JSON_OBJECT_START = r"(?m)^\s*\{"
