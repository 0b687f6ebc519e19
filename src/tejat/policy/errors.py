"""Errors in policy rules."""

from tejat.core.errors import ConfigurationError
from tejat.core.i18n import join_lazy


class PolicyError(ConfigurationError):
    """A rule, example or case is invalid. `line` is None if there are no lines, as in a flag."""

    def __init__(self, file: str, line: int | None, problem: str) -> None:
        super().__init__(join_lazy("", (file, ": " if line is None else f":{line}: ", problem)))
        self.file = file
        self.line = line
        self.problem = problem
