"""What an edit asks for, and the plainest way to find it."""

from tejat.core.frozen import frozen
from tejat.tools.edit.match.search_block import split_lines
from tejat.workspace.text.text_edits import TextEdit, TextFile


@frozen
class EditRequest:
    """`expected` is how many places must be found; None accepts any number."""

    old: str
    new: str
    expected: int | None = 1

    def accepts_count(self, count: int) -> bool:
        return count > 0 if self.expected is None else count == self.expected

    @property
    def new_lines(self) -> list[str]:
        """The new lines; none where whole lines are to go."""
        if not self.new:
            return [] if self.old.endswith("\n") else [""]
        lines = split_lines(self.new)
        if len(lines) > 1 and not lines[-1] and self.old.endswith(("\n", "\r")):
            lines.pop()
        return lines


def find_exact(file: TextFile, request: EditRequest) -> list[TextEdit]:
    """The text as it was given, whatever the file's encoding and line endings are."""
    return [TextEdit(place.start, place.end, request.new) for place in file.find_all(request.old)]
