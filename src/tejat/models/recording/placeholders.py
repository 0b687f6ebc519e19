"""Placeholders for machine-specific texts, and masks for secrets."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate

from tejat.core.messages.types import JsonValue
from tejat.core.text.token_shapes import find_tokens

MASK = "[secret]"

_PLACEHOLDER = re.compile(r"\$\{\w+\}")


class Placeholders:
    """Replaces real texts by placeholders like `${root}`, and back.

    `placeholders` maps the real text to its placeholder. Restoring is exact, except for secrets: a text that contains a
    placeholder is escaped by `=`, and one that is split over several pieces gets a slice in each of them.
    """

    def __init__(self, placeholders: Mapping[str, str], secrets: Sequence[str] = ()) -> None:
        """Raises ValueError for an invalid placeholder, and for one with two meanings."""
        words = [word for real, word in placeholders.items() if real]
        if len(set(words)) != len(words) or not all(map(_PLACEHOLDER.fullmatch, words)):
            raise ValueError(f"Stand-ins must be different words like ${{root}}, not {', '.join(words)}.")
        self._names = {real: word[2:-1] for real, word in placeholders.items() if real}
        self._reals = {name: real for real, name in self._names.items()}
        known = "|".join(map(re.escape, self._reals))
        # A placeholder, plain or escaped, whole or sliced. Without placeholders it must match nothing.
        self._placeholder_pattern = re.compile(rf"\$\{{(=*)({known})(?:\[(\d+):(\d*)\])?\}}" if known else r"(?!)")
        self._pattern = re.compile(
            "|".join([self._placeholder_pattern.pattern, *map(_whole_word_pattern, _longest_first(self._names))])
        )
        self._secret_pattern = re.compile("|".join(map(re.escape, _longest_first(filter(None, secrets)))) or r"(?!)")

    def substitute(self, value: JsonValue) -> JsonValue:
        """Return the value with all strings substituted, including keys."""
        return _map_strings(value, lambda text: self.substitute_pieces([text])[0])

    def restore(self, value: JsonValue) -> JsonValue:
        """Undo `substitute`, except for secrets."""
        return _map_strings(value, self.restore_text)

    def substitute_pieces(self, pieces: Sequence[str]) -> list[str]:
        """Substitute in the pieces of one text, also across their boundaries."""
        return self._insert_placeholders(self._mask_secrets(pieces))

    def restore_text(self, text: str) -> str:
        return self._placeholder_pattern.sub(self._real_text, text)

    def _mask_secrets(self, pieces: Sequence[str]) -> list[str]:
        """Mask secrets and tokens. The mask is put where the secret begins."""
        known = [found.span() for found in self._secret_pattern.finditer("".join(pieces))]
        masked = _mask_ranges(pieces, known)
        while tokens := find_tokens("".join(masked)):
            masked = _mask_ranges(masked, tokens)
        return masked

    def _insert_placeholders(self, pieces: Sequence[str]) -> list[str]:
        hidden = _PieceEditor(pieces)
        for found in self._pattern.finditer("".join(pieces)):
            cuts = hidden.cuts_in(found.start(), found.end())
            name = self._names.get(found[0])
            if name is not None:
                hidden.replace(found.start(), found.end(), _placeholder_slices(name, cuts))
            elif not cuts:
                # A literal placeholder in the text. One that is split cannot be mistaken for one.
                hidden.replace(found.start(), found.end(), [f"${{={found[0][2:]}"])
        return hidden.result()

    def _real_text(self, found: re.Match[str]) -> str:
        marks, name, start, end = found.groups()
        if marks:
            return f"${{{found[0][3:]}"
        real = self._reals[name]
        return real if start is None else real[int(start) : int(end) if end else None]


def _map_strings(value: JsonValue, convert: Callable[[str], str]) -> JsonValue:
    match value:
        case str():
            return convert(value)
        case Mapping():
            return {convert(key): _map_strings(item, convert) for key, item in value.items()}
        case Sequence():
            return [_map_strings(item, convert) for item in value]
        case _:
            return value


class _PieceEditor:
    """Replaces ranges of a text that is split into pieces, from start to end."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._text = "".join(pieces)
        self._ends = list(accumulate(map(len, pieces)))
        self._output: list[list[str]] = [[] for _ in pieces]
        self._position = 0

    def cuts_in(self, start: int, end: int) -> list[int]:
        """Return the piece boundaries inside a range, relative to its start."""
        borders = self._ends[bisect_right(self._ends, start) : bisect_left(self._ends, end)]
        return [border - start for border in dict.fromkeys(borders)]

    def replace(self, start: int, end: int, by: Sequence[str]) -> None:
        """Replace a range by the texts, one for each piece that it touches."""
        self._copy_until(start)
        piece = self._piece_at(start)
        for text in by:
            self._output[piece].append(text)
            piece = self._piece_at(self._ends[piece])
        self._position = end

    def result(self) -> list[str]:
        self._copy_until(len(self._text))
        return ["".join(texts) for texts in self._output]

    def _copy_until(self, end: int) -> None:
        while self._position < end:
            piece = self._piece_at(self._position)
            until = min(end, self._ends[piece])
            self._output[piece].append(self._text[self._position : until])
            self._position = until

    def _piece_at(self, position: int) -> int:
        """Return the piece with the character; empty pieces have none."""
        return bisect_right(self._ends, position)


def _mask_ranges(pieces: Sequence[str], ranges: Sequence[tuple[int, int]]) -> list[str]:
    if not ranges:
        return list(pieces)
    masked = _PieceEditor(pieces)
    for start, end in ranges:
        masked.replace(start, end, [MASK])
    return masked.result()


def _placeholder_slices(name: str, cuts: Sequence[int]) -> list[str]:
    if not cuts:
        return [f"${{{name}}}"]
    borders = [0, *cuts]
    return [f"${{{name}[{start}:{end}]}}" for start, end in zip(borders, [*cuts, ""], strict=True)]


def _longest_first(texts: Iterable[str]) -> list[str]:
    """Sort texts, so that none is mistaken for its own prefix."""
    return sorted(texts, key=len, reverse=True)


def _whole_word_pattern(real: str) -> str:
    """Return a pattern that matches the text as a whole word: `/project` is not in `/project2`."""
    before = r"(?<!\w)" if re.match(r"\w", real) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", real) else ""
    return before + re.escape(real) + after
