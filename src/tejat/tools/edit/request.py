"""Edit requests and exact search."""

from tejat.core.frozen import Frozen
from tejat.tools.edit.match.search_block import split_lines
from tejat.workspace.text.text_edits import TextEdit, TextFile


class EditRequest(Frozen):
    """An edit request. `expected` is the number of occurrences; None accepts any number."""

    old: str
    new: str
    expected: int | None = 1

    def accepts_count(self, count: int) -> bool:
        return count > 0 if self.expected is None else count == self.expected

    @property
    def new_lines(self) -> list[str]:
        """Lines of the new text; empty if whole lines are deleted."""
        if not self.new:
            return [] if self.old.endswith("\n") else [""]
        lines = split_lines(self.new)
        if len(lines) > 1 and not lines[-1] and self.old.endswith(("\n", "\r")):
            lines.pop()
        return lines


def find_exact(file: TextFile, request: EditRequest) -> list[TextEdit]:
    """Find the exact text in any encoding and with any line endings."""
    return [TextEdit(place.start, place.end, request.new) for place in file.find_all(request.old)]
