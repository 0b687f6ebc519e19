"""The status line: the most important facts that fit into one row."""

from rich.console import RenderableType
from rich.text import Text

from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext
from tejat.core.ui.status import SandboxState, Status, StatusItem, StatusLineOptions
from tejat.ui.shared.approval_mode import mode_label
from tejat.ui.shared.labels.run_summary import format_cost, format_tokens
from tejat.ui.shared.sandbox_label import sandbox_label
from tejat.ui.terminal.render.text_rows import display_width, single_line, truncate
from tejat.ui.terminal.render.theme import StyleRole, Theme

_HALF_FULL = 0.5
"""Used fraction of the context window from which it is shown."""
_NEARLY_FULL = 0.8
_MAX_NAME_CHARS = 40


def render_status_line(
    status: Status,
    theme: Theme,
    *,
    width: int,
    is_working: bool = False,
    is_vi_navigation: bool = False,
    options: StatusLineOptions | None = None,
) -> RenderableType:
    """Render one row of at most `width`, least important items dropped first."""
    items = _pieces(status, options or StatusLineOptions(), is_vi_navigation=is_vi_navigation)
    sign = f"{theme.glyphs.running} " if is_working else ""
    separator = f" {theme.glyphs.separator} "
    while len(items) > 1 and display_width(sign) + _width(items, separator) > width:
        items.remove(max(items, key=lambda piece: piece.drop_order))
    row = Text(no_wrap=True, overflow="crop", end="")
    row.append(sign, theme.style(StyleRole.ACCENT))
    left = width - display_width(sign)
    for number, piece in enumerate(items):
        for words, part in ((separator if number else "", StyleRole.STATUS), (piece.text, piece.role)):
            kept = truncate(words, left, theme)
            row.append(kept, theme.style(part))
            left -= display_width(kept)
    return row


class _Piece(Frozen):
    """A piece of the row; those with the highest `drop_order` are dropped first."""

    text: str
    drop_order: int
    role: StyleRole = StyleRole.STATUS


def _pieces(status: Status, options: StatusLineOptions, *, is_vi_navigation: bool) -> list[_Piece]:
    """Return the pieces in display order, warnings first."""
    # Modes that ask less stand out.
    mode_part = StyleRole.ACCENT if status.mode == "plan" else StyleRole.WARNING
    always = [
        _Piece(sandbox_label(status.sandbox) if status.sandbox is SandboxState.NONE else "", -1, StyleRole.WARNING),
        _Piece(_("vim: normal mode") if is_vi_navigation else "", 1, StyleRole.ACCENT),
        _Piece(_("not trusted") if not status.is_trusted else "", 2, StyleRole.WARNING),
        _Piece(_shorten(mode_label(status.mode)), 0 if mode_part is StyleRole.WARNING else 3, mode_part),
    ]
    chosen = [] if options.is_hidden else _chosen_pieces(status, options)
    return [piece for piece in (*always, *chosen) if piece.text]


def _chosen_pieces(status: Status, options: StatusLineOptions) -> list[_Piece]:
    known = _known_pieces(status)
    if options.items is not None:
        return [known[item] for item in options.items if item in known]
    usual = [StatusItem.MODEL, StatusItem.WORKSPACE, StatusItem.BRANCH]
    if status.context_used is not None and status.context_used >= _HALF_FULL:
        usual.append(StatusItem.CONTEXT)
    shown = [known[item] for item in usual if item not in options.hidden]
    cost = _Piece(format_cost(status.cost) if status.cost else "", 6)
    sandbox = [] if StatusItem.SANDBOX in options.hidden else [known[StatusItem.SANDBOX]]
    return [*shown, cost, _Piece(*_servers(status)), *sandbox]


def _known_pieces(status: Status) -> dict[StatusItem, _Piece]:
    added, removed = status.line_changes
    return {
        StatusItem.MODEL: _Piece(_shorten(status.model), 1),
        StatusItem.WORKSPACE: _Piece(_shorten(status.folder, from_end=True), 4),
        StatusItem.BRANCH: _Piece(_shorten(status.branch), 8),
        StatusItem.CONTEXT: _Piece(*_context(status.context_used)),
        StatusItem.TOKENS: _Piece(format_tokens(status.tokens, status.cached_tokens) if status.tokens else "", 10),
        StatusItem.SANDBOX: _Piece("" if status.sandbox is SandboxState.NONE else sandbox_label(status.sandbox), 11),
        StatusItem.CHANGES: _Piece(f"+{added} -{removed}" if added or removed else "", 9),
        StatusItem.SESSION: _Piece(_shorten(status.session_id), 13),
        StatusItem.HOST: _Piece(_shorten(status.host), 13),
        StatusItem.MEMORY: _Piece(_("{size} MB", size=round(status.memory / 1e6)) if status.memory else "", 13),
    }


def _context(used: float | None) -> tuple[str, int, StyleRole]:
    if used is None:
        return "", 3, StyleRole.STATUS
    percent = _("context {percent}% full", percent=min(round(100 * used), 999))
    return (percent, 3, StyleRole.WARNING) if used >= _NEARLY_FULL else (percent, 7, StyleRole.STATUS)


def _servers(status: Status) -> tuple[str, int, StyleRole]:
    """Return the MCP servers that are not ready; those that are need no attention."""
    servers = status.servers
    if servers.failed:
        failed = ngettext("{count} MCP server failed", "{count} MCP servers failed", servers.failed)
        return failed, 5, StyleRole.WARNING
    if servers.ready < servers.total:
        return _("MCP servers {ready}/{total}", ready=servers.ready, total=servers.total), 12, StyleRole.STATUS
    return "", 12, StyleRole.STATUS


def _shorten(text: str, *, from_end: bool = False) -> str:
    """Sanitize and shorten a text. Of a path the end matters most."""
    shown = single_line(text)
    if len(shown) <= _MAX_NAME_CHARS:
        return shown
    return f"...{shown[-_MAX_NAME_CHARS + 3 :]}" if from_end else f"{shown[: _MAX_NAME_CHARS - 3]}..."


def _width(items: list[_Piece], separator: str) -> int:
    return sum(display_width(piece.text) for piece in items) + display_width(separator) * (len(items) - 1)
