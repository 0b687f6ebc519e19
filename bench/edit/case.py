"""Benchmark cases: a file, the calls that edit it, and the expected bytes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """Arguments of one `replace` call, except for the path."""

    old: str
    new: str
    expected: int | None = None
    allow_multiple: bool = False

    def arguments(self, path: str) -> dict[str, object]:
        given: dict[str, object] = {"file_path": path, "old_string": self.old, "new_string": self.new}
        if self.expected is not None:
            given["expected_replacements"] = self.expected
        if self.allow_multiple:
            given["allow_multiple"] = True
        return given


@dataclass(frozen=True, slots=True)
class Case:
    """A benchmark case. `after` is None if the call must be refused.

    `prior_calls` are exact edits made before in the same session; `start` is the file after them.
    """

    name: str
    kinds: tuple[str, ...]
    notes: tuple[str, ...]
    file_format: str
    file_name: str
    before: bytes
    start: bytes
    prior_calls: tuple[Call, ...]
    call: Call
    after: bytes | None

    @property
    def must_refuse(self) -> bool:
        return self.after is None
