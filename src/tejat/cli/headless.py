"""A run without anybody to ask: one prompt in, one result on stdout, an exit code that tells what became of it."""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from tejat.app.session.manager import open_agent
from tejat.cli.args import RunOptions, to_agent_options
from tejat.cli.exit_status import classify_error
from tejat.cli.signals import Terminated, graceful_termination
from tejat.core.agent.events import AgentEvent, EndReason, RunEnded
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_BROKEN_PIPE, EXIT_FAILED, EXIT_INPUT, EXIT_INTERRUPTED
from tejat.core.i18n import _
from tejat.ui.headless.broken_pipe import discard_stdout
from tejat.ui.headless.output import Output, OutputStreams
from tejat.ui.headless.stdin import PipedInput, read_piped_input
from tejat.ui.shared.exit_status import exit_code_for

_SIGNAL_GRACE_SECONDS = 10.0
_RESULT_GRACE_SECONDS = 5.0


def run_prompt(options: RunOptions) -> int:
    """Answer the prompt of the command line, of standard input, or of both, and return the exit code."""
    out = _StandardStreams()
    output = _open_output(options.output_format, out.streams(is_replay=options.replay is not None))
    try:
        with graceful_termination():
            code = _run_headless(options, output, out)
    except (Exception, KeyboardInterrupt) as error:
        message, name, code = _describe_error(error)
        if not out.has_result:
            output.fail(message, name=name, code=code)
        if options.debug and name == EndReason.FAILED:
            raise
    return out.exit_code or code


def report_failure(message: str, *, output_format: str, code: int) -> None:
    """The result of a run that was asked for in a way that nobody understands."""
    _open_output(output_format, _StandardStreams().streams(is_replay=False)).fail(message, name="input", code=code)


def _describe_error(error: BaseException) -> tuple[str, str, int]:
    """What to tell, its name in JSON, and the exit code: whoever reads the result gets one whatever happens."""
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
            # What the error of a defect says may be anything, also a key.
            message = _("Internal error: {error}. --debug shows where.", error=type(error).__name__)
            return message, EndReason.FAILED, EXIT_FAILED


def _cancelled_message() -> str:
    return _("Operation cancelled.")


def _no_input_message() -> str:
    return _(
        "No input provided via stdin. Input can be provided by piping data into tejat or using the --prompt option."
    )


def _run_headless(options: RunOptions, output: Output, out: "_StandardStreams") -> int:
    """The exit code. Raises TejatError where the run could not begin."""
    prompt = _read_prompt(options.prompt, out)
    if not prompt.strip():
        output.fail(_no_input_message(), name="input", code=EXIT_INPUT)
        return EXIT_INPUT
    run = _HeadlessRun(to_agent_options(options), output, out)
    try:
        return asyncio.run(run.execute(prompt))
    finally:
        run.finish()


def _read_prompt(given: str | None, out: "_StandardStreams") -> str:
    """What was piped in first, then what was asked about it."""
    try:
        piped = read_piped_input() if given else read_piped_input(wait_for_first_byte=None)
    except OSError as error:
        piped = PipedInput(note=_("Cannot read standard input: {reason}.", reason=error.strerror))
    if piped.note:
        out.write_notice(piped.note)
    return "\n\n".join(text for text in (piped.text, given) if text)


def _open_output(wanted: str, streams: OutputStreams) -> Output:
    match wanted:
        case "json":
            from tejat.ui.headless.json_output import JsonOutput

            return JsonOutput(streams)
        case "stream-json":
            from tejat.ui.headless.stream_output import StreamOutput

            return StreamOutput(streams)
        case _:
            from tejat.ui.headless.text_output import TextOutput

            return TextOutput(streams)


class _HeadlessRun:
    """One run, and how it is ended from outside: by a signal, or because nobody reads the result any more."""

    def __init__(self, options: AgentOptions, output: Output, out: "_StandardStreams") -> None:
        self._options = options
        self._output = output
        self._out = out
        self._timers: list[threading.Timer] = []

    async def execute(self, prompt: str) -> int:
        """The exit code. Raises TejatError where the run could not begin."""
        task = asyncio.ensure_future(self._run(prompt))
        self._out.on_failure = task.cancel
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._interrupt, task, number)
        try:
            ended = await task
        except asyncio.CancelledError:
            code = EXIT_INTERRUPTED if self._out.signal_number is None else 128 + self._out.signal_number
            if not self._out.has_result:
                self._output.fail(_cancelled_message(), name=EndReason.INTERRUPTED, code=code)
            return code
        return self._out.exit_code_for(ended)

    def finish(self) -> None:
        """Nothing hung."""
        for timer in self._timers:
            timer.cancel()

    async def _run(self, prompt: str) -> RunEnded:
        async with open_agent(self._options, None) as session:
            self._out.recorded_at = session.info.recorded_at
            return await session.run(prompt, self._on_event)

    def _on_event(self, event: AgentEvent) -> None:
        self._output.handle_event(event)
        if isinstance(event, RunEnded):
            self._out.has_result = True
            self._exit_within(_RESULT_GRACE_SECONDS, self._out.exit_code or self._out.exit_code_for(event))

    def _interrupt(self, task: "asyncio.Future[RunEnded]", number: int) -> None:
        if self._out.signal_number is not None:
            os._exit(128 + number)
        self._out.signal_number = number
        task.cancel()
        self._exit_within(_SIGNAL_GRACE_SECONDS, 128 + number)

    def _exit_within(self, seconds: float, code: int) -> None:
        """Whatever hangs while things are put in order: the program ends."""
        timer = threading.Timer(seconds, os._exit, [code])
        timer.daemon = True
        timer.start()
        self._timers.append(timer)


class _StandardStreams:
    """Standard output and error. Output that nobody takes ends the run."""

    def __init__(self) -> None:
        self.exit_code = 0
        self.has_result = False
        """Whether the result is out."""
        self.signal_number: int | None = None
        """The signal that ended the run."""
        self.recorded_at: float | None = None
        self.on_failure: Callable[[], object] = _do_nothing

    def streams(self, *, is_replay: bool) -> OutputStreams:
        return OutputStreams(
            self.write_result,
            self.write_notice,
            is_terminal=sys.stdout.isatty(),
            now=self._now,
            reports_durations=not is_replay,
            exit_code_for=self.exit_code_for,
        )

    def exit_code_for(self, ended: RunEnded) -> int:
        """What a shell expects of a program that was ended by a signal, else what the end of the run means."""
        if ended.reason is EndReason.INTERRUPTED and self.signal_number is not None:
            return 128 + self.signal_number
        return exit_code_for(ended)

    def write_result(self, text: str) -> None:
        if self.exit_code:
            return
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            self._fail_output(EXIT_BROKEN_PIPE)
        except (OSError, ValueError) as error:
            self.write_notice(_("Cannot write the result: {error}", error=error))
            self._fail_output(EXIT_FAILED)

    def write_notice(self, line: str) -> None:
        """Nothing more is said once the result is lost: that the run was ended then is no news."""
        if self.exit_code:
            return
        try:
            print(f"tejat: {line}", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            return

    def _now(self) -> float:
        """A run that is played again takes place when it took place."""
        return time.time() if self.recorded_at is None else self.recorded_at

    def _fail_output(self, code: int) -> None:
        self.exit_code = code
        discard_stdout()
        self.on_failure()


def _do_nothing() -> None:
    """Before a run begins there is nothing to end."""
