"""Finished blocks for the scrollback: written once, together, and one broken block does not lose the others."""

import time

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from support.terminal.dialogs import UNICODE
from tejat.ui.terminal.screen.scrollback import ScrollbackQueue


class Broken:
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        raise ValueError("cannot be drawn")


def test_blocks_are_taken_together_and_once() -> None:
    queue = ScrollbackQueue()
    assert queue.take(UNICODE, width=40) is None
    queue.add(Text("first"), Text("second"))
    queue.add(Text("third"))
    text = queue.take(UNICODE, width=40)
    assert text is not None
    assert text.split() == ["first", "second", "third"]
    assert queue.take(UNICODE, width=40) is None


def test_the_next_frame_is_due_an_interval_after_the_last_one() -> None:
    queue = ScrollbackQueue()
    assert queue.due < time.monotonic()
    queue.add(Text("first"))
    before = time.monotonic()
    queue.take(UNICODE, width=40)
    assert before + 1 / 30 <= queue.due <= time.monotonic() + 1 / 30


def test_a_broken_block_is_reported_between_the_others() -> None:
    queue = ScrollbackQueue()
    queue.add(Text("before"), Broken(), Text("after"))
    text = queue.take(UNICODE, width=80)
    assert text is not None
    assert text.index("before") < text.index("ValueError") < text.index("after")
