"""The content of a tool result as a collection."""

from collections.abc import Iterator, Sequence

from tejat.core.messages.types import Part, PartListUnion, Text
from tejat.core.ui.rich_value import RichValue


class ResultContent(RichValue):
    """A value whose `llm_content` is iterated over: `len(result)`, `for part in result`, `"text" in result`.

    It is true, also without content.
    """

    __slots__ = ()
    llm_content: PartListUnion

    @property
    def text(self) -> str:
        """The texts of `llm_content`, without media."""
        return "".join(part if isinstance(part, str) else part.text for part in self if isinstance(part, str | Text))

    def __iter__(self) -> Iterator[str | Part]:
        content = self.llm_content
        if isinstance(content, str) or not isinstance(content, Sequence):
            return iter((content,))
        return iter(content)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, item: object) -> bool:
        """Whether a text is in the texts, or a part is one of the parts."""
        if isinstance(item, str):
            return item in self.text
        return any(item == part for part in self)

    def __bool__(self) -> bool:
        return True
