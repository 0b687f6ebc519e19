"""Translation of indentation from the given text to the file."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import gcd

from tejat.tools.edit.match.search_block import indent_of

_TAB_WIDTH = 8
_MAX_STEP_WIDTH = 4
_BLOCK_OPENERS = ("{", "(", "[", ":")


class IndentMap:
    """Map from indents of the given text to indents of the file, learned from matching lines.

    Unknown indents are extrapolated from the nearest known one, with the indent steps of each side.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], given: Sequence[str], found: Sequence[str]) -> None:
        """`pairs` are matching lines, `given` and `found` all lines on either side."""
        indents = [(indent_of(left), indent_of(right)) for left, right in pairs if left.strip() and right.strip()]
        self._known: dict[str, set[str]] = {}
        for left, right in _drop_stray_first(indents, [line for line in given if line.strip()]):
            self._known.setdefault(left, set()).add(right)
        self.is_identity = all(rights == {left} for left, rights in self._known.items())
        self._given_step = _indent_step(_indents(given))
        self._found_step = _indent_step(_indents(found))

    def map_indent(self, indent: str) -> str | None:
        """Translate an indent; None if that is ambiguous."""
        if self.is_identity:
            return indent
        if indent not in self._known:
            return self._extrapolate(indent)
        return next(iter(self._known[indent])) if len(self._known[indent]) == 1 else None

    def _extrapolate(self, indent: str) -> str | None:
        known = {left: next(iter(rights)) for left, rights in self._known.items() if len(rights) == 1}
        if not known:
            return None
        width = _width(indent)
        given_step, found_step = self._steps(known)
        step = _width(given_step) if given_step else 1
        # Whole steps away, since other lines may be aligned to something rather than indented.
        left = min(
            known,
            key=lambda each: (
                bool(each) and set(each) != set(indent),
                (_width(each) - width) % step,
                abs(_width(each) - width),
                _width(each),
            ),
        )
        right = known[left]
        if left and left == right and len(known) > 1 and set(left) == set(indent):
            return indent
        shift = self._constant_shift()
        if shift is not None and len(known) == 1 and width < _width(left) and "\t" not in left + right:
            given_step = found_step  # A single depth does not show that the steps differ.
        if shift is not None and not _have_equal_depth(left, right, given_step, found_step):
            added, removed = shift
            shifted = added + indent[len(removed) :] if indent.startswith(removed) else None
            # No file mixes tabs and spaces in one indent on purpose.
            is_mixed = shifted is not None and len(set(shifted)) > 1 and len(set(left + right)) < 2
            if not is_mixed or not (given_step and found_step):
                return shifted
        if given_step is None or found_step is None:
            return None
        steps, rest = divmod(abs(width - _width(left)), _width(given_step))
        if width >= _width(left):
            return right + found_step * steps + " " * rest
        if rest or not right.endswith(found_step * steps):
            return None
        return right[: len(right) - len(found_step) * steps]

    def _steps(self, known: dict[str, str]) -> tuple[str | None, str | None]:
        """One step on both sides, from the known indents or else from the surrounding lines."""
        ordered = sorted(known, key=_width)
        # A line without indent may be outside of the block.
        for lower, upper in sorted(pairwise(ordered), key=lambda pair: not pair[0]):
            grown, written = upper.removeprefix(lower), known[upper].removeprefix(known[lower])
            if upper.startswith(lower) and known[upper].startswith(known[lower]) and grown and written:
                unit = _common_unit(grown, written)
                if unit is not None:
                    return unit
        if len(ordered) == 1 and ordered[0] and known[ordered[0]]:
            left, right = ordered[0], known[ordered[0]]
            if set(left) != set(right):
                return _common_unit(left, right) or (self._given_step, self._found_step)
        return self._given_step, self._found_step

    def _constant_shift(self) -> tuple[str, str] | None:
        """Prefix added to and prefix removed from all indents; None if they differ."""
        pairs = [(left, right) for left, rights in self._known.items() for right in rights]
        added = {right.removesuffix(left) if right.endswith(left) else None for left, right in pairs}
        if len(added) == 1 and (only := added.pop()) is not None:
            return only, ""
        removed = {left.removesuffix(right) if left.endswith(right) else None for left, right in pairs}
        if len(removed) == 1 and (only := removed.pop()) is not None:
            return "", only
        return None


