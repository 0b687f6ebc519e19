"""The nesting of a JSON text that arrives in pieces."""

import re

_TOKENS = r'[{}\[\]"\\]'


class JsonDepth:
    """Counts open brackets, so that a text need not be parsed after each of its pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._has_begun = False
        self._is_in_string = False
        self._is_escaped = False

    @property
    def is_closed(self) -> bool:
        """Whether every bracket is closed, and there was one."""
        return self._has_begun and not self._depth and not self._is_in_string

    def add(self, piece: str) -> None:
        if not piece:
            return
        escaped = 0 if self._is_escaped else -1
        self._is_escaped = False
        for found in re.finditer(_TOKENS, piece):
            token, place = found[0], found.start()
            if self._is_in_string:
                if place == escaped:
                    continue
                if token == "\\":
                    escaped = place + 1
                    self._is_escaped = escaped == len(piece)
                elif token == '"':
                    self._is_in_string = False
            elif token == '"':
                self._is_in_string = True
            elif token in "{[":
                self._has_begun = True
                self._depth += 1
            elif token in "}]":
                self._depth -= 1
