"""Texts made fit to be kept and given away: secrets are masked, and what differs from place to place has stand-ins."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from tejat.core.messages.types import JsonValue

MASK = "[secret]"

_PLACEHOLDER = re.compile(r"\$\{\w+\}")


class Placeholders:
    """Puts words like `${root}` in the place of what they stand for, and takes them out again.

    `stand_ins` maps the real text to its word. Taking out gives back exactly what was put in, except for secrets: a
    text that held such a word by itself is marked by `=`, and one that was cut in pieces has a slice in each of them.
    """

    def __init__(self, placeholders: Mapping[str, str], secrets: Sequence[str] = ()) -> None:
        """Raises ValueError for a word of another form, and for one that would stand for two texts."""
        words = [word for real, word in placeholders.items() if real]
        if len(set(words)) != len(words) or not all(map(_PLACEHOLDER.fullmatch, words)):
            raise ValueError(f"Stand-ins must be different words like ${{root}}, not {', '.join(words)}.")
        self._names = {real: word[2:-1] for real, word in placeholders.items() if real}
        self._reals = {name: real for real, name in self._names.items()}
        known = "|".join(map(re.escape, self._reals))
        # A word of ours, plain or marked, whole or sliced. Without stand-ins it must match nothing.
        self._placeholder_pattern = re.compile(rf"\$\{{(=*)({known})(?:\[(\d+):(\d*)\])?\}}" if known else r"(?!)")
        self._pattern = re.compile(
            "|".join([self._placeholder_pattern.pattern, *map(_whole_word_pattern, _longest_first(self._names))])
        )
        self._secret_pattern = re.compile("|".join(map(re.escape, _longest_first(filter(None, secrets)))) or r"(?!)")

    def substitute(self, value: JsonValue) -> JsonValue:
        """The value with every text in it disguised, keys too."""
        match value:
            case str():
                return self.substitute_pieces([value])[0]
            case Mapping():
                return {self.substitute_pieces([key])[0]: self.substitute(item) for key, item in value.items()}
            case Sequence():
                return [self.substitute(item) for item in value]
            case _:
                return value

    def restore(self, value: JsonValue) -> JsonValue:
        """What `hide` was given, the secrets excepted."""
        match value:
            case str():
                return self.restore_text(value)
            case Mapping():
                return {self.restore_text(key): self.restore(item) for key, item in value.items()}
            case Sequence():
                return [self.restore(item) for item in value]
            case _:
                return value

    def substitute_pieces(self, pieces: Sequence[str]) -> list[str]:
        """The pieces of one text, disguised each, also where a secret or a real text goes over their borders."""
        return self._insert_placeholders(self._mask_secrets(pieces))

    def restore_text(self, text: str) -> str:
        return self._placeholder_pattern.sub(self._real_text, text)

    def _mask_secrets(self, pieces: Sequence[str]) -> list[str]:
        """The mask goes where the secret begins."""
        masked = _PieceEditor(pieces)
        for found in self._secret_pattern.finditer("".join(pieces)):
            masked.replace(found.start(), found.end(), [MASK])
        return masked.result()

    def _insert_placeholders(self, pieces: Sequence[str]) -> list[str]:
        hidden = _PieceEditor(pieces)
        for found in self._pattern.finditer("".join(pieces)):
            cuts = hidden.cuts_in(found.start(), found.end())
            name = self._names.get(found[0])
            if name is not None:
                hidden.replace(found.start(), found.end(), _placeholder_slices(name, cuts))
            elif not cuts:
                # It is a word of ours already. One that is cut cannot be mistaken for one.
                hidden.replace(found.start(), found.end(), [f"${{={found[0][2:]}"])
        return hidden.result()

    def _real_text(self, found: re.Match[str]) -> str:
        marks, name, start, end = found.groups()
        if marks:
            return f"${{{found[0][3:]}"
        real = self._reals[name]
        return real if start is None else real[int(start) : int(end) if end else None]


class _PieceEditor:
    """Pieces of one text in which stretches of the whole are replaced, from the beginning to the end."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._text = "".join(pieces)
        self._ends = list(accumulate(map(len, pieces)))
        self._output: list[list[str]] = [[] for _ in pieces]
        self._position = 0

    def cuts_in(self, start: int, end: int) -> list[int]:
        """Where borders cut the stretch, counted from its start."""
        borders = self._ends[bisect_right(self._ends, start) : bisect_left(self._ends, end)]
        return [border - start for border in dict.fromkeys(borders)]

    def replace(self, start: int, end: int, by: Sequence[str]) -> None:
        """Put the texts in the place of the stretch, one into each piece that it touches, as far as there are any."""
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
        """The piece that holds the character; empty pieces hold none."""
        return bisect_right(self._ends, position)


def _placeholder_slices(name: str, cuts: Sequence[int]) -> list[str]:
    if not cuts:
        return [f"${{{name}}}"]
    borders = [0, *cuts]
    return [f"${{{name}[{start}:{end}]}}" for start, end in zip(borders, [*cuts, ""], strict=True)]


def _longest_first(texts: Iterable[str]) -> list[str]:
    """One that is the beginning of another must not be found in its place."""
    return sorted(texts, key=len, reverse=True)


def _whole_word_pattern(real: str) -> str:
    """A pattern for the real text where it is no part of a longer word: `/project` is not in `/project2`."""
    before = r"(?<!\w)" if re.match(r"\w", real) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", real) else ""
    return before + re.escape(real) + after
