"""A transcript on a screen that keeps everything."""

import re
from typing import Any

from rich.console import RenderableType

from support.sample_events import CALL, call_finished
from tejat.core.agent.events import AgentEvent
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallState, StateChanged
from tejat.ui.terminal.render.rich_output import render_ansi, render_rows
from tejat.ui.terminal.render.theme import Theme
from tejat.ui.terminal.views.transcript import Transcript

PLAIN = Theme()

MCP = FunctionCall("github__clone", {"url": "x"})
READ = call_finished(CALL, ToolResult("one", ""))
SEARCH = FunctionCall("search_file_content", {"pattern": "x", "path": "/w/src"})
SEARCHED = call_finished(SEARCH, ToolResult("...", "Found 3 match(es)"))


class RecordedScreen:
    """Keeps everything: what was printed as text without colours, and what is live."""

    def __init__(self, *, width: int = 80, height: int = 24, theme: Theme = PLAIN) -> None:
        self.width, self.height, self.theme = width, height, theme
        self.printed = ""
        self.hints: list[str] = []
        self._live: RenderableType | None = None
        self.now = 100.0

    def print(self, *renderables: RenderableType) -> None:
        for renderable in renderables:
            self.printed += plain(render_ansi(renderable, self.theme, width=self.width))

    def set_live(self, renderable: RenderableType | None, /) -> None:
        self._live = renderable

    def show_hint(self, text: str) -> None:
        self.hints.append(text)

    @property
    def rows(self) -> list[str]:
        """The live rows."""
        if self._live is None:
            return []
        rows = render_rows(self._live, self.theme, width=self.width)
        return ["".join(cell.text for cell in row).rstrip() for row in rows]

    @property
    def drawn(self) -> list[str]:
        """The live rows without the blank one above them."""
        return self.rows[1:] if self.rows[:1] == [""] else self.rows


def plain(text: str) -> str:
    """Without the codes for bold and dim, which are there without colours too."""
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def show_events(*events: AgentEvent, prompt: str = "do it", **how: object) -> RecordedScreen:
    screen, transcript = open_transcript(**how)
    transcript.begin_run(prompt)
    for event in events:
        transcript.handle_event(event)
    return screen


def open_transcript(**how: object) -> tuple[RecordedScreen, Transcript]:
    screen = RecordedScreen(**how)  # pyright: ignore[reportArgumentType]
    return screen, Transcript(screen, folder="/w", clock=lambda: screen.now)


def printed(*events: AgentEvent, **how: Any) -> str:
    return show_events(*events, **how).printed.removeprefix("> do it\n\n")


def lines(count: int, word: str = "line") -> str:
    return "\n".join(f"{word} {number}" for number in range(1, count + 1))


def running(index: int, call: FunctionCall, state: CallState = CallState.EXECUTING) -> StateChanged:
    return StateChanged(index, call, state)
