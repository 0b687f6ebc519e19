"""Script files in TOML. Errors name the file, the answer and the key."""

import tomllib
from collections.abc import Collection, Mapping
from math import isfinite
from types import MappingProxyType
from typing import TypeVar, cast

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.model import CONVERSATION, NO_USAGE, FailureKind, FinishReason, Usage
from tejat.core.text.edit_distance import edit_distance
from tejat.core.text.str_enum import StrEnum

_Enum = TypeVar("_Enum", bound=StrEnum)

_DEFAULT_WINDOW = 1_000_000
_MAX_SECONDS = 3_600
_MAX_TOKENS = 10**12
_FILE_KEYS = ("answer", "topic", "context_window", "prompt", "mode", "files")
_TOPIC_KEYS = ("when", "purpose", "answer")
_TOPIC_ANSWER_KEYS = (
    *("think", "say", "call", "otherwise", "pause", "finish", "detail", "usage"),
    *("fail", "retry_after"),
)
_ANSWER_KEYS = ("purpose", "when", *_TOPIC_ANSWER_KEYS)
_CALL_KEYS = ("name", "args", "id", "expect", "expect_error", "decision", "reply", "result")
_USAGE_KEYS = ("prompt", "cached", "output", "thoughts", "tool", "cache_write")
_SUCCESS_KEYS = ("call", "finish", "usage")


