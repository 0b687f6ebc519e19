"""Markdown is read as others read it, line by line, and nothing of it is lost."""

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tejat.ui.shared.text.code_tokens import CHUNK_LINES
from tejat.ui.terminal.render.markdown.block_parser import BlockParser
from tejat.ui.terminal.render.markdown.blocks import (
    BlockContainer,
    BlockNode,
    CodeBlock,
    HeadingBlock,
    HtmlBlock,
    ParagraphBlock,
    TableBlock,
    ThematicBreak,
)
from tejat.ui.terminal.render.tables import ColumnAlignment


def pieces_of(text: str) -> list[BlockNode]:
    blocks = BlockParser()
    return [
        *(piece for line in text.removesuffix("\n").split("\n") for piece in blocks.feed_line(line)),
        *blocks.finish(),
    ]


def test_pieces_come_as_soon_as_they_are_finished() -> None:
    blocks = BlockParser()
    assert blocks.feed_line("# One") == [BlockNode(HeadingBlock(1, "One"))]
    assert blocks.feed_line("text") == []
    assert blocks.feed_line("- item") == [BlockNode(ParagraphBlock(("text",)))]
    assert blocks.feed_line("- other") == [BlockNode(ParagraphBlock(("item",)), (BlockContainer("-", 2),))]
    assert blocks.feed_line("") == [BlockNode(ParagraphBlock(("other",)), (BlockContainer("-", 2),))]
    assert blocks.feed_line("***") == [BlockNode(ThematicBreak(), gap=0)]
    assert blocks.finish() == []


def test_boxes_are_begun_once() -> None:
    assert pieces_of("1. one\n\n   two\n   > quote\n2. [x] no task\n- [x] task\n-\n> - deep") == [
        BlockNode(ParagraphBlock(("one",)), (BlockContainer("1.", 3),)),
        BlockNode(ParagraphBlock(("two",)), (BlockContainer("1.", 3),), emitted_containers=1, gap=1),
        BlockNode(ParagraphBlock(("quote",)), (BlockContainer("1.", 3), BlockContainer()), emitted_containers=1),
        BlockNode(ParagraphBlock(("[x] no task",)), (BlockContainer("2.", 3),)),
        BlockNode(ParagraphBlock(("task",)), (BlockContainer("[x]", 2),)),
        BlockNode(ParagraphBlock(()), (BlockContainer("-", 2),)),
        BlockNode(ParagraphBlock(("deep",)), (BlockContainer(), BlockContainer("-", 2))),
    ]


def test_two_blanks_below_a_number_are_inside() -> None:
    assert pieces_of("1. one\n  - two\n") == [
        BlockNode(ParagraphBlock(("one",)), (BlockContainer("1.", 3),)),
        BlockNode(ParagraphBlock(("two",)), (BlockContainer("1.", 3), BlockContainer("-", 2)), emitted_containers=1),
    ]


def test_tables() -> None:
    text = "before\n| a | b \\| c |\n|:-:|--:|\n| 1 |\n2 | 3 | 4\n\nafter"
    assert pieces_of(text) == [
        BlockNode(ParagraphBlock(("before",))),
        BlockNode(
            TableBlock(("a", "b | c"), (("1", ""), ("2", "3 | 4")), (ColumnAlignment.CENTRE, ColumnAlignment.RIGHT))
        ),
        BlockNode(ParagraphBlock(("after",)), gap=0),
    ]


def test_long_code_comes_in_parts() -> None:
    lines = [f"x = {number}" for number in range(CHUNK_LINES + 1)]
    first, second = pieces_of("~~~ python title\n" + "\n".join(lines) + "\n~~~")
    assert first.leaf == CodeBlock(tuple(lines[:CHUNK_LINES]), "python title", is_last=False)
    assert second.leaf == CodeBlock((lines[CHUNK_LINES],), "python title", tuple(lines[:CHUNK_LINES]), is_first=False)


def test_long_tables_and_paragraphs_come_in_parts() -> None:
    head = "| a |\n|---|\n"
    first, second = pieces_of(head + "| x |\n" * 150)
    assert isinstance(first.leaf, TableBlock)
    assert isinstance(second.leaf, TableBlock)
    assert (len(first.leaf.rows), len(second.leaf.rows), second.leaf.first_rows) == (100, 50, first.leaf.rows)
    paragraphs = pieces_of("some words\n" * 3000)
    assert len(paragraphs) > 5
    assert all(piece.gap is None for piece in paragraphs)


def test_markup_and_definitions_are_text() -> None:
    assert pieces_of("<div>\n# x\n</div>\n\n[a]: http://x") == [
        BlockNode(HtmlBlock(("<div>", "# x", "</div>"))),
        BlockNode(ParagraphBlock(("[a]: http://x",)), gap=0),
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
        boxes = "".join("Q" if box.is_quote else "I" for box in piece.containers)
        match piece.leaf:
            case HeadingBlock(level, words):
                found.append((boxes, f"h{level}", *words.split()))
            case CodeBlock(lines):
                found.append((boxes, "code", "\n".join(lines).rstrip()))
            case ParagraphBlock(()):
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
                found.append((boxes, "ParagraphBlock"))
            case "table_open":
                found.append((boxes, "TableBlock"))
            case "hr":
                found.append((boxes, "ThematicBreak"))
            case "html_block":
                found.append((boxes, "HtmlBlock"))
            case _:
                pass
    return found
