"""Every message can be extracted by Babel and translated, and its placeholders fit the values."""

import ast
import io
import re
import runpy
import string
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from support.source_tree import ROOT, modules

SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "messages"), run_name="messages")
NAME_IN_BRACES = re.compile(r"\{([a-z_]+)\}")


class Call(NamedTuple):
    """A call of a translation function. `messages` has None for an argument that is no literal."""

    place: str
    messages: tuple[str | None, ...]
    values: tuple[str | None, ...]
    """The names that are filled in, None for `**values`."""


@cache
def calls() -> tuple[Call, ...]:
    found = tuple(_calls())
    assert len(found) > 100
    return found


def _calls() -> Iterator[Call]:
    for file, tree in modules().items():
        if file == "core/i18n.py":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SCRIPT["KEYWORDS"]:
                given = node.args[: len(SCRIPT["KEYWORDS"][node.func.id] or (1,))]
                texts = (each.value if isinstance(each, ast.Constant) else None for each in given)
                values = tuple(keyword.arg for keyword in node.keywords)
                yield Call(f"{file}:{node.lineno}", tuple(map(_text, texts)), values)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def fields(text: str) -> set[str]:
    """The names in braces. Raises ValueError for unbalanced braces."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_the_template_is_up_to_date() -> None:
    assert SCRIPT["TEMPLATE"].read_text(encoding="utf-8") == SCRIPT["render"](), "run scripts/messages"


def test_every_message_is_a_literal() -> None:
    assert [call.place for call in calls() if None in call.messages or not call.messages] == []


def test_every_message_is_extracted() -> None:
    """Standard tools do not look into f-strings."""
    extracted = {form for message in SCRIPT["extract"]() for form in _forms(message)}
    assert {text for call in calls() for text in call.messages} - extracted == set()


def _forms(message: Any) -> tuple[str, ...]:
    return tuple(message.id) if message.pluralizable else (message.id,)


def test_no_message_is_empty() -> None:
    """The empty text is the header of a catalogue."""
    assert [call.place for call in calls() if "" in call.messages] == []


def misfit(call: Call) -> str | None:
    """The mismatch between the placeholders of a message and its values."""
    given = set(call.values) | ({"count"} if len(call.messages) == 2 else set())
    if None in given:
        return "has values that cannot be checked"
    for text in call.messages:
        if not given:  # then nothing is filled in, and braces are braces
            found = set(NAME_IN_BRACES.findall(text or ""))
            if found:
                return f"no value for {sorted(found)}"
            continue
        try:
            found = fields(text or "")
        except ValueError as error:
            return str(error)
        if not found <= given:
            return f"no value for {sorted(found - given)}"
    used = set[str]().union(*(fields(text or "") for text in call.messages)) if given else set[str]()
    unused = given - used - ({"count"} if len(call.messages) == 2 else set())
    return f"no placeholder for {sorted(map(str, unused))}" if unused else None


def test_placeholders_fit_the_values() -> None:
    wrong = {call.place: misfit(call) for call in calls() if None not in call.messages}
    assert {place: why for place, why in wrong.items() if why} == {}


def test_one_text_has_one_plural() -> None:
    plurals: dict[str | None, set[str | None]] = {}
    for call in calls():
        if len(call.messages) == 2:
            plurals.setdefault(call.messages[0], set()).add(call.messages[1])
    assert {one: many for one, many in plurals.items() if len(many) > 1} == {}


def test_the_template_can_be_compiled() -> None:
    catalogue = read_po(io.BytesIO(SCRIPT["render"]().encode()), abort_invalid=True)
    assert [error for message in catalogue for error in message.check(catalogue)] == []
    write_mo(io.BytesIO(), catalogue)
