"""`--output-format json`: one object when the run is over, whatever became of it."""

from tejat.core.agent_events import AgentEvent, Noticed, RunEnded, SessionStarted, Severity
from tejat.core.json_text import dump_json
from tejat.core.types import JsonValue
from tejat.engine.statistics import Statistics
from tejat.frontends.endings import error_name_of
from tejat.frontends.output import Streams, aside, one_line
from tejat.workspace.terminal_text import as_shown


class JsonOutput:
    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._statistics = Statistics(streams.milliseconds)
        self._session_id: str | None = None
        self._warnings: list[str] = []

    def tell(self, event: AgentEvent) -> None:
        self._statistics.count(event)
        heard = aside(event)
        if heard:
            self._streams.aside(one_line(heard))
        match event:
            case SessionStarted(session_id=session_id):
                self._session_id = session_id
            case Noticed(message, Severity.WARNING | Severity.ERROR):
                self._warnings.append(message)
            case RunEnded():
                self._finish(event)
            case _:
                pass

    def fail(self, message: str, *, name: str, code: int) -> None:
        self._streams.aside(one_line(message))
        self._print({"error": {"type": name, "message": message, "code": code}})

    def _finish(self, ended: RunEnded) -> None:
        known: dict[str, JsonValue] = {
            "session_id": self._session_id,
            "response": as_shown(ended.text),
            "stats": self._statistics.to_json(),
        }
        name = error_name_of(ended)
        if name is not None:
            known["error"] = {"type": name, "message": ended.message, "code": self._streams.code_of(ended)}
            self._streams.aside(one_line(ended.message))
        elif ended.message:
            self._warnings.append(ended.message)
        if self._warnings:
            known["warnings"] = list(self._warnings)
        known["permission_denials"] = list(self._statistics.denials)
        if ended.cost is not None:
            known["cost_usd"] = round(ended.cost, 6)
        self._print(known)

    def _print(self, value: dict[str, JsonValue]) -> None:
        self._streams.result(dump_json({"version": 1, **value}, indent=2) + "\n")
