"""Choices of an approval dialog as rows: a numbered list, or side by side where space is short."""

from collections.abc import Sequence

from rich.text import Text

from tejat.ui.shared.approval.choices import ApprovalChoice, rule_labels
from tejat.ui.terminal.render.text_rows import (
    StyledText,
    display_width,
    expand_tabs,
    styled_row,
    styled_rows,
    truncate,
    truncated_row,
    wrap_text,
    wrap_words,
)
from tejat.ui.terminal.render.theme import StyleRole, Theme


def list_rows(choices: Sequence[ApprovalChoice], selected: int, theme: Theme, *, width: int) -> list[Text]:
    """Return a numbered list of the labels with their keys."""
    rows: list[Text] = []
    for at, choice in enumerate(choices):
        sign = theme.glyphs.cursor if at == selected else " "
        lead, key = f"{sign} {at + 1}. ", f" ({choice.letter})"
        role = StyleRole.PROMPT if at == selected else StyleRole.TEXT
        room = max(width - display_width(lead), 1)
        labels = wrap_words(choice.label, width=room)
        for number, label in enumerate(labels, 1):
            pieces = [(lead, StyleRole.ACCENT), (label, role)]
            if number == len(labels) and display_width(label) + len(key) <= room:
                pieces.append((key, StyleRole.QUIET))
            rows.append(styled_row(theme, *pieces))
            lead = " " * display_width(lead)
    return rows


def compact_rows(choices: Sequence[ApprovalChoice], selected: int, theme: Theme, *, width: int) -> list[Text]:
    """Return keys and short labels side by side."""
    rows: list[list[StyledText]] = [[]]
    room = width
    for at, choice in enumerate(choices):
        sign = theme.glyphs.cursor if at == selected else " "
        text = truncate(f"{choice.letter} {choice.short_label}", width - 2, theme)
        if display_width(text) + 1 > room:
            rows.append([])
            room = width
        key, label = text[: len(choice.letter)], text[len(choice.letter) :]
        pieces = [(key, StyleRole.STRONG), (label, StyleRole.TEXT)]
        if at == selected:
            pieces = [(text, StyleRole.PROMPT)]
        rows[-1] += [(sign, StyleRole.ACCENT), *pieces, (" ", StyleRole.TEXT)]
        room -= display_width(text) + 2
    return [styled_row(theme, *row[:-1]) for row in rows]


def selected_label_row(choice: ApprovalChoice, theme: Theme, *, width: int) -> Text:
    """Return the full label of the selected choice, for compact rows."""
    return truncated_row(theme, f"{theme.glyphs.cursor} {choice.label}", StyleRole.ACCENT, width)


def rule_rows(choices: Sequence[ApprovalChoice], theme: Theme, *, width: int) -> list[Text]:
    """Return the rules that choices would add."""
    labels = (expand_tabs(label) for label in rule_labels(choices))
    rows = [row for label in labels for row in wrap_text(label, width=width, rest=theme.continuation, at_blanks=True)]
    return styled_rows(theme, rows, StyleRole.QUIET)
