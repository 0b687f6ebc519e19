"""The first screen: what runs where, three tips, and warnings about the start."""

import re
from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from tejat.core.i18n import _, lazy, translate
from tejat.core.ui.status import SandboxState, Status, WelcomeOptions
from tejat.ui.shared.approval_mode import default_mode_label, mode_label
from tejat.ui.shared.sandbox_label import sandbox_label
from tejat.ui.terminal.render.row_segments import RowSegment, hanging_paragraph, render_row
from tejat.ui.terminal.render.text_rows import display_width, single_line
from tejat.ui.terminal.render.theme import StyleRole, Theme
from tejat.ui.terminal.views.transcript import TranscriptScreen

_MAX_ROWS = 6
_KEYS = r"(/[a-z]+|Shift-Tab|Esc|GEMINI\.md)"
_INDENT = "  "
_TIPS = (
    (lazy("Shift-Tab to switch modes: ask first, auto-edit, plan"), lazy("Shift-Tab to switch modes")),
    (lazy("/init to describe this project for the model in GEMINI.md"), lazy("/init to describe this project")),
    (lazy("Esc to stop, /undo to revert changes, /resume to continue later"), lazy("Esc to stop, /undo to revert")),
)
"""Each with a shorter form for narrow terminals."""
_UNTRUSTED_MODES_TIP = (lazy("Shift-Tab to switch modes: ask first, plan"), lazy("Shift-Tab to switch modes"))


class WelcomeView:
    """Draws at most six rows, and a row or more for each of the warnings. Resumed sessions have no tips."""

    def __init__(
        self,
        status: Status,
        theme: Theme,
        *,
        options: WelcomeOptions | None = None,
        resumed_id: str = "",
        warnings: Sequence[str] = (),
    ) -> None:
        self._status = status
        self._theme = theme
        self._options = options or WelcomeOptions()
        self._resumed_id = resumed_id
        self._warnings = warnings

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._rows(options.max_width)
        mark = RowSegment(self._theme.glyphs.warning, StyleRole.WARNING)
        for warning in self._warnings:
            yield hanging_paragraph(mark, RowSegment(warning.strip()), theme=self._theme)

    @property
    def is_empty(self) -> bool:
        has_tips = not (self._options.hides_tips or self._resumed_id)
        return self._options.hides_banner and not has_tips and not self._warnings

    def _rows(self, width: int) -> list[Text]:
        banner = [] if self._options.hides_banner else [self._title(width), *self._facts(width)]
        tips = [] if self._options.hides_tips or self._resumed_id else self._tips(width)
        is_roomy = banner and tips and len(banner) + len(tips) < _MAX_ROWS
        return [*banner, *([Text("")] if is_roomy else []), *tips][:_MAX_ROWS]

    def _title(self, width: int) -> Text:
        separator = f" {self._theme.glyphs.separator} "
        segments = (
            RowSegment("* " if self._theme.is_ascii else "✦ ", StyleRole.ACCENT),
            RowSegment("Tejat", StyleRole.STRONG),
            RowSegment(f" {self._status.version}{separator}", StyleRole.QUIET),
            RowSegment(self._status.model, is_shrinkable=True),
        )
        return render_row(segments, self._theme, width=width)

    def _facts(self, width: int) -> list[Text]:
        """Return the facts in as few rows as they fit into."""
        separator = RowSegment(f" {self._theme.glyphs.separator} ", StyleRole.QUIET)
        rows: list[list[RowSegment]] = []
        room = 0
        for fact in self._fact_segments():
            needed = display_width(single_line(fact.text))
            if rows and display_width(separator.text) + needed <= room:
                rows[-1] += [separator, fact]
                room -= display_width(separator.text) + needed
            else:
                rows.append([RowSegment(_INDENT), fact])
                room = width - len(_INDENT) - needed
        return [render_row(row, self._theme, width=width) for row in rows]

    def _fact_segments(self) -> list[RowSegment]:
        status = self._status
        folder = f"{status.folder} ({status.branch})" if status.branch else status.folder
        mode_role = StyleRole.WARNING if status.mode == "yolo" else StyleRole.QUIET
        sandbox_role = StyleRole.WARNING if status.sandbox is SandboxState.NONE else StyleRole.QUIET
        resumed = _("resumed session {id}", id=self._resumed_id) if self._resumed_id else ""
        facts = (
            RowSegment(folder, is_shrinkable=True),
            RowSegment(mode_label(status.mode) or default_mode_label(runs_sandboxed=status.runs_sandboxed), mode_role),
            RowSegment(sandbox_label(status.sandbox), sandbox_role),
            RowSegment(resumed),
        )
        return [fact for fact in facts if fact.text]

    def _tips(self, width: int) -> list[Text]:
        room = width - len(_INDENT)
        tips = _TIPS if self._status.is_trusted else (_UNTRUSTED_MODES_TIP, *_TIPS[1:])
        shown = [(translate(full), translate(short)) for full, short in tips]
        texts = [full if display_width(full) <= room else short for full, short in shown]
        return [render_row([RowSegment(_INDENT), *_tip_segments(text)], self._theme, width=width) for text in texts]


def _tip_segments(text: str) -> list[RowSegment]:
    """Return a tip whose keys and commands stand out."""
    pieces = re.split(_KEYS, text)
    return [RowSegment(piece, StyleRole.TEXT if at % 2 else StyleRole.QUIET) for at, piece in enumerate(pieces)]


class WelcomeScreen:
    """The screen of a transcript below the first screen, which is drawn live until it is complete.

    It is printed when that is so, or before anything else is printed, and once.
    """

    def __init__(self, screen: TranscriptScreen) -> None:
        self._screen = screen
        self._held: RenderableType | None = None
        self._has_printed = self._needs_gap = False
        self.show_hint = screen.show_hint

    @property
    def theme(self) -> Theme:
        return self._screen.theme

    @property
    def height(self) -> int:
        return self._screen.height

    def hold(self, welcome: RenderableType) -> None:
        """Draw the first screen, which may still change."""
        self._held = Group(Text(""), welcome) if self._has_printed else welcome
        self._screen.set_live(self._held)

    @property
    def is_held(self) -> bool:
        return self._held is not None

    def release(self) -> None:
        """Print the first screen if it is still held."""
        if self._held is not None:
            welcome, self._held = self._held, None
            self._needs_gap = True
            self._screen.set_live(None)
            self._screen.print(welcome)

    def print(self, *renderables: RenderableType) -> None:
        self.release()
        is_apart = not self._needs_gap or renderables[:1] == (Text(""),)
        self._needs_gap, self._has_printed = False, True
        self._screen.print(*([] if is_apart else [Text("")]), *renderables)

    def set_live(self, renderable: RenderableType | None, /) -> None:
        if self._held is None:
            self._screen.set_live(renderable)
        elif renderable is not None:
            self.release()
            self._screen.set_live(renderable)
