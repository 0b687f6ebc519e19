"""Asking the person at the terminal before a call runs."""

import asyncio
import sys

from tejat.cli.style import Style
from tejat.core.confirm import Answer, Confirmation, EditConfirmation, Outcome
from tejat.core.visible import visible


def can_ask() -> bool:
    """Whether a person sits there: they must be able to see the question and to answer it."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


class SayYes:
    """The person said yes to everything beforehand (`--yes`)."""

    async def ask(self, confirmation: Confirmation) -> Answer:
        return Answer(Outcome.PROCEED_ONCE)


class TerminalApprover:
    """Shows what would happen on standard error and waits for a line on standard input."""

    def __init__(self, style: Style) -> None:
        self._style = style

    async def ask(self, confirmation: Confirmation) -> Answer:
        print(self._style.bold(visible(confirmation.title)), file=sys.stderr)
        if isinstance(confirmation, EditConfirmation):
            print(self._style.diff(confirmation.file_diff), file=sys.stderr)
        else:
            print(visible(confirmation.prompt), file=sys.stderr)
        while True:
            print("Go ahead? [y]es / [n]o: ", end="", file=sys.stderr, flush=True)
            try:
                line = await _read_line()
            except asyncio.CancelledError:
                print(file=sys.stderr)  # whatever comes next begins on a line of its own
                raise
            match line.strip().lower():
                case "y" | "yes":
                    return Answer(Outcome.PROCEED_ONCE)
                case "n" | "no":
                    return Answer(Outcome.CANCEL)
                case _ if not line:
                    print(file=sys.stderr)
                    return Answer(Outcome.CANCEL)
                case _:
                    print("Please answer y or n.", file=sys.stderr)


async def _read_line() -> str:
    """A line from the terminal, empty at its end. Unlike `input` it lets an interrupt through at once."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(sys.stdin, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.buffer.readline().decode("utf-8", "replace")
