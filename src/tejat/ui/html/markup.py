"""Pieces of HTML: escaped text, attributes, and long text cut with a note."""

from collections.abc import Iterable
from html import escape

from tejat.core.i18n import ngettext
from tejat.core.sanitize import sanitize_line
from tejat.ui.shared.text.sanitizer import make_terminal_safe

MAX_LINE_CHARS = 4_000
"""Longest line that is shown whole."""


def escape_text(text: str) -> str:
    """Escape a text of any origin: control sequences are dropped and hidden characters become visible."""
    return escape(make_terminal_safe(text))


def escape_line(text: str) -> str:
    """Escape a text of any origin that has to stay on one line."""
    return escape(sanitize_line(text))


def element(tag: str, content: str, **attributes: str) -> str:
    """Return an element around markup. Attributes are escaped; those without a value are left out.

    A trailing underscore of an attribute is dropped, and other underscores become hyphens: `class_`, `aria_label`.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape_text(value)}"' for name, value in attributes.items() if value
    )
    return f"<{tag}{written}>{content}</{tag}>"


def scroll_box(tag: str, content: str, *, class_: str, label: str) -> str:
    """Return an element that scrolls by itself, and that the keyboard can reach for it."""
    return element(tag, content, class_=class_, tabindex="0", role="group", aria_label=label)


def disclosure(summary: str, content: str, *, class_: str = "more") -> str:
    """Return markup that is shown on demand, below a summary that is markup too."""
    return f'<details class="{class_}"><summary>{summary}</summary>{content}</details>'


def hidden_label(text: str) -> str:
    """Return a text for screen readers only."""
    return f'<span class="visually-hidden">{escape_text(text)}</span>'


def cut_text(text: str, *, max_chars: int, max_line: int = MAX_LINE_CHARS) -> str:
    """Cut a text, and each of its lines, with a note of how much is missing."""
    shown, missing = text[:max_chars], len(text) - max_chars
    if len(shown) > max_line:
        shown = "\n".join(_cut_lines(shown.split("\n"), max_line))
    return f"{shown}\n{_missing_label(missing)}" if missing > 0 else shown


def _cut_lines(lines: Iterable[str], limit: int) -> Iterable[str]:
    return (line if len(line) <= limit else f"{line[:limit]} {_missing_label(len(line) - limit)}" for line in lines)


def _missing_label(count: int) -> str:
    return "[" + ngettext("{count} more character", "{count} more characters", count) + "]"
