"""Markdown is read as others read it, line by line, and nothing of it is lost."""

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tejat.frontends.terminal.code import PIECE
from tejat.frontends.terminal.markdown_blocks import Blocks
from tejat.frontends.terminal.markdown_pieces import (
    Box,
    Break,
    Code,
    Grid,
    Heading,
    Markup,
    Paragraph,
    Piece,
)
from tejat.frontends.terminal.tables import Alignment


def pieces_of(text: str) -> list[Piece]:
    blocks = Blocks()
    return [*(piece for line in text.removesuffix("\n").split("\n") for piece in blocks.line(line)), *blocks.finish()]


def test_pieces_come_as_soon_as_they_are_finished() -> None:
    blocks = Blocks()
    assert blocks.line("# One") == [Piece(Heading(1, "One"))]
    assert blocks.line("text") == []
    assert blocks.line("- item") == [Piece(Paragraph(("text",)))]
    assert blocks.line("- other") == [Piece(Paragraph(("item",)), (Box("-", 2),))]
    assert blocks.line("") == [Piece(Paragraph(("other",)), (Box("-", 2),))]
    assert blocks.line("***") == [Piece(Break(), gap=0)]
    assert blocks.finish() == []


def test_boxes_are_begun_once() -> None:
    assert pieces_of("1. one\n\n   two\n   > quote\n2. [x] no task\n- [x] task\n-\n> - deep") == [
        Piece(Paragraph(("one",)), (Box("1.", 3),)),
        Piece(Paragraph(("two",)), (Box("1.", 3),), begun=1, gap=1),
        Piece(Paragraph(("quote",)), (Box("1.", 3), Box()), begun=1),
        Piece(Paragraph(("[x] no task",)), (Box("2.", 3),)),
        Piece(Paragraph(("task",)), (Box("[x]", 2),)),
        Piece(Paragraph(()), (Box("-", 2),)),
        Piece(Paragraph(("deep",)), (Box(), Box("-", 2))),
    ]


def test_two_blanks_below_a_number_are_inside() -> None:
    assert pieces_of("1. one\n  - two\n") == [
        Piece(Paragraph(("one",)), (Box("1.", 3),)),
        Piece(Paragraph(("two",)), (Box("1.", 3), Box("-", 2)), begun=1),
    ]


def test_tables() -> None:
    text = "before\n| a | b \\| c |\n|:-:|--:|\n| 1 |\n2 | 3 | 4\n\nafter"
    assert pieces_of(text) == [
        Piece(Paragraph(("before",))),
        Piece(Grid(("a", "b | c"), (("1", ""), ("2", "3 | 4")), (Alignment.CENTRE, Alignment.RIGHT))),
        Piece(Paragraph(("after",)), gap=0),
    ]


def test_long_code_comes_in_parts() -> None:
    lines = [f"x = {number}" for number in range(PIECE + 1)]
    first, second = pieces_of("~~~ python title\n" + "\n".join(lines) + "\n~~~")
    assert first.leaf == Code(tuple(lines[:PIECE]), "python title", is_last=False)
    assert second.leaf == Code((lines[PIECE],), "python title", tuple(lines[:PIECE]), is_first=False)


def test_long_tables_and_paragraphs_come_in_parts() -> None:
    head = "| a |\n|---|\n"
    first, second = pieces_of(head + "| x |\n" * 150)
    assert isinstance(first.leaf, Grid)
    assert isinstance(second.leaf, Grid)
    assert (len(first.leaf.rows), len(second.leaf.rows), second.leaf.first_rows) == (100, 50, first.leaf.rows)
    paragraphs = pieces_of("some words\n" * 3000)
    assert len(paragraphs) > 5
    assert all(piece.gap is None for piece in paragraphs)


def test_markup_and_definitions_are_text() -> None:
    assert pieces_of("<div>\n# x\n</div>\n\n[a]: http://x") == [
        Piece(Markup(("<div>", "# x", "</div>"))),
        Piece(Paragraph(("[a]: http://x",)), gap=0),
    ]


LINES = [
    *("a", "b c", "", "", "- x", "- y", "    - w", "1. one", "2. two", "   para", "> q", "> - l", ">", "10) n", "+ p"),
    *(
        "```",
        "```py",
        "  ```",
        "# h",
        "---",
        "===",
        "    code",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "* * *",
        "  cont",
    ),
    *("<div>", "##", "## a ##", "-", "1)", "> ```", "> # h", "- # h", "- ```", "#no", "~~~", "_ _ _", "-\\-"),
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(LINES), max_size=9))
def test_blocks_are_those_of_commonmark(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    assert outline(text) == outline_of_others(text)


def outline(text: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for piece in pieces_of(text):
        boxes = "".join("Q" if box.is_quote else "I" for box in piece.boxes)
        match piece.leaf:
            case Heading(level, words):
                found.append((boxes, f"h{level}", *words.split()))
            case Code(lines):
                found.append((boxes, "code", "\n".join(lines).rstrip()))
            case Paragraph(()):
                pass
            case leaf:
                found.append((boxes, type(leaf).__name__))
    return found


def outline_of_others(text: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    boxes = ""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for number, token in enumerate(tokens):
        match token.type:
            case "blockquote_open" | "list_item_open":
                boxes += "Q" if token.type == "blockquote_open" else "I"
            case "blockquote_close" | "list_item_close":
                boxes = boxes[:-1]
            case "heading_open":
                found.append((boxes, token.tag, *tokens[number + 1].content.split()))
            case "fence" | "code_block":
                found.append((boxes, "code", token.content.rstrip()))
            case "paragraph_open":
                found.append((boxes, "Paragraph"))
            case "table_open":
                found.append((boxes, "Grid"))
            case "hr":
                found.append((boxes, "Break"))
            case "html_block":
                found.append((boxes, "Markup"))
            case _:
                pass
    return found
