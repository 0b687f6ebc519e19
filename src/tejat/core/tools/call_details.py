"""A tool call as front ends describe it before it runs."""

from tejat.core.frozen import Frozen
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolLocation


class CallDetails(Frozen):
    """The kind of the tool, a title in one unsanitized line, and the files that the call will touch.

    `is_output_markdown`: what the tool displays is Markdown, not plain text.
    """

    kind: Kind
    title: str
    locations: tuple[ToolLocation, ...] = ()
    is_output_markdown: bool = True
