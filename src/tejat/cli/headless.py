"""A run without anybody to ask: one prompt in, one result on stdout, an exit code that tells what became of it."""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from tejat.app.agent import open_agent
from tejat.cli.lost_output import let_go_of_output
from tejat.cli.run_options import RunOptions, agent_options
from tejat.cli.standard_input import Piped, read_piped
from tejat.cli.start_failures import explain
from tejat.cli.termination import Terminated, ending_in_order
from tejat.core.agent_events import AgentEvent, EndReason, RunEnded
from tejat.core.agent_options import AgentOptions
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_BROKEN_PIPE, EXIT_FAILED, EXIT_INPUT, EXIT_INTERRUPTED
from tejat.core.words import say
from tejat.frontends.endings import exit_code_of
from tejat.frontends.output import Output, Streams

_PATIENCE_AFTER_A_SIGNAL = 10.0
_PATIENCE_AFTER_THE_RESULT = 5.0


def run_prompt(options: RunOptions) -> int:
    """Answer the prompt of the command line, of standard input, or of both, and return the exit code."""
    out = _StandardStreams()
    output = _output(options.output_format, out.streams(is_replay=options.replay is not None))
    try:
        with ending_in_order():
            code = _answer(options, output, out)
    except (Exception, KeyboardInterrupt) as error:
        message, name, code = _in_words(error)
        if not out.is_told:
            output.fail(message, name=name, code=code)
        if options.debug and name == EndReason.FAILED:
            raise
    return out.exit_code or code


def tell_failure(message: str, *, output_format: str, code: int) -> None:
    """The result of a run that was asked for in a way that nobody understands."""
    _output(output_format, _StandardStreams().streams(is_replay=False)).fail(message, name="input", code=code)


def _in_words(error: BaseException) -> tuple[str, str, int]:
    """What to tell, its name in JSON, and the exit code: whoever reads the result gets one whatever happens."""
    match error:
        case TejatError():
            return str(error), *explain(error)
        case Terminated(exit_code=code):
            return _cancelled(), EndReason.INTERRUPTED, code
        case KeyboardInterrupt():
            return _cancelled(), EndReason.INTERRUPTED, EXIT_INTERRUPTED
        case OSError(strerror=reason) if reason:
            return reason, EndReason.FAILED, EXIT_FAILED
        case _:
            # What the error of a defect says may be anything, also a key.
            told = say("Internal error: {error}. --debug shows where.", error=type(error).__name__)
            return told, EndReason.FAILED, EXIT_FAILED


def _cancelled() -> str:
    return say("Operation cancelled.")


def _no_input() -> str:
    return say(
        "No input provided via stdin. Input can be provided by piping data into tejat or using the --prompt option."
    )


def _answer(options: RunOptions, output: Output, out: "_StandardStreams") -> int:
    """The exit code. Raises TejatError where the run could not begin."""
    prompt = _prompt(options.prompt, out)
    if not prompt.strip():
        output.fail(_no_input(), name="input", code=EXIT_INPUT)
        return EXIT_INPUT
    run = _Run(agent_options(options), output, out)
    try:
        return asyncio.run(run.answer(prompt))
    finally:
        run.is_over()


def _prompt(given: str | None, out: "_StandardStreams") -> str:
    """What was piped in first, then what was asked about it."""
    try:
        piped = read_piped() if given else read_piped(wait_for_first_byte=None)
    except OSError as error:
        piped = Piped(note=say("Cannot read standard input: {reason}.", reason=error.strerror))
    if piped.note:
        out.aside(piped.note)
    return "\n\n".join(text for text in (piped.text, given) if text)


def _output(wanted: str, streams: Streams) -> Output:
    match wanted:
        case "json":
            from tejat.frontends.json_output import JsonOutput

            return JsonOutput(streams)
        case "stream-json":
            from tejat.frontends.stream_output import StreamOutput

            return StreamOutput(streams)
        case _:
            from tejat.frontends.text_output import TextOutput

            return TextOutput(streams)


class _Run:
    """One run, and how it is ended from outside: by a signal, or because nobody reads the result any more."""

    def __init__(self, options: AgentOptions, output: Output, out: "_StandardStreams") -> None:
        self._options = options
        self._output = output
        self._out = out
        self._timers: list[threading.Timer] = []

    async def answer(self, prompt: str) -> int:
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
            code = EXIT_INTERRUPTED if self._out.ended_by is None else 128 + self._out.ended_by
            if not self._out.is_told:
                self._output.fail(_cancelled(), name=EndReason.INTERRUPTED, code=code)
            return code
        return self._out.code_of(ended)

    def is_over(self) -> None:
        """Nothing hung."""
        for timer in self._timers:
            timer.cancel()

    async def _run(self, prompt: str) -> RunEnded:
        async with open_agent(self._options, None) as session:
            self._out.recorded_at = session.identity.recorded_at
            return await session.run(prompt, self._tell)

    def _tell(self, event: AgentEvent) -> None:
        self._output.tell(event)
        if isinstance(event, RunEnded):
            self._out.is_told = True
            self._end_within(_PATIENCE_AFTER_THE_RESULT, self._out.exit_code or self._out.code_of(event))

    def _interrupt(self, task: "asyncio.Future[RunEnded]", number: int) -> None:
        if self._out.ended_by is not None:
            os._exit(128 + number)
        self._out.ended_by = number
        task.cancel()
        self._end_within(_PATIENCE_AFTER_A_SIGNAL, 128 + number)

    def _end_within(self, seconds: float, code: int) -> None:
        """Whatever hangs while things are put in order: the program ends."""
        timer = threading.Timer(seconds, os._exit, [code])
        timer.daemon = True
        timer.start()
        self._timers.append(timer)


class _StandardStreams:
    """Standard output and error. Output that nobody takes ends the run."""

    def __init__(self) -> None:
        self.exit_code = 0
        self.is_told = False
        """Whether the result is out."""
        self.ended_by: int | None = None
        """The signal that ended the run."""
        self.recorded_at: float | None = None
        self.on_failure: Callable[[], object] = _nothing

    def streams(self, *, is_replay: bool) -> Streams:
        return Streams(
            self.result,
            self.aside,
            is_terminal=sys.stdout.isatty(),
            now=self._now,
            tells_durations=not is_replay,
            code_of=self.code_of,
        )

    def code_of(self, ended: RunEnded) -> int:
        """What a shell expects of a program that was ended by a signal, else what the end of the run means."""
        if ended.reason is EndReason.INTERRUPTED and self.ended_by is not None:
            return 128 + self.ended_by
        return exit_code_of(ended)

    def result(self, text: str) -> None:
        if self.exit_code:
            return
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            self._lost(EXIT_BROKEN_PIPE)
        except (OSError, ValueError) as error:
            self.aside(say("Cannot write the result: {error}", error=error))
            self._lost(EXIT_FAILED)

    def aside(self, line: str) -> None:
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

    def _lost(self, code: int) -> None:
        self.exit_code = code
        let_go_of_output()
        self.on_failure()


def _nothing() -> None:
    """Before a run begins there is nothing to end."""
