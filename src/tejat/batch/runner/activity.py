"""Activity of a running agent, reported to the driver: the current tool call, and the tokens so far."""

import socket
import time

from tejat.batch.runner.child_request import ACTIVITY, encode_message
from tejat.core.agent.events import AgentEvent, Answered, Retrying
from tejat.core.agent.subagent_events import AgentActivity
from tejat.core.i18n import _, translate
from tejat.core.messages.types import FunctionCall
from tejat.core.sanitize import sanitize_summary
from tejat.core.tools.call_events import CallState, StateChanged

_MAX_LINE = 160
_MIN_SECONDS = 0.25
_SUBJECTS = ("command", "file_path", "path", "pattern", "query", "url", "prompt", "objective", "name")
"""Arguments that say what a call is about, the first that is set."""


class ActivityReporter:
    """Listener of a session that sends one line per tool call, at most a few per second.

    Paths in the tree are relative to it. The channel is not blocked: a line that cannot be sent at once is dropped.
    """

    def __init__(self, channel: socket.socket, tree: str) -> None:
        self._channel = channel
        self._tree = tree
        self._tokens = 0
        self._last = 0.0

    def __call__(self, event: AgentEvent) -> None:
        match event:
            case AgentActivity(_, _, inner):
                self(inner)
            case Answered(answer):
                self._tokens += answer.usage.total
            case StateChanged(_, call, CallState.EXECUTING):
                self._send(describe_call(call, self._tree))
            case Retrying(reason=reason):
                self._send(sanitize_summary(_("retrying: {reason}", reason=translate(reason))))
            case _:
                pass

    def _send(self, line: str) -> None:
        now = time.monotonic()
        if now - self._last < _MIN_SECONDS:
            return
        self._last = now
        message = encode_message(ACTIVITY, {"line": line[:_MAX_LINE], "tokens": self._tokens})
        try:
            self._channel.send(message, socket.MSG_DONTWAIT)
        except OSError:
            return  # progress is not worth waiting for


def describe_call(call: FunctionCall, tree: str) -> str:
    """Describe a call in one line, such as `run_shell_command pytest -q`."""
    subjects = (call.args.get(name) for name in _SUBJECTS)
    subject = next((each for each in subjects if isinstance(each, str)), "")
    return sanitize_summary(f"{call.name} {subject[: 4 * _MAX_LINE]}".replace(f"{tree}/", ""))
