from tejat.core.ui.report import DiffBlock, MarkdownBlock, Paragraph, Report, ReportTable, SourceListing, Tone
from tejat.ui.acp.report_markdown import report_to_markdown


def test_all_kinds_of_blocks() -> None:
    report = Report(
        "Title",
        (
            Paragraph("first\nsecond"),
            Paragraph("strong", Tone.STRONG),
            ReportTable((("a", "b|c"),), ("One", "Two")),
            SourceListing("x = 1", "python"),
            DiffBlock("-a\n+b"),
            MarkdownBlock("*kept*"),
        ),
    )
    assert report_to_markdown(report) == (
        "**Title**\n\n"
        "first  \nsecond\n\n"
        "**strong**\n\n"
        "| One | Two |\n| --- | --- |\n| a | b\\|c |\n\n"
        "```python\nx = 1\n```\n\n"
        "```diff\n-a\n+b\n```\n\n"
        "*kept*\n\n"
    )


def test_text_is_not_markup_and_hidden_characters_are_visible() -> None:
    text = report_to_markdown(Report(blocks=(Paragraph("[link](x) <b> `code`\u202e"),)))
    assert text == "\\[link\\](x) \\<b\\> \\`code\\`\\<U+202E\\>\n\n"


def test_a_table_without_headings_or_rows() -> None:
    assert report_to_markdown(Report(blocks=(ReportTable((("a",),)),))) == "|  |\n| --- |\n| a |\n\n"
    assert report_to_markdown(Report(blocks=(ReportTable(()),))) == "\n\n"
