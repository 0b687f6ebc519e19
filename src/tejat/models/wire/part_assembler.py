"""Assembly of message parts that arrive in pieces."""

from tejat.core.messages.types import MessagePart, Text, Thought


class PartAssembler:
    """The parts of a message. Adjacent texts become one part, and so do adjacent thoughts; empty ones are left out.

    A piece with a signature stays apart, because the signature belongs to it alone. Pieces are joined once, at the
    end: a long answer in small pieces must not be copied for each of them.
    """

    def __init__(self) -> None:
        self._parts: list[MessagePart] = []
        self._kind: type[Text | Thought] = Text
        self._pieces: list[str] = []

    def add_piece(self, kind: type[Text | Thought], text: str) -> None:
        """Add a piece of text or of a thought without a signature."""
        if not text:
            return
        if kind is not self._kind:
            self._join()
            self._kind = kind
        self._pieces.append(text)

    def add(self, part: MessagePart) -> None:
        if isinstance(part, Text | Thought) and part.signature is None:
            self.add_piece(type(part), part.text)
        else:
            self._join()
            self._parts.append(part)

    def parts(self) -> tuple[MessagePart, ...]:
        self._join()
        return tuple(self._parts)

    def _join(self) -> None:
        if self._pieces:
            self._parts.append(self._kind("".join(self._pieces)))
            self._pieces = []
