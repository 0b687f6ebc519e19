"""A run as a trajectory in ATIF, the Agent Trajectory Interchange Format of Harbor."""

from tejat.core.messages.types import JsonObject, JsonValue
from tejat.integrations.run_events import RunLog, as_json_object

SCHEMA_VERSION = "ATIF-v1.7"


def to_trajectory(log: RunLog, *, version: str) -> JsonObject | None:
    """Return the trajectory of a log, None if it has no messages.

    A step of the agent is one answer of the model with its calls and their results. The events do not say what each
    answer cost, so there are only totals, which include the sub-agents; their own steps are left out.
    """
    steps = _Steps()
    for event in log.events:
        if "agent_id" not in event:
            steps.add(event)
    if not steps.steps:
        return None
    metrics: dict[str, JsonValue] = {"total_steps": len(steps.steps)}
    if log.figures is not None:
        metrics |= {
            "total_prompt_tokens": log.figures.input_tokens,
            "total_completion_tokens": log.figures.output_tokens,
            "total_cached_tokens": log.figures.cached_tokens,
        }
        if log.figures.cost is not None:
            metrics["total_cost_usd"] = log.figures.cost
    agent: dict[str, JsonValue] = {"name": "tejat", "version": version}
    if log.model:
        agent["model_name"] = log.model
    return {
        "schema_version": SCHEMA_VERSION,
        **({"session_id": log.session_id} if log.session_id else {}),
        "agent": agent,
        "steps": list(steps.steps),
        "final_metrics": metrics,
    }


class _Steps:
    """Collects events into steps."""

    def __init__(self) -> None:
        self.steps: list[dict[str, JsonValue]] = []
        self._calls: list[JsonValue] = []
        self._results: list[JsonValue] = []
        self._is_answering = False

    def add(self, event: JsonObject) -> None:
        match event["type"]:
            case "message" if event.get("role") == "user":
                self._is_answering = False
                self._begin("user", event)["message"] = str(event.get("content", ""))
            case "message":
                step = self._answer(event)
                step["message"] = f"{step['message']}{event.get('content', '')}"
            case "tool_use":
                self._add_call(event)
            case "tool_result":
                self._add_result(event)
            case "retry" if event.get("purpose") == "conversation":
                self._void_answer()
            case _:
                pass

    def _begin(self, source: str, event: JsonObject) -> dict[str, JsonValue]:
        step: dict[str, JsonValue] = {"step_id": len(self.steps) + 1, "source": source, "message": ""}
        if event.get("timestamp"):
            step["timestamp"] = event["timestamp"]
        self.steps.append(step)
        return step

    def _answer(self, event: JsonObject) -> dict[str, JsonValue]:
        """Return the step of the present answer. Results end an answer."""
        if self._is_answering and not self._results:
            return self.steps[-1]
        self._calls, self._results, self._is_answering = [], [], True
        return self._begin("agent", event)

    def _add_call(self, event: JsonObject) -> None:
        step = self._answer(event)
        self._calls.append(
            {
                "tool_call_id": str(event.get("tool_id") or ""),
                "function_name": str(event.get("tool_name", "")),
                "arguments": as_json_object(event.get("parameters")),
            }
        )
        step["tool_calls"] = self._calls

    def _add_result(self, event: JsonObject) -> None:
        if not self._is_answering:
            return
        result: JsonObject = {
            "source_call_id": str(event.get("tool_id") or ""),
            "content": str(event.get("content", event.get("output", ""))),
        }
        self._results.append(result)
        self.steps[-1]["observation"] = {"results": self._results}

    def _void_answer(self) -> None:
        """Remove the text of an attempt that failed."""
        if self._is_answering and not self._results:
            self.steps.pop()
            self._is_answering = False
