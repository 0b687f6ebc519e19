"""Hypothesis strategies for legal conversations."""

from hypothesis import strategies as st

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    MessagePart,
    Opaque,
    Text,
    Thought,
)

TOOLS = (
    FunctionDeclaration("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),
    FunctionDeclaration("mcp server.tool/with spaces", "Something else.", {"anyOf": [{"type": "object"}]}),
    FunctionDeclaration("x" * 90, "", {}),
)
NAMES = [tool.name for tool in TOOLS] + ["gone", "", "größe"]

texts = st.text(max_size=12) | st.sampled_from(["", " \n", "half \ud800 character", "words"])
signatures = st.none() | st.text("abc=", min_size=1, max_size=4)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2), max_leaves=5
)
objects = st.dictionaries(texts, values, max_size=3)
mime_types = st.sampled_from(
    ["image/png", "image/heic", "audio/wav", "audio/ogg", "application/pdf", "video/mp4", "", "text/plain"]
)
media = st.builds(InlineData, mime_types, st.binary(max_size=8)) | st.builds(
    FileData, mime_types, st.sampled_from(["https://example.org/a.png", "http://example.org/b", "gs://bucket/c", ""])
)
thoughts = st.builds(Thought, texts, signatures)
opaques = st.builds(Opaque, st.sampled_from(["gemini", "openai"]), objects)
responses = st.builds(lambda text: {"output": text}, texts) | st.builds(lambda text: {"error": text}, texts) | objects
text_parts = st.builds(Text, texts, signatures)
ids = st.none() | st.text(max_size=60) | st.sampled_from(["tejat-7", "toolu_01", "call_1"])


@st.composite
def legal_conversations(draw: st.DrawFn) -> list[Message]:
    """A legal sequence of messages that ends with the user. Every call has a unique id."""
    taken: set[str] = set()
    messages = [Message(Role.USER, tuple(draw(st.lists(text_parts | media, min_size=1, max_size=3))))]
    for turn in range(draw(st.integers(0, 3))):
        said: list[MessagePart] = draw(st.lists(text_parts | thoughts | opaques | media, max_size=3))
        calls = [
            FunctionCall(
                draw(st.sampled_from(NAMES)), draw(objects), _unique_id(draw(ids), turn, place, taken), draw(signatures)
            )
            for place in range(draw(st.integers(0, 3)))
        ]
        parts = draw(st.permutations([*said, *calls])) or [Text("answer")]
        messages.append(Message(Role.MODEL, tuple(parts)))
        messages.append(Message(Role.USER, tuple(_answers(draw, messages[-1].calls))))
    return messages


def _unique_id(wished: str | None, turn: int, place: int, taken: set[str]) -> str:
    own = wished if wished and wished not in taken else f"tejat-{turn}-{place}"
    taken.add(own)
    return own


def _answers(draw: st.DrawFn, calls: tuple[FunctionCall, ...]) -> list[MessagePart]:
    parts: list[MessagePart] = []
    for call in calls:
        parts.append(FunctionResponse(call.name, draw(responses), call.id))
        parts += draw(st.lists(text_parts | media, max_size=2))
    return parts or [draw(text_parts | media)]
