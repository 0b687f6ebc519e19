"""`--output-format text`: the answer on stdout, everything else on stderr."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tejat.core.agent.events import Answered, LoopDetected, PlanPresented, Retrying, RunEnded, TextStreamed
from tejat.core.i18n import _
from tejat.core.model import CONVERSATION
from tejat.core.sanitize import sanitize_text
from tejat.ui.headless.output import OutputStreams, describe_event, notice_line
from tejat.ui.shared.exit_status import exit_code_for
from tejat.workspace.text.terminal_text import strip_sequences

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent


class TextOutput:
    """On a terminal text is streamed, elsewhere each answer is printed once it is complete and cannot be retracted.

    Control characters of an answer are removed or shown, unless it is raw.
    """

    def __init__(self, streams: OutputStreams, *, is_raw: bool = False) -> None:
        self._streams = streams
        self._is_raw = is_raw
        self._at_line_start = True

    def handle_event(self, event: AgentEvent) -> None:
        match event:
            case TextStreamed(text) if self._streams.is_terminal:
                self._write(text if self._is_raw else sanitize_text(text))
            case Retrying(purpose="conversation") | LoopDetected() if self._streams.is_terminal:
                self.end_line()
            case Answered(answer, purpose=purpose) if purpose == CONVERSATION:
                if not self._streams.is_terminal:
                    self._write(answer.text if self._is_raw else _plain_text(answer.text))
                self.end_line()
            case PlanPresented(text=text) if not event.is_approved:
                self.end_line()
                self._write(text if self._is_raw else _plain_text(text))
                self.end_line()
            case RunEnded():
                self.end_line()
                if event.message:
                    self._streams.write_notice(notice_line(event.message))
                elif exit_code_for(event):
                    self._streams.write_notice(_("The run ended: {reason}.", reason=event.reason))
            case _:
                pass
        notice = describe_event(event)
        if notice:
            self._streams.write_notice(notice_line(notice))

    def fail(self, message: str, *, name: str, code: int) -> None:
        self._streams.write_notice(notice_line(message))

    def end_line(self) -> None:
        """Start a new line unless already at the start of one."""
        if not self._at_line_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._streams.write_result(text)
            self._at_line_start = text.endswith("\n")


def _plain_text(text: str) -> str:
    """Return an answer without control sequences and characters. A carriage return ends a line, it erases none."""
    if text.isprintable():
        return text
    lines = strip_sequences(text).replace("\r\n", "\n").replace("\r", "\n")
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", lines)
