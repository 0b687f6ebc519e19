"""Matching of extended globs such as `!(a|b)`, which a plain regular expression cannot express."""

import re

from tejat.workspace.paths.glob.syntax import ANY_DIRECTORIES, Extglob, ExtglobKind, GlobSegment, GlobSegments
from tejat.workspace.paths.glob.wildcard_regex import WildcardToken, wildcard_regex


class ExtglobPattern:
    """A pattern with extended globs, matched segment by segment in polynomial time."""

    def __init__(self, parts: GlobSegments, flags: int) -> None:
        self._parts = [None if part == ANY_DIRECTORIES else _SegmentMatcher(part, flags) for part in parts]

    def matches(self, path: str) -> bool:
        """Whether the whole path matches."""
        names = path.split("/")
        name = part = 0
        # The part behind the last `**`, and the name that it was last tried at.
        retry: tuple[int, int] | None = None
        while name < len(names):
            matcher = self._parts[part] if part < len(self._parts) else None
            if matcher is not None and matcher.matches(names[name]):
                name += 1
                part += 1
            elif matcher is None and part < len(self._parts):
                part += 1
                if part == len(self._parts):
                    return True
                retry = (part, name)
            elif retry is not None:
                part, name = retry[0], retry[1] + 1
                retry = (part, name)
            else:
                return False
        return part == len(self._parts)


_Positions = frozenset[int]
_Memo = dict[tuple[Extglob, int], _Positions]


class _SegmentMatcher:
    def __init__(self, part: GlobSegment, flags: int) -> None:
        self._part = part
        self._flags = flags
        self._characters: dict[str, re.Pattern[str]] = {}
        expression = _simple_regex(part)
        self._match = None if expression is None else re.compile(expression, flags).match

    def matches(self, name: str) -> bool:
        if self._match is not None:
            return self._match(name) is not None
        return len(name) in self._match_ends(self._part, name, frozenset((0,)), {})

    def _match_ends(self, part: GlobSegment, name: str, starts: _Positions, known: _Memo) -> _Positions:
        """Return the end positions of matches that begin at one of the positions."""
        positions = starts
        for node in part:
            if not positions:
                break
            if isinstance(node, Extglob):
                positions = self._group_match_ends(node, name, positions, known)
            elif isinstance(node, str):
                character = self._character(node)
                positions = frozenset(position + 1 for position in positions if character.match(name, position))
            else:
                positions = frozenset(range(min(positions), len(name) + 1))
        return positions

    def _group_match_ends(self, group: Extglob, name: str, starts: _Positions, known: _Memo) -> _Positions:
        if group.kind is ExtglobKind.NEGATED:
            return frozenset(
                end
                for start in starts
                for end in frozenset(range(start, len(name) + 1)) - self._match_once(group, name, start, known)
            )
        ends = set[int]()
        frontier = set(starts)
        while frontier:
            reached = {end for start in frontier for end in self._match_once(group, name, start, known)}
            frontier = reached - ends
            ends |= reached
            if group.kind in (ExtglobKind.EXACTLY_ONE, ExtglobKind.OPTIONAL):
                break
        if group.kind in (ExtglobKind.OPTIONAL, ExtglobKind.ANY_NUMBER):
            ends |= starts
        return frozenset(ends)

    def _match_once(self, group: Extglob, name: str, start: int, known: _Memo) -> _Positions:
        # Memoised: otherwise the work would multiply with each level of nesting.
        key = (group, start)
        ends = known.get(key)
        if ends is None:
            starts = frozenset((start,))
            ends = frozenset[int]().union(*(self._match_ends(part, name, starts, known) for part in group.alternatives))
            known[key] = ends
        return ends

    def _character(self, expression: str) -> re.Pattern[str]:
        if expression not in self._characters:
            self._characters[expression] = re.compile(expression, self._flags)
        return self._characters[expression]


def _simple_regex(part: GlobSegment) -> str | None:
    """The regular expression for no group, or a single `!(...)` without other wildcards; else None."""
    before: list[WildcardToken] = []
    for position, node in enumerate(part):
        if isinstance(node, Extglob):
            return _negated_regex(before, node, part[position + 1 :])
        before.append(node)
    return wildcard_regex(before)


def _negated_regex(before: list[WildcardToken], group: Extglob, after: GlobSegment) -> str | None:
    beginning = [node for node in before if isinstance(node, str)]
    ending = [node for node in after if isinstance(node, str)]
    if group.kind is not ExtglobKind.NEGATED or len(beginning) < len(before) or len(ending) < len(after):
        return None
    refused: list[str] = []
    for alternative in group.alternatives:
        tokens = [node for node in alternative if not isinstance(node, Extglob)]
        if len(tokens) < len(alternative):
            return None
        refused.append(wildcard_regex([*tokens, *ending]))
    # The parts around the group have a fixed length, so only one text is possible for it.
    return f"{''.join(beginning)}(?!{'|'.join(refused)})[^/]*{''.join(ending)}\\Z"
