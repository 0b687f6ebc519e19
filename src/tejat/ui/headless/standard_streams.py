"""Standard output and standard error of a headless run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from tejat.core.agent.events import EndReason
from tejat.core.exit_codes import EXIT_BROKEN_PIPE, EXIT_FAILED
from tejat.core.i18n import _
from tejat.ui.headless.broken_pipe import discard_stdout
from tejat.ui.headless.output import OutputStreams
from tejat.ui.shared.exit_status import exit_code_for

if TYPE_CHECKING:
    from tejat.core.agent.events import RunEnded


class StandardStreams:
    """Standard output and error of a headless run. A result that cannot be written ends the run."""

    def __init__(self) -> None:
        self.exit_code = 0
        self.has_result = False
        """Whether the result was written."""
        self.signal_number: int | None = None
        """The signal that ended the run."""
        self.recorded_at: float | None = None
        self.on_failure: Callable[[], object] = lambda: None

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
        """The exit code for the end of the run: the signal number plus 128 after a signal, as shells expect."""
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
            self.write_notice(_("Could not write the result: {error}", error=error))
            self._fail_output(EXIT_FAILED)

    def write_notice(self, line: str) -> None:
        """Write a line to standard error, unless the result was lost: that the run ended then is no news."""
        if not self.exit_code:
            with suppress(OSError, ValueError):
                print(f"tejat: {line}", file=sys.stderr, flush=True)

    def _now(self) -> float:
        """The time of the run; a replay takes place at the time of the recording."""
        return time.time() if self.recorded_at is None else self.recorded_at

    def _fail_output(self, code: int) -> None:
        self.exit_code = code
        discard_stdout()
        self.on_failure()
