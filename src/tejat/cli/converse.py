"""`tejat` at a terminal: a conversation in plain lines, one prompt after the other."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable

from tejat.app.agent import open_agent
from tejat.cli.confirm import TerminalApprover
from tejat.cli.read_line import read_line
from tejat.cli.run_options import RunOptions, agent_options
from tejat.cli.start_failures import explain
from tejat.cli.style import Style
from tejat.cli.termination import Terminated, ending_in_order
from tejat.core.agent_events import AgentEvent, RunEnded, Tell
from tejat.core.display import FileDiff
from tejat.core.errors import TejatError
from tejat.core.events import CallFinished
from tejat.core.exit_codes import EXIT_INTERRUPTED, EXIT_OK
from tejat.core.visible import visible
from tejat.frontends.output import Streams, failure_of
from tejat.frontends.text_output import TextOutput

Run = Callable[[str, Tell], Awaitable[RunEnded]]

_MOST_LINES_AT_AN_END = 20
_LONGEST_LINE = 2000
_HINT = "Ask, or end with Ctrl-D. Ctrl-C stops an answer."


def converse(options: RunOptions) -> int:
    """Answer prompts until the person has no more, and return the exit code."""
    try:
        with ending_in_order():
            return asyncio.run(_Conversation(options).run())
    except TejatError as error:
        print(f"tejat: {visible(str(error))}", file=sys.stderr)
        return explain(error)[1]
    except Terminated as terminated:
        return terminated.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


class _Conversation:
    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._style = Style(sys.stdout)
        self._output = TextOutput(Streams(_write, _aside, is_terminal=True))

    async def run(self) -> int:
        """Raises TejatError where nothing could be begun."""
        approver = TerminalApprover(Style(sys.stderr), untrusted=(os.getcwd(),))
        async with open_agent(agent_options(self._options), approver) as session:
            print(f"{visible(session.conversation.model.name)} in {visible(os.getcwd())}. {_HINT}", file=sys.stderr)
            first = self._options.prompt_interactive
            if first:
                await self._answer(session.run, first)
            while line := await read_line("> "):
                if line.strip():
                    await self._answer(session.run, line.strip())
        print(file=sys.stderr)
        return EXIT_OK

    async def _answer(self, run: Run, prompt: str) -> None:
        """One prompt. Ctrl-C ends the answer and not the conversation."""
        task = asyncio.ensure_future(run(prompt, self._tell))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, task.cancel)
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            # The whole conversation ends, and not before the answer has put things in order.
            task.cancel()
            await asyncio.wait((task,))
            raise
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        if not task.cancelled():
            task.result()

    def _tell(self, event: AgentEvent) -> None:
        if isinstance(event, CallFinished):
            self._show_call(event)
        else:
            self._output.tell(event)

    def _show_call(self, finished: CallFinished) -> None:
        display, error = finished.result.return_display, finished.result.error
        if error is not None:
            shown = _bounded(failure_of(error, display))
        elif isinstance(display, FileDiff):
            shown = self._style.diff(display.file_diff)
        else:
            shown = _bounded(display)
        print(f"{self._style.bold(visible(finished.call.name))} {shown}", file=sys.stderr, flush=True)


def _bounded(text: str) -> str:
    """Safe for a terminal, with several lines apart from the name before them; of many only the first and the last."""
    lines = text.strip().splitlines()
    left_out = len(lines) - 2 * _MOST_LINES_AT_AN_END
    if left_out > 0:
        lines[_MOST_LINES_AT_AN_END:-_MOST_LINES_AT_AN_END] = [f"[... {left_out:,} lines ...]"]
    shown = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} [...]" for line in lines]
    return visible("\n".join(shown if len(shown) < 2 else ["", *shown]))


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _aside(line: str) -> None:
    print(f"tejat: {line}", file=sys.stderr, flush=True)
