"""Conflicts that make an edit uncertain."""


class MergeConflict(Exception):
    """The edit is uncertain because of `line` of the file, counted from 0."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason
