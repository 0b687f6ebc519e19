"""A headless run: one prompt in, one result on standard output, an exit code."""

from __future__ import annotations

import asyncio
import os
import selectors
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, TypeAlias

from tejat.core.agent.events import EndReason, RunEnded
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_INPUT, EXIT_INTERRUPTED
from tejat.core.i18n import _
from tejat.core.log import is_debugging, report_unexpected
from tejat.engine.sessions.session import Session
from tejat.ui.headless.output import Output, OutputStreams
from tejat.ui.headless.signal_watch import SignalWatch
from tejat.ui.headless.standard_streams import StandardStreams
from tejat.ui.headless.stdin import PipedInput, read_piped_input
from tejat.ui.shared.exit_status import classify_error
from tejat.ui.signals import Terminated, graceful_termination

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent

OpenSession: TypeAlias = Callable[[], AbstractAsyncContextManager[Session]]

_SIGNAL_GRACE_SECONDS = 10.0
_RESULT_GRACE_SECONDS = 5.0


def run_headless(
    open_session: OpenSession,
    prompt: str | None,
    *,
    output_format: str,
    is_replay: bool = False,
    is_raw: bool = False,
) -> int:
    """Answer the prompt, standard input, or both, and return the exit code.

    A raw answer is printed as the model wrote it, control characters included, in the format `text` only.
    """
    out = StandardStreams()
    output = _open_output(output_format, out.streams(is_replay=is_replay), is_raw=is_raw)
    try:
        with graceful_termination():
            code = _run(open_session, prompt, output, out)
    except (Exception, KeyboardInterrupt) as error:
        message, name, code = _describe_error(error)
        if not out.has_result:
            output.fail(message, name=name, code=code)
        if is_debugging() and name == EndReason.FAILED:
            raise
    return out.exit_code or code


def report_failure(error: BaseException, *, output_format: str) -> int:
    """Write the result of a run that could not begin, and return the exit code."""
    message, name, code = _describe_error(error)
    _open_output(output_format, StandardStreams().streams(is_replay=False)).fail(message, name=name, code=code)
    return code


def _run(open_session: OpenSession, given: str | None, output: Output, out: StandardStreams) -> int:
    """Return the exit code. Raises TejatError if the session cannot be opened."""
    prompt = read_prompt(given, out)
    if not prompt.strip():
        message = _(
            "No input provided via stdin. Input can be provided by piping data into tejat or using the --prompt option."
        )
        output.fail(message, name="input", code=EXIT_INPUT)
        return EXIT_INPUT
    run = _HeadlessRun(open_session, output, out)
    # Signals that were ignored when the program started stay ignored.
    heeded = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    try:
        with SignalWatch([number for number in heeded if signal.getsignal(number) is not signal.SIG_IGN]) as signals:
            _check_descriptors()
            return asyncio.run(run.execute(prompt, signals))
    finally:
        run.finish()


def _check_descriptors() -> None:
    """Raise OSError if there are too few for an event loop: asyncio would complain about its half-made one as well."""
    with selectors.DefaultSelector():
        for end in socket.socketpair():
            end.close()


def read_prompt(given: str | None, out: StandardStreams) -> str:
    """Join the piped text and the prompt that asks about it."""
    try:
        piped = read_piped_input() if given else read_piped_input(wait_for_first_byte=None)
    except OSError as error:
        piped = PipedInput(note=_("Could not read standard input: {reason}.", reason=error.strerror))
    if piped.note:
        out.write_notice(piped.note)
    return "\n\n".join(text for text in (piped.text, given) if text)


def _open_output(output_format: str, streams: OutputStreams, *, is_raw: bool = False) -> Output:
    match output_format:
        case "json":
            from tejat.ui.headless.json_output import JsonOutput

            return JsonOutput(streams)
        case "stream-json":
            from tejat.ui.headless.stream_output import StreamOutput

            return StreamOutput(streams)
        case _:
            from tejat.ui.headless.text_output import TextOutput

            return TextOutput(streams, is_raw=is_raw)


def _describe_error(error: BaseException) -> tuple[str, str, int]:
    """The message for the user, the error name in JSON output, and the exit code."""
    match error:
        case TejatError():
            return str(error), *classify_error(error)
        case Terminated(exit_code=code):
            return _cancelled_message(), EndReason.INTERRUPTED, code
        case KeyboardInterrupt():
            return _cancelled_message(), EndReason.INTERRUPTED, EXIT_INTERRUPTED
        case OSError(strerror=reason) if reason:
            return reason, EndReason.FAILED, EXIT_FAILED
        case _:
            return report_unexpected(error, "a headless run"), EndReason.FAILED, EXIT_FAILED


def _cancelled_message() -> str:
    return _("Operation cancelled.")


class _HeadlessRun:
    """A run of one prompt that a signal, or a result that cannot be written, may end."""

    def __init__(self, open_session: OpenSession, output: Output, out: StandardStreams) -> None:
        self._open_session = open_session
        self._output = output
        self._out = out
        self._timers: list[threading.Timer] = []

    async def execute(self, prompt: str, signals: SignalWatch) -> int:
        """Run the prompt and return the exit code. Raises TejatError if the session cannot be opened."""
        task = asyncio.ensure_future(self._run(prompt))
        self._out.on_failure = task.cancel
        signals.handle(lambda number: self._interrupt(task, number))
        try:
            ended = await task
        except asyncio.CancelledError:
            code = EXIT_INTERRUPTED if self._out.signal_number is None else 128 + self._out.signal_number
            if not self._out.has_result:
                self._output.fail(_cancelled_message(), name=EndReason.INTERRUPTED, code=code)
            return code
        return self._out.exit_code_for(ended)

    def finish(self) -> None:
        """Cancel the timers: nothing hung."""
        for timer in self._timers:
            timer.cancel()

    async def _run(self, prompt: str) -> RunEnded:
        async with self._open_session() as session:
            self._out.recorded_at = session.info.recorded_at
            return await session.prompt(prompt, self._on_event)

    def _on_event(self, event: AgentEvent) -> None:
        self._output.handle_event(event)
        if isinstance(event, RunEnded):
            self._out.has_result = True
            self._exit_within(_RESULT_GRACE_SECONDS, self._out.exit_code or self._out.exit_code_for(event))

    def _interrupt(self, task: asyncio.Future[RunEnded], number: int) -> None:
        if self._out.signal_number is not None:
            os._exit(128 + number)
        self._out.signal_number = number
        task.cancel()
        self._exit_within(_SIGNAL_GRACE_SECONDS, 128 + number)

    def _exit_within(self, seconds: float, code: int) -> None:
        """End the program after these seconds, whatever hangs during the shutdown."""
        timer = threading.Timer(seconds, os._exit, [code])
        timer.daemon = True
        timer.start()
        self._timers.append(timer)
