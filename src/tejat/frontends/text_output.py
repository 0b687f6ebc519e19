"""`--output-format text`: the model's words on stdout, everything else in lines on stderr."""

from tejat.core.agent_events import AgentEvent, Answered, LoopDetected, Retrying, RunEnded, TextStreamed
from tejat.core.model import CONVERSATION
from tejat.core.visible import visible
from tejat.core.words import say
from tejat.frontends.endings import exit_code_of
from tejat.frontends.output import Streams, aside, one_line
from tejat.workspace.terminal_text import as_shown


class TextOutput:
    """On a terminal words come as they are streamed; elsewhere when an answer is whole, so that none of it is void."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._at_line_start = True

    def tell(self, event: AgentEvent) -> None:
        match event:
            case TextStreamed(text) if self._streams.is_terminal:
                self._write(visible(text))
            case Retrying(purpose="conversation") | LoopDetected() if self._streams.is_terminal:
                self.end_line()
            case Answered(answer, purpose=purpose) if purpose == CONVERSATION:
                if not self._streams.is_terminal:
                    self._write(as_shown(answer.text))
                self.end_line()
            case RunEnded():
                self.end_line()
                if event.message:
                    self._streams.aside(one_line(event.message))
                elif exit_code_of(event):
                    self._streams.aside(say("The run ended: {reason}.", reason=event.reason))
            case _:
                pass
        heard = aside(event)
        if heard:
            self._streams.aside(one_line(heard))

    def fail(self, message: str, *, name: str, code: int) -> None:
        self._streams.aside(one_line(message))

    def end_line(self) -> None:
        """Begin a new line, unless one is just begun."""
        if not self._at_line_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._streams.result(text)
            self._at_line_start = text.endswith("\n")
