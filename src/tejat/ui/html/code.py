"""Code with syntax colours, as classes of a style sheet."""

from functools import lru_cache
from html import escape

from tejat.core.i18n import _
from tejat.ui.html.markup import cut_text, escape_text, scroll_box
from tejat.ui.shared.text.code_tokens import CodeLine, CodeRole, split_source
from tejat.ui.shared.text.sanitizer import make_terminal_safe

MAX_CODE_CHARS = 1_000_000
"""Longest code that is shown."""
_MAX_HIGHLIGHT_CHARS = 30_000
"""Longest code with colours."""
_MAX_CACHED_CODES = 512


def render_code(text: str, language: str = "", *, label: str = "") -> str:
    """Render a block of code. `label` names it for screen readers, otherwise its language does."""
    name = language.strip()
    if not label:
        label = _("Code: {language}", language=name) if name else _("Code")
    content = f"<code>{highlight_code(cut_text(text, max_chars=MAX_CODE_CHARS), name)}</code>"
    return scroll_box("pre", content, class_="code", label=label)


def highlight_code(text: str, language: str) -> str:
    """Return code as escaped text, with colours unless it is huge or its language is unknown."""
    text = text.removesuffix("\n")
    return escape_text(text) if not language or len(text) > _MAX_HIGHLIGHT_CHARS else _highlight(text, language)


def token_markup(line: CodeLine) -> str:
    """Return a sanitized line of code as markup."""
    return "".join(escape(text) if role is None else role_markup(text, role) for text, role in line)


def role_markup(text: str, role: CodeRole) -> str:
    """Return a sanitized token in the colour of its role."""
    return f'<span class="hl-{role.value}">{escape(text)}</span>'


@lru_cache(_MAX_CACHED_CODES)
def _highlight(text: str, language: str) -> str:
    return "\n".join(map(token_markup, split_source(make_terminal_safe(text), language)))
