"""Syntax highlighting for the terminal, for named languages only and never changing the code."""

from collections.abc import Iterator, Sequence

from tejat.ui.shared.text.code_tokens import CodeLine, plain_lines, split_source, split_tokens
from tejat.ui.terminal.render.text_wrap import NO_STYLE, StyledLine
from tejat.ui.terminal.render.theme import ColourDepth, StyleRole, Theme


def highlight_lines(
    lines: Sequence[str], language: str, theme: Theme, *, before: Sequence[str] = ()
) -> list[StyledLine]:
    """Highlight lines of code without changing or wrapping them. `before` are the lines above, for the lexer."""
    has_colours = theme.colour_depth is not ColourDepth.NONE
    tokens = split_tokens(lines, language, before=before) if has_colours else plain_lines(lines)
    return [style_tokens(line, theme) for line in tokens]


def highlight_source(text: str, language: str, theme: Theme) -> Iterator[StyledLine]:
    """Highlight a sanitized text of any length."""
    has_colours = theme.colour_depth is not ColourDepth.NONE
    return (style_tokens(line, theme) for line in split_source(text, language if has_colours else ""))


def style_tokens(line: CodeLine, theme: Theme) -> StyledLine:
    """Return a line of code with the styles of its tokens."""
    return [(text, NO_STYLE if role is None else theme.style(StyleRole(role.value))) for text, role in line]
