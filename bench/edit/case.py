"""What a case is: a file, the calls that edit it, and the bytes that are meant to come of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one `replace`, besides the file."""

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
    """`after` is None where the call must be refused.

    `earlier` are exact edits made in the same session before it, and `between` is the file as they leave it."""

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
