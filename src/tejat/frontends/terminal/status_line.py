"""The row at the bottom: what a person can see at a glance, the most important of it where there is little room."""

import os

from rich.console import RenderableType
from rich.text import Text

from tejat.core.status import Status
from tejat.core.value import value
from tejat.core.words import say
from tejat.frontends.mode_words import mode_in_words
from tejat.frontends.run_figures import money_in_words, tokens_in_words
from tejat.frontends.terminal.look import Look, Part
from tejat.frontends.terminal.rows import columns_of, cut, one_line

_NEARLY_FULL = 0.8
_LONGEST_NAME = 40


def status_line(
    status: Status,
    look: Look,
    *,
    width: int,
    is_working: bool = False,
    takes_commands: bool = False,
    home: str | None = None,
) -> RenderableType:
    """One row of at most this width. What matters less is left out first.

    `home` is shown as `~`; without it the home of the process is. `takes_commands` is for those who use vi.
    """
    folder = _from_home(status.folder, os.path.expanduser("~") if home is None else home)
    pieces = _pieces(status, folder)
    if takes_commands:
        pieces.insert(0, _Piece(say("vi: commands"), 1, Part.ACCENT))
    sign = f"{look.glyphs.running} " if is_working else ""
    separator = f" {look.glyphs.separator} "
    while len(pieces) > 1 and columns_of(sign) + _width(pieces, separator) > width:
        pieces.remove(max(pieces, key=lambda piece: piece.rank))
    row = Text(no_wrap=True, overflow="crop", end="")
    row.append(sign, look.style(Part.ACCENT))
    left = width - columns_of(sign)
    for number, piece in enumerate(pieces):
        for words, part in ((separator if number else "", Part.STATUS), (piece.text, piece.part)):
            kept = cut(words, left, look)
            row.append(kept, look.style(part))
            left -= columns_of(kept)
    return row


@value
class _Piece:
    """`rank` is when it has to go: the highest first."""

    text: str
    rank: int
    part: Part = Part.STATUS


def _pieces(status: Status, folder: str) -> list[_Piece]:
    """In the order in which they stand."""
    mode, mode_part = _mode(status.mode)
    found = [
        _Piece(say("not trusted") if not status.is_trusted else "", 2, Part.WARNING),
        _Piece(mode, 0 if mode_part is Part.WARNING else 3, mode_part),
        _Piece(_short(status.model), 1),
        _Piece(_short(folder, from_end=True), 4),
        _Piece(_short(status.branch), 8),
        _Piece(*_context(status.context_used)),
        _Piece(tokens_in_words(status.tokens, status.cached_tokens) if status.tokens else "", 10),
        _Piece(money_in_words(status.cost) if status.cost else "", 6),
        _Piece(*_servers(status)),
        _Piece(say("sandbox: {name}", name=_short(status.sandbox)) if status.sandbox else "", 11),
    ]
    return [piece for piece in found if piece.text]


def _mode(mode: str) -> tuple[str, Part]:
    """Nothing is said of the usual one. Those that ask less stand out."""
    return _short(mode_in_words(mode)), Part.ACCENT if mode == "plan" else Part.WARNING


def _context(used: float | None) -> tuple[str, int, Part]:
    if used is None:
        return "", 3, Part.STATUS
    percent = say("context {percent} %", percent=min(round(100 * used), 999))
    return (percent, 3, Part.WARNING) if used >= _NEARLY_FULL else (percent, 7, Part.STATUS)


def _servers(status: Status) -> tuple[str, int, Part]:
    servers = status.servers
    if not servers.total:
        return "", 12, Part.STATUS
    counted = say("mcp {ready}/{total}", ready=servers.ready, total=servers.total)
    if servers.failed:
        return say("{counted}, {failed} failed", counted=counted, failed=servers.failed), 5, Part.WARNING
    return counted, 12, Part.STATUS


def _from_home(folder: str, home: str) -> str:
    home = home.rstrip("/")
    if home and (folder == home or folder.startswith(f"{home}/")):
        return f"~{folder[len(home) :]}"
    return folder


def _short(text: str, *, from_end: bool = False) -> str:
    """Safe, and not so long that it pushes everything else away. The end of a path says most."""
    shown = one_line(text)
    if len(shown) <= _LONGEST_NAME:
        return shown
    return f"...{shown[-_LONGEST_NAME + 3 :]}" if from_end else f"{shown[: _LONGEST_NAME - 3]}..."


def _width(pieces: list[_Piece], separator: str) -> int:
    return sum(columns_of(piece.text) for piece in pieces) + columns_of(separator) * (len(pieces) - 1)
