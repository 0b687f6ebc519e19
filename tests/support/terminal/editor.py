"""Typing into the prompt editor and viewing it, without a terminal."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.input import DummyInput
from prompt_toolkit.key_binding.key_processor import _Flush
from prompt_toolkit.layout import BufferControl, Layout, Window
from prompt_toolkit.output import DummyOutput

from tejat.ui.terminal.editor.completer import CompleteFunction
from tejat.ui.terminal.editor.prompt_editor import EditorHandler, PromptEditor
from tejat.ui.terminal.editor.prompt_history import PromptHistory
from tejat.ui.terminal.render.cells import Frame
from tejat.ui.terminal.render.theme import Theme
from tejat.ui.terminal.screen.paste_parser import PasteParser

UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
HOME, END, DELETE, SHIFT_TAB = "\x1b[H", "\x1b[F", "\x1b[3~", "\x1b[Z"
ENTER, TAB, BACKSPACE, ESCAPE = "\r", "\t", "\x7f", "\x1b"


def bracketed_paste(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


@dataclass
class EditorTypist:
    """Types into an editor. `submitted` has its submissions, shell lines with their `!`."""

    editor: PromptEditor
    app: Application[None]
    submitted: list[str] = field(default_factory=list[str])
    width: int = 40
    height: int = 10

    def type(self, *keys: str) -> "EditorTypist":
        """Send each argument at once; a trailing Escape is a key of its own."""
        processor = self.app.key_processor
        parser = PasteParser(processor.feed)
        for each in keys:
            parser.feed(each)
            parser.flush()
            processor.process_keys()
            if each.endswith(ESCAPE):
                processor.feed(_Flush)
                processor.process_keys()
        return self

    @property
    def view(self) -> Frame:
        return self.editor.view(width=self.width, height=self.height)

    @property
    def rows(self) -> list[str]:
        return ["".join(cell.text for cell in row).rstrip() for row in self.view.rows]

    async def wait_until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not holds():  # noqa: ASYNC110 -- what is waited for is anything
                await asyncio.sleep(0.001)


@contextmanager
def open_editor(
    *,
    history: PromptHistory | None = None,
    suggest: CompleteFunction | None = None,
    theme: Theme | None = None,
    is_vi: bool = False,
    placeholder: str = "",
    handler: EditorHandler | None = None,
) -> Generator[EditorTypist]:
    handler = handler or EditorHandler()
    editor = PromptEditor(
        theme or Theme(), history=history, completer=suggest, placeholder=placeholder, handler=handler
    )
    window = Window(BufferControl(editor.buffer, key_bindings=editor.bindings))
    app = Application[None](
        layout=Layout(window),
        editing_mode=EditingMode.VI if is_vi else EditingMode.EMACS,
        input=DummyInput(),
        output=DummyOutput(),
    )
    editor_typist = EditorTypist(editor, app)
    handler.on_submit = lambda text: editor_typist.submitted.append(f"!{text}" if editor.is_shell else text)
    with set_app(app):
        try:
            yield editor_typist
        finally:
            editor.close()
