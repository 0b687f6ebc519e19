"""Lines of an approval view with the styles of the terminal."""

from rich.text import Text

from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind
from tejat.ui.shared.approval.view import ApprovalView, FactKind
from tejat.ui.terminal.dialogs.approval.content_rows import ContentLine, MarkdownContent, TextLine
from tejat.ui.terminal.render.text_rows import (
    StyledText,
    display_width,
    expand_tabs,
    styled_row,
    styled_rows,
    wrap_text,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme


def heading_rows(view: ApprovalView, theme: Theme, *, width: int) -> list[Text]:
    """Return the heading with the counts of changed lines, and at the right the position among several questions."""
    heading, counts = expand_tabs(view.heading), "".join(f" {count}" for count in view.counts)
    position = f" {view.position}" if view.position else ""
    *above, last = wrap_text(heading, width=width, rest=theme.continuation, at_blanks=True)
    if display_width(last) + display_width(counts) + display_width(position) > width:
        whole = f"{heading}{counts}{position}"
        rows = wrap_text(whole, width=width, rest=theme.continuation, at_blanks=True)
        return styled_rows(theme, rows, StyleRole.STRONG)
    pieces: list[StyledText] = [(last, StyleRole.STRONG)]
    pieces += ((f" {count}", StyleRole.ADDED if count[0] == "+" else StyleRole.REMOVED) for count in view.counts)
    if position:
        gap = width - display_width(last) - display_width(counts) - display_width(position)
        pieces.append((" " * gap + position, StyleRole.QUIET))
    return [*styled_rows(theme, above, StyleRole.STRONG), styled_row(theme, *pieces)]


def heading_line(view: ApprovalView) -> TextLine:
    """Return the heading and its counts as one line."""
    return TextLine(" ".join((view.heading, *view.counts)), StyleRole.STRONG, at_blanks=True)


def fact_lines(view: ApprovalView, theme: Theme) -> list[TextLine]:
    """Return the facts in their order, warnings with a sign."""
    return [
        TextLine(
            fact.text,
            _FACT_ROLES[fact.kind],
            prefix=f"{theme.glyphs.warning} " if fact.kind is FactKind.WARNING else "",
            at_blanks=True,
            is_prose=fact.kind is FactKind.WARNING,
        )
        for fact in view.facts
    ]


def call_lines(view: ApprovalView) -> list[ContentLine]:
    """Return the proposed action: text, then the diff."""
    if view.is_markdown:
        return [MarkdownContent("\n".join(line.text for line in view.body))]
    return [*map(_styled_line, view.body), *view.diff]


def server_note_lines(view: ApprovalView) -> list[TextLine]:
    return list(map(_styled_line, view.server_notes))


def _styled_line(line: DisplayLine) -> TextLine:
    return TextLine(line.text, _LINE_ROLES[line.kind], prefix=line.prefix)


_FACT_ROLES = {FactKind.WARNING: StyleRole.RISK, FactKind.NOTE: StyleRole.WARNING, FactKind.PLAIN: StyleRole.TEXT}
_LINE_ROLES = {
    DisplayLineKind.COMMAND: StyleRole.STRONG,
    DisplayLineKind.COMMAND_CONTINUATION: StyleRole.STRONG,
    DisplayLineKind.QUOTED: StyleRole.TEXT,
    DisplayLineKind.LABEL: StyleRole.STRONG,
}
