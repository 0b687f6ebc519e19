"""Files that the user adds to a prompt in the browser."""

import base64
import re
import secrets

from tejat.core.i18n import _
from tejat.core.messages.prompt import Attachment, Prompt
from tejat.core.messages.types import InlineData, Text
from tejat.core.sanitize import sanitize_summary
from tejat.engine.prompt.attachments import MAX_ATTACHED_BYTES, InvalidAttachment, attach_file

_MAX_NAME_CHARS = 100
_MAX_FILES = 50


class AttachedFiles:
    """Uploaded files until the prompt with them is sent.

    Each has a label that stands for it in the text of the prompt, so that a prompt that waits is a text like any other.
    """

    def __init__(self) -> None:
        self._files: dict[str, tuple[Attachment, int]] = {}

    def add(self, name: str, data: bytes) -> str:
        """Check a file and return its label. Raises InvalidAttachment with a message for the user."""
        if len(self._files) >= _MAX_FILES:
            raise InvalidAttachment(_("Too many attachments: at most {limit}.", limit=_MAX_FILES))
        if sum(size for _file, size in self._files.values()) + len(data) > MAX_ATTACHED_BYTES:
            limit = MAX_ATTACHED_BYTES // 2**20
            raise InvalidAttachment(_("Too large: all attachments together may have {limit} MB.", limit=limit))
        shown = re.sub(r"[\[\]]", "_", sanitize_summary(name))[:_MAX_NAME_CHARS] or _("file")
        content = attach_file(shown, base64.b64encode(data).decode())
        label = f"[{shown} #{secrets.token_hex(2)}]"
        heading = f"\n--- Content of {shown} ---\n"
        if isinstance(content, InlineData):
            parts = (Text(heading), content)
        else:
            parts = (Text(f"{heading}{content}\n--- End of {shown} ---\n"),)
        self._files[label] = (Attachment(f"[{shown}]", parts), len(data))
        return label

    def remove(self, label: str) -> None:
        """Drop a file."""
        self._files.pop(label, None)

    def expand(self, line: str) -> Prompt:
        """Put the files where their labels are, and drop them."""
        labels = [label for label in self._files if label in line]
        if not labels:
            return line
        pieces: list[str | Attachment] = []
        for piece in re.split("(" + "|".join(map(re.escape, labels)) + ")", line):
            file = self._files.pop(piece, None)
            if file is not None:
                pieces.append(file[0])
            elif piece.strip():
                pieces.append(piece)
        return tuple(pieces)
