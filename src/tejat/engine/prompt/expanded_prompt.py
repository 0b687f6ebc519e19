"""A prompt as the model gets it: the text of the user, and the content of the files that it mentions."""

from tejat.core.frozen import Frozen
from tejat.core.messages.types import Part

CONTENT_START = "\n--- Content from referenced files ---"
CONTENT_END = "\n--- End of content ---"


class ExpandedPrompt(Frozen):
    """A prompt with the content of its mentions. `files` names them, `notes` explains what is missing."""

    parts: tuple[Part, ...]
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