class ExpectedDecision(StrEnum):
    """What the rules must decide about a call in an example."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class ScriptedReply(StrEnum):
    """What the user answers to a question in an example. `WITH` allows the tools that a skill asks for."""

    YES = "yes"
    NO = "no"
    WITH = "with"


class ScriptedCall(Frozen):
    """A call that the script makes. Its response must contain all texts in `expected`.

    `must_fail`: whether the response must be an error; None means either. The other fields count in examples of skills
    and agents only: `decision` is what the rules must decide, None for any, `reply` the answer to a question, and
    `result` what the model gets for a call that is not run.
    """

    name: str
    args: JsonObject
    id: str | None = None
    expected: tuple[str, ...] = ()
    must_fail: bool | None = None
    decision: ExpectedDecision | None = None
    reply: ScriptedReply = ScriptedReply.YES
    result: str = ""


class ScriptedAnswer(Frozen):
    """One answer, or one failure. `number` counts from 1 in the file.

    It is for a request of its `purpose` whose last prompt contains `when`. `pause` is the delay before each word in
    seconds. `detail` belongs to the finish reason or the failure. `otherwise` is said, and ends the turn, if the
    response to a call is not the expected one.
    """

    number: int
    purpose: str = CONVERSATION
    when: str = ""
    think: str = ""
    say: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    otherwise: str = ""
    pause: float = 0.0
    finish: FinishReason = FinishReason.STOP
    detail: str = ""
    usage: Usage = NO_USAGE
    fail: FailureKind | None = None
    retry_after: float | None = None


class Topic(Frozen):
    """Answers to a prompt that contains one of the texts in `when`, in any case; none means any prompt."""

    answers: tuple[ScriptedAnswer, ...]
    when: tuple[str, ...] = ()
    purpose: str = CONVERSATION

    def matches(self, prompt: str) -> bool:
        text = prompt.casefold()
        return not self.when or any(wanted.casefold() in text for wanted in self.when)


class Script(Frozen):
    """A script has either answers, given in their order, or topics, chosen by the prompt.

    In an example of a skill or an agent, `prompt` and the approval `mode` are those of the run, and `files` are those
    of its project, by relative path.
    """

    answers: tuple[ScriptedAnswer, ...]
    context_window: int = _DEFAULT_WINDOW
    topics: tuple[Topic, ...] = ()
    prompt: str = ""
    mode: str = ""
    files: Mapping[str, str] = MappingProxyType({})


def parse_script(text: str, *, file: str, placeholders: Mapping[str, str]) -> Script:
    """Parse a script. `file` names it in error messages. Raises UsageError.

    The keys of `placeholders`, like `${root}`, are replaced by their values in all texts.
    """
    try:
        values = tomllib.loads(text)
    except RecursionError:
        message = lazy("{file}: invalid TOML: nested too deeply", file=file)
        raise UsageError(message) from None
    except ValueError as error:
        raise UsageError(lazy("{file}: invalid TOML: {why}", file=file, why=error)) from None
    whole = _Table(values, file, placeholders)
    whole.check_keys(_FILE_KEYS)
    answers = _parse_answers(whole, "answer", _ANSWER_KEYS)
    topics = tuple(_parse_topic(table) for table in whole.tables("topic", "topic"))
    if answers and topics:
        raise UsageError(lazy("{file}: a script has either [[answer]] or [[topic]] tables, not both", file=file))
    if not answers and not topics:
        raise UsageError(lazy("{file}: no [[answer]] found", file=file))
    return Script(
        answers,
        whole.tokens("context_window", _DEFAULT_WINDOW),
        topics,
        whole.text("prompt"),
        whole.text("mode"),
        _parse_files(whole.table("files")),
    )


class _Table:
    """One table of the file. Methods raise UsageError for a value of the wrong type."""

    def __init__(self, values: Mapping[str, object], place: str, placeholders: Mapping[str, str]) -> None:
        self._values = values
        self._location = place
        self._placeholders = placeholders

    def problem(self, words: str) -> UsageError:
        return UsageError(join_lazy("", (self._location, ": ", words)))

    def names(self) -> tuple[str, ...]:
        return tuple(self._values)

    def has(self, key: str) -> bool:
        return key in self._values

    def check_keys(self, known: Collection[str]) -> None:
        for key in self._values:
            if key not in known:
                near = min(known, key=lambda candidate: edit_distance(key[:32], candidate))
                message = lazy("unknown key {key!r}; did you mean {near!r}?", key=key[:80], near=near)
                raise self.problem(message)

    def text(self, key: str) -> str:
        value = self._values.get(key, "")
        if not isinstance(value, str):
            raise self.problem(lazy("{key} must be a string", key=key))
        return self._expand(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a string or a list of strings, none of them empty."""
        value = self._values.get(key)
        listed = cast("list[object]", value) if isinstance(value, list) else [value]
        texts = [self._expand(item) for item in listed if isinstance(item, str) and item]
        if not texts or len(texts) != len(listed):
            message = lazy("{key} must be a non-empty string or a list of them", key=key)
            raise self.problem(message)
        return tuple(texts)

    def boolean(self, key: str) -> bool | None:
        """Return a boolean; None for any other value."""
        value = self._values.get(key)
        return value if isinstance(value, bool) else None

    def seconds(self, key: str) -> float | None:
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MAX_SECONDS:
            return value
        raise self.problem(lazy("{key} must be a number of seconds from 0 to {most}", key=key, most=_MAX_SECONDS))

    def tokens(self, key: str, default: int) -> int:
        value = self._values.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_TOKENS:
            return value
        raise self.problem(lazy("{key} must be an integer from 0 to {most}", key=key, most=_MAX_TOKENS))

    def enum(self, key: str, kind: type[_Enum]) -> _Enum | None:
        value = self._values.get(key)
        if value is None:
            return None
        word = next((word for word in kind if word.value == value), None)
        if word is None:
            raise self.problem(lazy("{key} must be one of {names}", key=key, names=", ".join(kind)))
        return word

    def table(self, key: str) -> "_Table":
        value = self._values.get(key, {})
        if not isinstance(value, dict):
            raise self.problem(lazy("{key} must be a table", key=key))
        return _Table(cast("dict[str, object]", value), f"{self._location}: {key}", self._placeholders)

    def tables(self, key: str, header: str) -> list["_Table"]:
        value = self._values.get(key, [])
        tables = cast("list[object]", value) if isinstance(value, list) else [value]
        if not all(isinstance(table, dict) for table in tables):
            raise self.problem(lazy("{key} must be written as tables [[{header}]]", key=key, header=header))
        if isinstance(value, dict):
            raise self.problem(
                lazy("{key} can be repeated: write [[{header}]] instead of [{header}]", key=key, header=header)
            )
        return [
            _Table(cast("dict[str, object]", table), f"{self._location}: {key} {number}", self._placeholders)
            for number, table in enumerate(tables, 1)
        ]

    def json(self) -> JsonObject:
        """Return the table as JSON."""
        return {key: self._json(value, key) for key, value in self._values.items()}

    def _json(self, value: object, key: str) -> JsonValue:
        match value:
            case str():
                return self._expand(value)
            case bool() | int():
                return value
            case float() if isfinite(value):
                return value
            case list():
                return [self._json(item, key) for item in cast("list[object]", value)]
            case dict():
                inner = cast("dict[str, object]", value)
                return {name: self._json(item, f"{key}.{name}") for name, item in inner.items()}
            case _:
                message = lazy(
                    "{key} is {value}, which JSON cannot represent: write it as a string", key=key, value=value
                )
                raise self.problem(message)

    def _expand(self, text: str) -> str:
        for word, meant in self._placeholders.items():
            text = text.replace(word, meant)
        return text


