"""A small program around a screen, for tests: a line that is typed says what to do."""

import asyncio
import os
import signal
import sys
import time

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding import KeyBindings
from rich.console import RenderableType
from rich.text import Text

from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.render.cells import Frame, row_width, split_cells
from tejat.ui.terminal.render.theme import detect_theme
from tejat.ui.terminal.screen.inline_screen import InlineScreen, ScreenHandlers, TerminalStreams


class LineEditor:
    """One row, which scrolls sideways."""

    def __init__(self) -> None:
        self.buffer = Buffer(multiline=False)
        self.bindings = KeyBindings()

    def view(self, *, width: int, height: int) -> Frame:
        before = split_cells("> " + self.buffer.document.text_before_cursor)
        after = split_cells(self.buffer.document.text_after_cursor)
        while row_width(before) > width - 1 and before:
            before.pop(0)
        return Frame(([*before, *after],), (row_width(before), 0))


class Choice:
    """Counts the keys that it is given; y and n decide."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._keys: list[str] = []

    def view(self, *, width: int, height: int) -> RenderableType:
        return Text(f"{self._name}? {' '.join(self._keys)}")

    def press(self, key: str) -> DialogResult[str] | None:
        self._keys.append(key.replace("\n", "newline"))
        return DialogResult(key) if key in ("y", "n", "escape", "c-c") else None


class Counting(Choice):
    refresh_seconds = 0.05

    def __init__(self) -> None:
        super().__init__("Counting")
        self._views = 0

    def view(self, *, width: int, height: int) -> RenderableType:
        self._views += 1
        return Text("looked at often" if self._views > 3 else "looked at")

    def caret(self, *, width: int, height: int) -> tuple[int, int]:
        return (3, 0)


class Elapsed:
    def __init__(self) -> None:
        self._start = time.monotonic()

    def __rich__(self) -> Text:
        return Text(f"elapsed {int(time.monotonic() - self._start)} s")


class Program:
    def __init__(self, note: str | None) -> None:
        self._note = note
        self._editor = LineEditor()
        self._queued: list[str] = []
        self._left = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked: asyncio.Task[None] | None = None
        theme = detect_theme(os.environ, encoding=os.environ.get("ENCODING", "utf-8"))
        self._screen = InlineScreen(
            self._editor,
            theme,
            status=lambda _: Text("status of it all " * 10),
            queued=lambda: self._queued,
            handlers=ScreenHandlers(
                on_interrupt=lambda: self._screen.print(Text("interrupted")),
                on_escape=lambda: self._screen.show_hint("escaped"),
                on_end=self._left.set,
                on_hangup=self._hang_up,
            ),
            terminal=TerminalStreams(sys.stdin, sys.stdout, os.environ),
        )
        self._editor.bindings.add("enter")(lambda _: self._submit())

    async def run(self) -> None:
        self._screen.print(Text("Welcome"))
        async with self._screen:
            await self._left.wait()
            self._screen.print(Text("Goodbye"))
        self._screen.print(Text("After the end"))

    def _hang_up(self) -> None:
        self._write("hung up")
        asyncio.get_running_loop().call_later(0.3, self._left.set)  # time for whatever should not happen

    def _write(self, what: str) -> None:
        if self._note:
            with open(self._note, "a", encoding="utf-8") as file:
                file.write(f"{what}\n")

    def _submit(self) -> None:
        line = self._editor.buffer.text
        self._editor.buffer.reset()
        task = asyncio.create_task(self._do(*line.partition(" ")[::2]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _do(self, what: str, rest: str) -> None:
        screen = self._screen
        match what, rest:
            case "flood", count:
                for number in range(int(count)):
                    screen.print(Text(f"line {number:05}"))
                    await asyncio.sleep(0)
                screen.print(Text("flooded"))
            case "stream", count:
                for number in range(int(count)):
                    screen.set_live(Text(f"streamed {number}"))
                    await asyncio.sleep(0)
            case "overtake", _:
                await asyncio.sleep(1)  # keys draw once more half a second later
                screen.print(Text("block 1"))
                await asyncio.sleep(0.003)
                screen.set_live(Text("first"))
                await asyncio.sleep(0.003)
                screen.print(Text("block 2"))
                screen.redraw()  # before the time of the print, as when a dialog opens
                await asyncio.sleep(0.003)
                screen.set_live(Text("second"))
            case "ask", name:
                self._asked = asyncio.current_task()
                answer = await screen.run_dialog(Choice(name))
                self._write(f"asked: {answer}")
                screen.print(Text(f"{name} answered {answer}"))
            case "both", _:
                await asyncio.gather(self._do("ask", "left"), self._do("ask", "right"))
            case "lazy", _:
                screen.print(Text(f"counted {await screen.run_dialog(Counting())}"))
            case "away", command:
                async with screen.released():
                    screen.print(Text("printed meanwhile"))
                    process = await asyncio.create_subprocess_exec("/bin/sh", "-c", command)
                    await process.wait()
            case "die", way:
                await self._die(way)
            case _:
                self._draw(what, rest)

    async def _die(self, way: str) -> None:
        match way:
            case "exit":
                os._exit(3)
            case "drawn":
                self._screen.set_live(Text("drawn before the end"))
                await self._screen.wait_until_drawn()
                os._exit(4)
            case name:
                os.kill(os.getpid(), signal.Signals[name])

    def _draw(self, what: str, rest: str) -> None:
        screen = self._screen
        match what, rest:
            case "print", count:
                screen.print(*(Text(f"printed {number}") for number in range(int(count))))
            case "live", "off":
                screen.set_live(None)
            case "live", count:
                screen.set_live(Text("\n".join(f"live {number} " + "x" * 60 for number in range(int(count)))))
            case "tick", _:
                screen.ticking = True
                screen.set_live(Elapsed())
            case "queue", count:
                self._queued[:] = [f"line {number}\nand more" for number in range(int(count))]
                screen.redraw()
            case "hint", text:
                screen.show_hint(text)
            case "cancel", seconds:
                asyncio.get_running_loop().call_later(float(seconds), self._cancel)
            case "clear", _:
                screen.clear()
            case "keys", name:
                screen.use_vi(enabled=name == "vi")
            case _:
                screen.print(Text(f"what is {what}?"))

    def _cancel(self) -> None:
        assert self._asked is not None
        self._asked.cancel()


if __name__ == "__main__":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    asyncio.run(Program(sys.argv[1] if len(sys.argv) > 1 else None).run())
