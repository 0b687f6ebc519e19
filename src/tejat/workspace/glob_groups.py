"""Matching of glob patterns with groups such as `!(a|b)`, which no regular expression of ours can stand for."""

import re

from tejat.workspace.glob_syntax import ANY_DIRECTORIES, Group, GroupKind, Part, Parts
from tejat.workspace.wild_expression import Token, wild_expression


class GroupPattern:
    """A pattern with groups. It is matched part by part, in time that grows polynomially."""

    def __init__(self, parts: Parts, flags: int) -> None:
        self._parts = [None if part == ANY_DIRECTORIES else _PartMatcher(part, flags) for part in parts]

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


_Places = frozenset[int]
_Known = dict[tuple[Group, int], _Places]


class _PartMatcher:
    def __init__(self, part: Part, flags: int) -> None:
        self._part = part
        self._flags = flags
        self._characters: dict[str, re.Pattern[str]] = {}
        expression = _expression(part)
        self._match = None if expression is None else re.compile(expression, flags).match

    def matches(self, name: str) -> bool:
        if self._match is not None:
            return self._match(name) is not None
        return len(name) in self._ends(self._part, name, frozenset((0,)), {})

    def _ends(self, part: Part, name: str, starts: _Places, known: _Known) -> _Places:
        """Where matches can end that begin at one of the places."""
        places = starts
        for node in part:
            if not places:
                break
            if isinstance(node, Group):
                places = self._group_ends(node, name, places, known)
            elif isinstance(node, str):
                character = self._character(node)
                places = frozenset(place + 1 for place in places if character.match(name, place))
            else:
                places = frozenset(range(min(places), len(name) + 1))
        return places

    def _group_ends(self, group: Group, name: str, starts: _Places, known: _Known) -> _Places:
        if group.kind is GroupKind.NONE_OF:
            return frozenset(
                end
                for start in starts
                for end in frozenset(range(start, len(name) + 1)) - self._once(group, name, start, known)
            )
        ends = set[int]()
        frontier = set(starts)
        while frontier:
            reached = {end for start in frontier for end in self._once(group, name, start, known)}
            frontier = reached - ends
            ends |= reached
            if group.kind in (GroupKind.ONE, GroupKind.OPTIONAL):
                break
        if group.kind in (GroupKind.OPTIONAL, GroupKind.ANY_NUMBER):
            ends |= starts
        return frozenset(ends)

    def _once(self, group: Group, name: str, start: int, known: _Known) -> _Places:
        # Looked up, not found again: otherwise the work would multiply with each level of nesting.
        key = (group, start)
        ends = known.get(key)
        if ends is None:
            starts = frozenset((start,))
            ends = frozenset[int]().union(*(self._ends(part, name, starts, known) for part in group.alternatives))
            known[key] = ends
        return ends

    def _character(self, expression: str) -> re.Pattern[str]:
        if expression not in self._characters:
            self._characters[expression] = re.compile(expression, self._flags)
        return self._characters[expression]


def _expression(part: Part) -> str | None:
    """For what is common: no group at all, or just one `!(...)` and nothing wild around it. None for all else."""
    before: list[Token] = []
    for place, node in enumerate(part):
        if isinstance(node, Group):
            return _refusal(before, node, part[place + 1 :])
        before.append(node)
    return wild_expression(before)


def _refusal(before: list[Token], group: Group, after: Part) -> str | None:
    beginning = [node for node in before if isinstance(node, str)]
    ending = [node for node in after if isinstance(node, str)]
    if group.kind is not GroupKind.NONE_OF or len(beginning) < len(before) or len(ending) < len(after):
        return None
    refused: list[str] = []
    for alternative in group.alternatives:
        tokens = [node for node in alternative if not isinstance(node, Group)]
        if len(tokens) < len(alternative):
            return None
        refused.append(wild_expression([*tokens, *ending]))
    # What stands around the group is of fixed length, so there is just one text that it can be asked about.
    return f"{''.join(beginning)}(?!{'|'.join(refused)})[^/]*{''.join(ending)}\\Z"
