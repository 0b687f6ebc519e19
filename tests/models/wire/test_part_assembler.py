from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from tejat.core.messages.types import FunctionCall, MessagePart, Text, Thought
from tejat.models.wire.part_assembler import PartAssembler

SIGNATURES = st.none() | st.just("signed")
PARTS: st.SearchStrategy[MessagePart] = (
    st.builds(Text, st.text(max_size=3), SIGNATURES)
    | st.builds(Thought, st.text(max_size=3), SIGNATURES)
    | st.just(FunctionCall("f", {}))
)


@given(st.lists(PARTS, max_size=12))
def test_neighbours_of_a_kind_are_one_part(given_parts: list[MessagePart]) -> None:
    assembler = PartAssembler()
    for part in given_parts:
        assembler.add(part)
    expected: list[MessagePart] = []
    kept = [part for part in given_parts if part not in (Text(""), Thought(""))]
    for kind, run in groupby(kept, _mergeable_kind):
        parts = list(run)
        text = "".join(part.text for part in parts if isinstance(part, Text | Thought))
        expected += parts if kind is None else [kind(text)]
    assert assembler.parts() == tuple(expected)


def _mergeable_kind(part: MessagePart) -> type[Text | Thought] | None:
    return type(part) if isinstance(part, Text | Thought) and part.signature is None else None


def test_parts_can_be_taken_between_pieces() -> None:
    assembler = PartAssembler()
    assembler.add_piece(Text, "one")
    assert assembler.parts() == (Text("one"),)
    assembler.add_piece(Thought, "two")
    assert assembler.parts() == (Text("one"), Thought("two"))