def _parse_topic(table: _Table) -> Topic:
    table.check_keys(_TOPIC_KEYS)
    answers = _parse_answers(table, "topic.answer", _TOPIC_ANSWER_KEYS)
    if not answers:
        raise table.problem(lazy("the topic has no [[topic.answer]]"))
    if answers[-1].calls:
        raise table.problem(lazy("the last answer of a topic must not make calls, because no answer follows them"))
    return Topic(answers, table.texts("when") if table.has("when") else (), table.text("purpose") or CONVERSATION)


def _parse_answers(table: _Table, header: str, keys: Collection[str]) -> tuple[ScriptedAnswer, ...]:
    return tuple(_parse_answer(inner, number, keys) for number, inner in enumerate(table.tables("answer", header), 1))


def _parse_answer(table: _Table, number: int, keys: Collection[str]) -> ScriptedAnswer:
    table.check_keys(keys)
    fail = table.enum("fail", FailureKind)
    if fail is None and table.has("retry_after"):
        raise table.problem(lazy("retry_after needs fail"))
    extra = [key for key in _SUCCESS_KEYS if table.has(key)]
    if fail is not None and extra:
        raise table.problem(lazy("an answer with fail cannot have {extra}", extra=extra[0]))
    return ScriptedAnswer(
        number,
        purpose=table.text("purpose") or CONVERSATION,
        when=table.text("when"),
        think=table.text("think"),
        say=table.text("say"),
        calls=tuple(_parse_call(inner) for inner in table.tables("call", "answer.call")),
        otherwise=table.text("otherwise"),
        pause=table.seconds("pause") or 0.0,
        finish=table.enum("finish", FinishReason) or FinishReason.STOP,
        detail=table.text("detail"),
        usage=_parse_usage(table.table("usage")),
        fail=fail,
        retry_after=table.seconds("retry_after"),
    )


def _parse_call(table: _Table) -> ScriptedCall:
    table.check_keys(_CALL_KEYS)
    if not table.text("name"):
        raise table.problem(lazy("name is missing: the tool to call"))
    if table.has("expect") and table.has("expect_error"):
        raise table.problem(lazy("expect and expect_error cannot be combined"))
    expected: tuple[str, ...] = ()
    must_fail = table.boolean("expect_error")
    if table.has("expect"):
        expected, must_fail = table.texts("expect"), False
    elif table.has("expect_error") and must_fail is None:
        expected, must_fail = table.texts("expect_error"), True
    return ScriptedCall(
        table.text("name"),
        table.table("args").json(),
        table.text("id") or None,
        expected,
        must_fail,
        table.enum("decision", ExpectedDecision),
        table.enum("reply", ScriptedReply) or ScriptedReply.YES,
        table.text("result"),
    )


def _parse_files(table: _Table) -> dict[str, str]:
    for path in table.names():
        if path.startswith("/") or not path or {"", ".", ".."} & set(path.split("/")):
            raise table.problem(lazy("{path!r} is not a path in the project", path=path))
    return {path: table.text(path) for path in table.names()}


def _parse_usage(table: _Table) -> Usage:
    table.check_keys(_USAGE_KEYS)
    return Usage(**{key: table.tokens(key, 0) for key in _USAGE_KEYS})
