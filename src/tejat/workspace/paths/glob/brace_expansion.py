"""Brace expansion in glob patterns: `{a,b{c,d}}` and `{1..3}`."""

import re
from dataclasses import dataclass, field

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import lazy

MAX_ALTERNATIVES = 2_000
_MAX_CHARACTERS = 100_000
_MAX_DEPTH = 50
_NUMBERS = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?\Z", re.ASCII)
_LETTERS = re.compile(r"([a-zA-Z])\.\.([a-zA-Z])(?:\.\.(-?\d{1,9}))?\Z", re.ASCII)


def expand_braces(pattern: str) -> list[str]:
    """Return the expansions in order, without duplicates. Backslashes stay and escape the next character.

    Unclosed braces, and braces with neither comma nor range, are literal. Raises ToolFailure (invalid_tool_params) for
    too many alternatives.
    """
    tree = _parse(pattern)
    count, characters = tree.size()
    if count > MAX_ALTERNATIVES or characters > _MAX_CHARACTERS:
        message = lazy("The glob pattern expands to too many alternatives (at most {most}).", most=MAX_ALTERNATIVES)
        raise ToolFailure(message, ErrorType.INVALID_TOOL_PARAMS)
    return list(dict.fromkeys(tree.expand()))


@dataclass(slots=True)
class _Sequence:
    items: "list[str | _Choice]" = field(default_factory=list["str | _Choice"])

    def size(self) -> tuple[int, int]:
        """Return the number of expansions and their total length."""
        count, characters = 1, 0
        for item in self.items:
            own_count, own_characters = (1, len(item)) if isinstance(item, str) else item.size()
            characters = characters * own_count + own_characters * count
            count *= own_count
        return count, characters

    def expand(self) -> list[str]:
        texts = [""]
        for item in self.items:
            endings = [item] if isinstance(item, str) else item.expand()
            texts = [text + ending for text in texts for ending in endings]
        return texts


@dataclass(slots=True)
class _Choice:
    alternatives: list[_Sequence]

    def size(self) -> tuple[int, int]:
        sizes = [alternative.size() for alternative in self.alternatives]
        return sum(count for count, _ in sizes), sum(characters for _, characters in sizes)

    def expand(self) -> list[str]:
        return [text for alternative in self.alternatives for text in alternative.expand()]


def _parse(pattern: str) -> _Sequence:
    # The innermost choice is last; the first one is the whole pattern, in which a comma is nothing special.
    open_choices = [_Choice([_Sequence()])]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        current = open_choices[-1].alternatives[-1]
        if character == "\\":
            current.items.append(pattern[position : position + 2])
            position += 1
        elif character == "{":
            if len(open_choices) > _MAX_DEPTH:
                raise ToolFailure(lazy("The glob pattern has too many nested braces."), ErrorType.INVALID_TOOL_PARAMS)
            open_choices.append(_Choice([_Sequence()]))
        elif character == "," and len(open_choices) > 1:
            open_choices[-1].alternatives.append(_Sequence())
        elif character == "}" and len(open_choices) > 1:
            closed = open_choices.pop()
            open_choices[-1].alternatives[-1].items += _close_choice(closed)
        else:
            current.items.append(character)
        position += 1
    while len(open_choices) > 1:
        unclosed = open_choices.pop()
        open_choices[-1].alternatives[-1].items += ["{", *_flatten_unclosed(unclosed)]
    return open_choices[0].alternatives[0]


def _close_choice(choice: _Choice) -> list[str | _Choice]:
    if len(choice.alternatives) > 1:
        return [choice]
    content = choice.alternatives[0].items
    texts = [item for item in content if isinstance(item, str)]
    values = _range("".join(texts)) if len(texts) == len(content) else None
    if values is None:
        return ["{", *content, "}"]
    return [_Choice([_Sequence([value]) for value in values])]


def _flatten_unclosed(choice: _Choice) -> list[str | _Choice]:
    items: list[str | _Choice] = []
    for index, alternative in enumerate(choice.alternatives):
        items += [",", *alternative.items] if index else alternative.items
    return items


def _range(content: str) -> list[str] | None:
    if numbers := _NUMBERS.match(content):
        first, last, step = numbers.groups()
        values = _range_values(int(first), int(last), step)
        padded = any(re.match(r"-?0\d", text) for text in (first, last))
        width = max(len(first), len(last)) if padded else 0
        return [f"{value:0{width}d}" for value in values]
    if letters := _LETTERS.match(content):
        first, last, step = letters.groups()
        return ["\\" + chr(value) for value in _range_values(ord(first), ord(last), step)]
    return None


def _range_values(first: int, last: int, step: str | None) -> list[int]:
    width = abs(int(step or 1)) or 1
    values = range(first, last + 1, width) if first <= last else range(first, last - 1, -width)
    # One more than is allowed is enough to be refused.
    return list(values[: MAX_ALTERNATIVES + 1])
