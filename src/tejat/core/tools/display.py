"""Results of tools that are displayed as more than plain text."""

from typing import TypeAlias

from tejat.core.frozen import Value, fields_of
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.tools.todos import TodoList
from tejat.core.ui.rich_value import RichValue


class DiffStat(Value):
    """Lines and characters added and removed: by the model, and by the user in the model's proposal.

    Characters are those of changed lines, without line ends.
    """

    model_added_lines: int
    model_removed_lines: int
    model_added_chars: int
    model_removed_chars: int
    user_added_lines: int = 0
    user_removed_lines: int = 0
    user_added_chars: int = 0
    user_removed_chars: int = 0

    def to_json(self) -> JsonObject:
        return {field.name: getattr(self, field.name) for field in fields_of(DiffStat)}


class FileDiff(RichValue):
    """A change to one file.

    The contents are given only if they are small (see `tools/files/change.py`); the diff always is. `original_content`
    is None for a new file.
    """

    file_name: str
    file_path: str
    file_diff: str
    is_new_file: bool
    original_content: str | None = None
    new_content: str | None = None
    diff_stat: DiffStat | None = None

    def to_json(self) -> JsonObject:
        known: dict[str, JsonValue] = {
            "fileDiff": self.file_diff,
            "fileName": self.file_name,
            "filePath": self.file_path,
            "isNewFile": self.is_new_file,
        }
        if self.new_content is not None:
            known["originalContent"] = self.original_content
            known["newContent"] = self.new_content
        if self.diff_stat is not None:
            known["diffStat"] = self.diff_stat.to_json()
        return known


Display: TypeAlias = str | FileDiff | TodoList


def display_to_json(display: Display) -> JsonValue:
    """Serialize `returnDisplay` with the field names of Gemini CLI."""
    return display if isinstance(display, str) else display.to_json()
