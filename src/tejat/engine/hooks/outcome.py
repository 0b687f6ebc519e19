"""What one hook came to: read from how its command ended and what it printed."""

import re
from collections.abc import Mapping
from typing import NoReturn

from tejat.config.hooks import Hook
from tejat.core.hooks import HookEvent
from tejat.core.json_text import NotJson, load_json
from tejat.core.types import JsonObject, JsonValue
from tejat.core.value import value
from tejat.core.words import joined, phrase
from tejat.policy.rules import Decision
from tejat.workspace.processes.program import Cause, Finished

MOST_BYTES = 2**20
"""Of what a hook prints."""
LONGEST_REASON = 4_000
LONGEST_CONTEXT = 20_000

_BLOCKS = 2
_NO_REASON = phrase("no reason given")
_IT = phrase("it")
_WORDS = {
    "allow": Decision.ALLOW,
    "approve": Decision.ALLOW,
    "ask": Decision.ASK,
    "deny": Decision.DENY,
    "block": Decision.DENY,
}
_NOT_SUPPORTED = ("llm_request", "llm_response", "toolConfig", "tailToolCallRequest", "clearContext")


@value
class Outcome:
    """What a hook says, all texts as they were printed; who shows them cleans them.

    `decision` is None or ALLOW where it has no objection. `stops` ends the run. `message` is for the person, `context`
    for the model. `new_input` are arguments that go over those of the call, or in their place. `failure` says what
    went wrong, in a sentence without its subject. `ignored` are things that were asked for and cannot be had.
    """

    hook: Hook
    decision: Decision | None = None
    reason: str = ""
    stops: bool = False
    message: str = ""
    context: str = ""
    new_input: JsonObject | None = None
    replaces_input: bool = False
    failure: str = ""
    ignored: tuple[str, ...] = ()


def failed(hook: Hook, what: str) -> Outcome:
    return Outcome(hook, failure=what)


def outcome_of(hook: Hook, finished: Finished) -> Outcome:
    """Raises nothing: what cannot be understood is a failure of the hook."""
    problem = _problem_with_end(hook, finished)
    if problem:
        return failed(hook, problem)
    if finished.exit is not None and finished.exit.code == _BLOCKS:
        return Outcome(hook, Decision.DENY, cut(_text(finished.stderr), LONGEST_REASON) or _NO_REASON)
    printed = _text(finished.stdout)
    if not printed.startswith("{"):
        return _of_words(hook, printed)
    try:
        return _of_json(hook, load_json(printed))
    except NotJson as error:
        return failed(hook, phrase("printed what is no JSON: {why}", why=error))
    except _Unclear as unclear:
        return failed(hook, phrase("printed JSON in which {unclear}", unclear=unclear))


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}... [cut]"


def _problem_with_end(hook: Hook, finished: Finished) -> str:
    if finished.cause is Cause.TIME:
        return phrase("took longer than {seconds:g} seconds and was stopped", seconds=hook.seconds)
    if finished.cause is Cause.OUTPUT:
        return phrase("printed more than {most} MiB and was stopped", most=MOST_BYTES // 2**20)
    if finished.exit is None:
        return phrase("could not be stopped")
    if finished.exit.code is None:
        return phrase("was ended by signal {signal}", signal=finished.exit.signal)
    if finished.exit.code not in (0, _BLOCKS):
        first = _text(finished.stderr).partition("\n")[0]
        told = phrase("ended with exit code {code}", code=finished.exit.code)
        return joined("", (told, f" ({cut(first, _SHOWN)})")) if first else told
    return ""


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "replace").strip()


def _of_words(hook: Hook, printed: str) -> Outcome:
    """Words are for the person; before a prompt, the other agent gives them to the model."""
    if re.search(_OBJECT, printed):
        return failed(hook, phrase("printed other things before its JSON, so that it cannot be read"))
    if hook.event is HookEvent.BEFORE_AGENT and hook.is_in_other_spelling:
        return Outcome(hook, context=cut(printed, LONGEST_CONTEXT))
    return Outcome(hook, message=cut(printed, LONGEST_REASON))


class _Unclear(Exception):
    """A field is not what it should be."""


def _of_json(hook: Hook, printed: object) -> Outcome:
    """Raises _Unclear."""
    said = _Fields(printed)
    inner = said.inner("hookSpecificOutput")
    words = filter(None, (inner.text("permissionDecision"), said.text("decision")))
    decision = max(map(_decision, words), key=lambda decision: decision.strictness, default=None)
    stops = said.boolean("continue", default=True) is False
    reason = inner.text("permissionDecisionReason") or said.text("reason")
    replacing, merging = inner.mapping("updatedInput"), inner.mapping("tool_input")
    message = "" if said.boolean("suppressOutput", default=False) else said.text("systemMessage")
    return Outcome(
        hook,
        decision,
        cut((said.text("stopReason") if stops else "") or reason or said.text("systemMessage"), LONGEST_REASON)
        or _NO_REASON,
        stops,
        cut(message, LONGEST_REASON),
        cut(inner.text("additionalContext"), LONGEST_CONTEXT),
        merging if replacing is None else replacing,
        replacing is not None,
        ignored=tuple(name for name in _NOT_SUPPORTED if inner.has(name)),
    )


def _decision(word: str) -> Decision:
    known = _WORDS.get(word)
    if known is None:
        raise _Unclear(phrase("the decision is {word!r}, which is no word for one", word=word[:_SHOWN]))
    return known


class _Fields:
    """What a JSON object says. null is as good as nothing; what is of another kind raises _Unclear."""

    def __init__(self, given: object, name: str = _IT) -> None:
        if not isinstance(given, dict):
            _fail(name, phrase("an object"))
        self._given: Mapping[str, JsonValue] = given

    def has(self, name: str) -> bool:
        return self._given.get(name) is not None

    def text(self, name: str) -> str:
        found = self._given.get(name)
        if found is None:
            return ""
        return found.strip() if isinstance(found, str) else _fail(name, phrase("a text"))

    def boolean(self, name: str, *, default: bool) -> bool:
        found = self._given.get(name)
        if found is None:
            return default
        return found if isinstance(found, bool) else _fail(name, phrase("true or false"))

    def mapping(self, name: str) -> JsonObject | None:
        found = self._given.get(name)
        return found if found is None or isinstance(found, Mapping) else _fail(name, phrase("an object"))

    def inner(self, name: str) -> "_Fields":
        found = self._given.get(name)
        return _Fields({} if found is None else found, name)


def _fail(name: str, wanted: str) -> NoReturn:
    raise _Unclear(phrase("{name} is not {wanted}", name=name, wanted=wanted))


_SHOWN = 200
_OBJECT = r"(?m)^\s*\{"
