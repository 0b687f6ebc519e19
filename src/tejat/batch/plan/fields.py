"""The fields of a task file: their names, and the values that each may have."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from tejat.batch.plan.types import InvalidTask
from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import Frozen, fields_of
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonValue
from tejat.core.sanitize import HIDDEN_CHARACTERS, sanitize_line
from tejat.core.text.edit_distance import edit_distance
from tejat.workspace.sandbox.container.options import ENGINES

MAX_ID_LENGTH = 200
MAX_TEXT_BYTES = 8 * 2**20
"""The limit of a line, and of a prompt with its variables replaced."""

ALIASES = {"instance_id": "id", "base_commit": "commit"}
"""Names of SWE-bench for fields of ours. `problem_statement` is a field of its own: it is never a template."""
IGNORED_FIELDS = frozenset(
    (
        *("patch", "test_patch", "hints_text", "created_at", "version", "difficulty"),
        *("FAIL_TO_PASS", "PASS_TO_PASS", "environment_setup_commit"),
    )
)
"""Further fields of SWE-bench. Some of them have the solution, so they are not even variables."""


class GivenFields(Frozen):
    """The fields that a task sets, under the names of the task file. None for those that it does not set."""

    id: str | None = None
    repo: str | None = None
    commit: str | None = None
    prompt: str | None = None
    prompt_file: str | None = None
    problem_statement: str | None = None
    model: str | None = None
    timeout: float | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    max_turns: int | None = None
    allowed_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] | None = None
    approval_mode: str | None = None
    sandbox: str | None = None
    trust: bool | None = None
    check: str | None = None
    check_timeout: float | None = None
    allow_no_changes: bool | None = None
    allow_dirty: bool | None = None
    vars: Mapping[str, str] | None = None


def parse_fields(values: Mapping[str, object]) -> GivenFields:
    """Check all fields. A value of None counts as not given. Raises InvalidTask."""
    checked: dict[str, Any] = {}
    for name, value in rename_fields(values).items():
        if name not in _CHECKS:
            raise InvalidTask(_unknown_field(name))
        if value is not None:
            checked[name] = _CHECKS[name](name, value)
    return GivenFields(**checked)


def rename_fields(values: Mapping[str, object]) -> dict[str, object]:
    """The fields under our names: those of SWE-bench are renamed unless ours are there, or left out."""
    ignored = IGNORED_FIELDS if "instance_id" in values else ()
    renamed = {name: value for name, value in values.items() if name not in ALIASES and name not in ignored}
    for alias, name in ALIASES.items():
        if alias in values and renamed.get(name) is None:
            renamed[name] = values[alias]
    return renamed


def readable_id(values: Mapping[str, object]) -> str:
    """The id in a record that is wrong otherwise, empty if that is wrong too."""
    try:
        given = rename_fields(values).get("id")
        return "" if given is None else _id("id", given)
    except InvalidTask:
        return ""


def did_you_mean(word: str, known: tuple[str, ...]) -> str:
    """The question to add to an error about an unknown word, empty if nothing is close."""
    distance, near = min((edit_distance(word[:64].lower(), each.lower()), each) for each in known)
    return " " + _("Did you mean {word}?", word=near) if distance <= max(1, len(near) // 3) else ""


def show_value(value: object) -> str:
    """A value for a message: one line, not too long."""
    try:
        text = dump_json(cast("JsonValue", value))
    except (TypeError, ValueError, RecursionError):
        text = str(value) if not isinstance(value, dict | list) else type(cast("object", value)).__name__
    text = sanitize_line(text)
    return text if len(text) <= _SHOWN_LENGTH else text[:_SHOWN_LENGTH] + "..."


def _unknown_field(name: str) -> str:
    suggestion = did_you_mean(name, tuple(_CHECKS))
    message = _("Unknown field {field}.", field=show_value(name)) + suggestion
    return message if suggestion else message + " " + _("Put variables for templates into vars.")


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidTask(_("{field} must be text, not {value}.", field=name, value=show_value(value)))
    if "\0" in value:
        raise InvalidTask(_("{field} contains a NUL character.", field=name))
    if not value.isascii() and re.search("[\ud800-\udfff]", value):
        raise InvalidTask(_("{field} is not valid Unicode: it contains half of a surrogate pair.", field=name))
    return value


def _word(name: str, value: object) -> str:
    """Text of one line, without spaces around it."""
    text = _text(name, value).strip()
    if not text:
        raise InvalidTask(_("{field} is empty.", field=name))
    if "\n" in text or "\r" in text:
        raise InvalidTask(_("{field} must be one line, not {value}.", field=name, value=show_value(text)))
    return text


def _id(name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    text = _text(name, value).strip()
    if not text:
        raise InvalidTask(_("{field} is empty.", field=name))
    if len(text) > MAX_ID_LENGTH:
        raise InvalidTask(
            _(
                "{field} has {count} characters. At most {most} are allowed.",
                field=name,
                count=len(text),
                most=MAX_ID_LENGTH,
            )
        )
    if re.search(HIDDEN_CHARACTERS + r"|[\n\t]", text):
        raise InvalidTask(_("{field} contains control characters: {value}", field=name, value=show_value(text)))
    return text


def _commit(name: str, value: object) -> str:
    text = _text(name, value).strip()
    if text.startswith("-") or re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{", text.rstrip("~^0123456789")):
        raise InvalidTask(
            _("{field} must be a hash, a branch or a tag, not {value}.", field=name, value=show_value(text))
        )
    return text


def _number(name: str, value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _MAX_NUMBER:
        return float(value)
    raise InvalidTask(_("{field} must be a number greater than 0, not {value}.", field=name, value=show_value(value)))


def _integer(name: str, value: object) -> int:
    # Whole floats are welcome: 1e6 is one.
    if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value < _MAX_NUMBER and value % 1 == 0:
        return int(value)
    raise InvalidTask(_("{field} must be an integer greater than 0, not {value}.", field=name, value=show_value(value)))


def _boolean(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidTask(_("{field} must be true or false, not {value}.", field=name, value=show_value(value)))


def _tools(name: str, value: object) -> tuple[str, ...]:
    entries = _split_tools(name, value) if isinstance(value, str) else value
    if isinstance(entries, list) and all(isinstance(each, str) for each in cast("list[object]", entries)):
        return tuple(_word(name, each) for each in cast("list[str]", entries))
    raise InvalidTask(
        _(
            "{field} must be a list of tools, or text separated by commas, not {value}.",
            field=name,
            value=show_value(value),
        )
    )


def _split_tools(name: str, text: str) -> list[str]:
    """Split at commas outside parentheses: `read_file, run_shell_command(git log)`."""
    entries, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == "," and depth == 0:
            entries.append("")
        else:
            entries[-1] += character
    if depth:
        raise InvalidTask(_("{field}: the parentheses of {value} do not match.", field=name, value=show_value(text)))
    return [entry for entry in entries if entry.strip()]


def _one_of(name: str, value: object, known: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in known:
        return value
    message = _(
        "{field} must be one of {known}, not {value}.", field=name, known=", ".join(known), value=show_value(value)
    )
    raise InvalidTask(message + (did_you_mean(value, known) if isinstance(value, str) else ""))


def _approval_mode(name: str, value: object) -> str:
    return _one_of(name, value, tuple(mode.value for mode in ApprovalMode))


def _sandbox(name: str, value: object) -> str:
    if isinstance(value, bool):
        value = "true" if value else "false"
    word = value.strip().lower() if isinstance(value, str) else value
    word = _SANDBOX_SYNONYMS.get(word, word) if isinstance(word, str) else word
    return _one_of(name, word, _SANDBOXES)


def _variables(name: str, value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise InvalidTask(_("{field} must be an object, not {value}.", field=name, value=show_value(value)))
    given = cast("dict[str, object]", value)
    return {_text(name, key): _variable(f"{name}.{sanitize_line(key)}", each) for key, each in given.items()}


def _variable(name: str, value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return _text(name, value)
        case _:
            raise InvalidTask(
                _("{field} must be text, a number, true or false, not {value}.", field=name, value=show_value(value))
            )


_SHOWN_LENGTH = 80
_MAX_NUMBER = 10**15
_SANDBOXES = ("auto", "required", "off", *ENGINES, "lxc", "sandbox-exec", "windows-native")
_SANDBOX_SYNONYMS = {"true": "required", "1": "required", "false": "off", "0": "off"}
NUMBERS = frozenset({"timeout", "max_cost", "check_timeout", "max_tokens", "max_turns"})
SWITCHES = frozenset({"trust", "allow_no_changes", "allow_dirty"})
_CHECKS: Mapping[str, Callable[[str, object], object]] = {
    "id": _id,
    "repo": _word,
    "commit": _commit,
    "prompt": _text,
    "prompt_file": _word,
    "problem_statement": _text,
    "model": _word,
    "timeout": _number,
    "max_cost": _number,
    "max_tokens": _integer,
    "max_turns": _integer,
    "allowed_tools": _tools,
    "exclude_tools": _tools,
    "approval_mode": _approval_mode,
    "sandbox": _sandbox,
    "trust": _boolean,
    "check": _text,
    "check_timeout": _number,
    "allow_no_changes": _boolean,
    "allow_dirty": _boolean,
    "vars": _variables,
}
FIELD_NAMES = tuple(each.name for each in fields_of(GivenFields))
