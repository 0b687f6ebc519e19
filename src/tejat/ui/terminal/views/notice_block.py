"""Notices of the transcript: what happened beside the answer and the calls, and how a run ended."""

from rich.console import RenderableType
from rich.style import Style

from tejat.core.agent.events import EndReason, Noticed, RunEnded, Severity
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.ui.shared.notices import run_end_message, severity_label
from tejat.ui.terminal.render.markdown.inline_parser import parse_inline
from tejat.ui.terminal.render.row_segments import RowSegment, hanging_paragraph
from tejat.ui.terminal.render.text_wrap import NO_STYLE, WrappedLines, prefix_lines, wrap_runs
from tejat.ui.terminal.render.theme import StyleRole, Theme


def render_notice(noticed: Noticed, theme: Theme) -> RenderableType:
    """Render a notice: a sign, a word for what is more than a note, and the message."""
    message = noticed.message.strip()
    if noticed.severity is Severity.NOTE:
        return render_quiet(message, theme)
    is_error = noticed.severity is Severity.ERROR
    role = StyleRole.BAD if is_error else StyleRole.WARNING
    sign = RowSegment(theme.glyphs.failed if is_error else theme.glyphs.warning, role)
    label = RowSegment(f"{severity_label(noticed.severity)}: ", role)
    return hanging_paragraph(sign, label, RowSegment(message), theme=theme)


def render_quiet(message: str, theme: Theme) -> RenderableType:
    return hanging_paragraph(
        RowSegment(theme.glyphs.bullet, StyleRole.QUIET), RowSegment(message, StyleRole.QUIET), theme=theme
    )


def render_thoughts(thoughts: str, theme: Theme) -> RenderableType:
    """Render thoughts of the model, with their emphasis but without its marks."""
    quiet: Style = theme.style(StyleRole.QUIET)
    runs = parse_inline(sanitize_text(thoughts), theme, quiet)
    first, others = [(f"{theme.glyphs.bullet} ", quiet)], [("  ", NO_STYLE)]
    return WrappedLines(lambda width: prefix_lines(wrap_runs(runs, max(width - 2, 1)), first, others))


def render_run_end(ended: RunEnded, theme: Theme, *, was_cut: bool) -> RenderableType | None:
    """Render why a run ended, None if there is nothing to say. `was_cut`: in the middle of an answer."""
    sentences = [run_end_message(ended), _("The answer above is incomplete.") if was_cut else ""]
    words = " ".join(filter(None, sentences))
    if not words:
        return None
    is_stop = ended.reason in (EndReason.FINISHED, EndReason.INTERRUPTED)
    sign = theme.glyphs.cancelled if is_stop else theme.glyphs.failed
    role = StyleRole.WARNING if is_stop else StyleRole.BAD
    return hanging_paragraph(RowSegment(sign, role), RowSegment(words), theme=theme)
