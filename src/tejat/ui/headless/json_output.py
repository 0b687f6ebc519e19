"""`--output-format json`: one object at the end of the run."""

from tejat.core.agent.events import AgentEvent, Noticed, PlanPresented, RunEnded, SessionStarted, Severity
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonValue
from tejat.engine.sessions.statistics import Statistics
from tejat.ui.headless.output import OutputStreams, describe_event, notice_line, plan_to_json
from tejat.ui.shared.exit_status import error_name_for
from tejat.workspace.text.terminal_text import strip_sequences


class JsonOutput:
    def __init__(self, streams: OutputStreams) -> None:
        self._streams = streams
        self._statistics = Statistics(streams.milliseconds)
        self._session_id: str | None = None
        self._warnings: list[str] = []
        self._plan: PlanPresented | None = None

    def handle_event(self, event: AgentEvent) -> None:
        self._statistics.record(event)
        notice = describe_event(event)
        if notice:
            self._streams.write_notice(notice_line(notice))
        match event:
            case SessionStarted(session_id=session_id):
                self._session_id = session_id
            case Noticed(message, Severity.WARNING | Severity.ERROR):
                self._warnings.append(message)
            case PlanPresented():
                self._plan = event
            case RunEnded():
                self._finish(event)
            case _:
                pass

    def fail(self, message: str, *, name: str, code: int) -> None:
        self._streams.write_notice(notice_line(message))
        self._print({"error": {"type": name, "message": message, "code": code}})

    def _finish(self, ended: RunEnded) -> None:
        result: dict[str, JsonValue] = {
            "session_id": self._session_id,
            "response": strip_sequences(ended.text),
            "stats": self._statistics.to_json(),
        }
        name = error_name_for(ended)
        if name is not None:
            result["error"] = {"type": name, "message": ended.message, "code": self._streams.exit_code_for(ended)}
            self._streams.write_notice(notice_line(ended.message))
        elif ended.message:
            self._warnings.append(ended.message)
        if self._warnings:
            result["warnings"] = list(self._warnings)
        if self._plan is not None:
            result["plan"] = plan_to_json(self._plan)
        result["permission_denials"] = list(self._statistics.denials)
        if ended.cost is not None:
            result["cost_usd"] = round(ended.cost, 6)
        self._print(result)

    def _print(self, value: dict[str, JsonValue]) -> None:
        self._streams.write_result(dump_json({"version": 1, **value}, indent=2) + "\n")