def _have_equal_depth(left: str, right: str, given_step: str | None, found_step: str | None) -> bool:
    """Check that both indents are the same number of steps of different width."""
    if not left or not right or given_step is None or found_step is None or given_step == found_step:
        return False
    return _width(left) * _width(found_step) == _width(right) * _width(given_step)


def _indents(lines: Sequence[str]) -> list[str]:
    """Indents of the nonblank lines."""
    return [indent_of(line) for line in lines if line.strip()]


def _drop_stray_first(indents: Sequence[tuple[str, str]], given: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Drop the indent of the first line if it is missing or stray, as often happens when text is copied."""
    if not indents:
        return indents
    (left, right), rest = indents[0], indents[1:]
    if not rest:
        return rest if _is_stray_single(left, right, given) else indents
    if any(map(bool, (given for given, _ in rest))) and all(given == found for given, found in rest):
        return rest
    shifts = {len(found) - len(given) for given, found in rest}
    is_bare = not left and bool(right) and shifts != {len(right)} and all(given for given, _ in rest)
    return rest if is_bare and not _is_one_step(right, *rest[0]) else indents


def _is_stray_single(left: str, right: str, given: Sequence[str]) -> bool:
    """Check whether the indent of the only matching line says nothing about the others."""
    if left:
        is_stray = (len(right) - len(left)) % 2 and "\t" not in left + right
        return bool(is_stray) and not all(indent_of(line) == left for line in given)
    pairs = ((above, indent_of(line)) for above, line in pairwise(given) if not indent_of(above))
    above, below = next(((above, indent) for above, indent in pairs if indent), ("", ""))
    if not right or not below.startswith(right):
        return False
    # Deeper than the file's line after a block opener, else equal: then only the first line lacks its indent.
    return above.rstrip().endswith(_BLOCK_OPENERS) == (below != right)


def _is_one_step(right: str, left_below: str, right_below: str) -> bool:
    """Check that the second line is one step deeper than the first on both sides."""
    grown = right_below.removeprefix(right)
    if not right_below.startswith(right) or not grown:
        return False
    return left_below == "\t" or ("\t" not in left_below and len(left_below) <= min(_width(grown), _MAX_STEP_WIDTH))


def _indent_step(indents: Sequence[str]) -> str | None:
    """Most frequent indent step; None if no line shows one."""
    steps = Counter(
        below.removeprefix(above)
        for above, below in pairwise(indents)
        if len(below) > len(above) and below.startswith(above)
    )
    return max(steps, key=lambda step: (steps[step], -len(step))) if steps else None


def _common_unit(grown: str, written: str) -> tuple[str, str] | None:
    """One step on either side, for equal depths written in different ways."""
    if len(set(grown)) != 1 or len(set(written)) != 1:
        return None
    steps = gcd(len(grown), len(written))
    if "\t" in grown:
        steps = len(grown) if len(written) % len(grown) == 0 else 0
    elif "\t" in written:
        steps = len(written) if len(grown) % len(written) == 0 else 0
    else:
        # The fewest steps at least two columns wide on both sides: 8 for 4 is one step of 8, not two of 4.
        shorter = min(len(grown), len(written))
        steps = max((n for n in range(1, steps + 1) if steps % n == 0 and shorter // n > 1), default=0)
    return (grown[: len(grown) // steps], written[: len(written) // steps]) if steps else None


def _width(indent: str) -> int:
    return len(indent.expandtabs(_TAB_WIDTH))
