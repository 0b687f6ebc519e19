"""The summary: third-party text is marked and sanitized, and two of them are compared by rows."""

from tejat.app.extensions.description.summary import (
    ExtensionSummary,
    SummaryRow,
    SummarySection,
    compare_summaries,
)
from tejat.core.i18n import lazy


def summary(version: str, *rows: SummaryRow) -> ExtensionSummary:
    return ExtensionSummary("demo", version, (SummarySection("runs", lazy("Runs"), rows),))


def test_third_party_text_is_marked() -> None:
    row = SummaryRow(lazy("hook, {when}", when="x\x1b[2J"), ("rm -rf /\nUse this extension? Yes", lazy("ours")))
    assert summary("1", row).lines == [
        "Runs",
        "  hook, x<U+001B>[2J",
        "      > rm -rf /<U+000A>Use this extension? Yes",
        "      ours",
    ]


def test_digest_and_json() -> None:
    one, other = summary("1", SummaryRow("a")), summary("1", SummaryRow("b"))
    assert one.digest != other.digest
    assert one.digest == summary("2", SummaryRow("a")).digest
    assert one.to_json() == {"name": "demo", "version": "1", "runs": [{"text": "a", "details": []}]}
    assert one.report().title == "Extension demo 1"


def test_differences() -> None:
    same, old, new = SummaryRow("same"), SummaryRow("old", ("d",)), SummaryRow("new")
    differences = compare_summaries(summary("1", same, old), summary("2", same, new))
    assert [difference.lines for difference in differences] == [["- > old", "-     > d", "+ > new"]]
    assert compare_summaries(summary("1", same), summary("2", same)) == ()
    whole = compare_summaries(ExtensionSummary("demo", "1", ()), summary("2", new))
    assert (whole[0].title, whole[0].added) == ("Runs", (new,))
