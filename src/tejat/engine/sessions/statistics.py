"""Statistics of a run, counted from its events, with the field names of the JSON output."""

import re
from collections import Counter
from collections.abc import Callable
from typing import cast

from tejat.core.agent.events import AgentEvent, Answered, ModelChanged, RequestFailed, Retrying, SessionStarted
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.errors import ErrorType
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.model import NO_USAGE, Usage
from tejat.core.tools.call_events import BY_USER, CallFinished, CallState
from tejat.core.tools.display import FileDiff
from tejat.engine.prompt.skill_catalogue import unescape_tags
from tejat.tools.registry import ACTIVATE_SKILL

_ACTIVATED = r'<activated_skill name="([^"]*)">'


class Statistics:
    """A listener that counts events. `milliseconds` converts a duration."""

    def __init__(self, milliseconds: Callable[[float], int]) -> None:
        self._milliseconds = milliseconds
        self.usage = NO_USAGE
        self._model = ""
        self.models: dict[str, _ModelStatistics] = {}
        self.tools: dict[str, _ToolStatistics] = {}
        self.agents: dict[str, _AgentStatistics] = {}
        self.skills: dict[str, _SkillStatistics] = {}
        self.lines_added = self.lines_removed = 0
        self.denials: list[JsonObject] = []
        self._agent_models: dict[str, str] = {}

    def record(self, event: AgentEvent) -> None:
        """Count an event. What sub-agents did counts as the session's own, and for each of them besides."""
        match event:
            case SessionStarted(model=model):
                self._model = model
            case AgentStarted(agent_id=agent_id, model=model):
                self._agent_models[agent_id] = model
            case AgentActivity(agent_id, _, inner):
                self._record_event(inner, agent_id)
            case AgentEnded():
                self._agent_models.pop(event.agent_id, None)
                self.agents.setdefault(event.agent_name, _AgentStatistics()).add(event)
            case _:
                self._record_event(event, "")

    def _record_event(self, event: AgentEvent, agent_id: str) -> None:
        model = self._agent_models.get(agent_id, self._model)
        match event:
            case Answered(answer, seconds):
                self._model_statistics(answer.model or model).add(answer.usage, seconds)
                self.usage += answer.usage
                for skill in () if agent_id else self.skills.values():
                    skill.add_request()
            case Retrying():
                self._model_statistics(model).fail(0.0)
            case RequestFailed(seconds=seconds):
                self._model_statistics(model).fail(seconds)
            case ModelChanged(after=after) if agent_id:
                self._agent_models[agent_id] = after
            case CallFinished():
                self._record_call(event, agent_id)
            case _:
                pass

    @property
    def calls(self) -> int:
        return sum(tool.count for tool in self.tools.values())

    @property
    def failed(self) -> int:
        return sum(tool.count - tool.success for tool in self.tools.values())

    def to_json(self) -> JsonObject:
        tools = self.tools.values()
        agents = {name: agent.to_json(self._milliseconds) for name, agent in self.agents.items()}
        skills = {name: skill.to_json() for name, skill in self.skills.items()}
        return {
            "models": {name: model.to_json(self._milliseconds) for name, model in self.models.items()},
            "tools": {
                "totalCalls": self.calls,
                "totalSuccess": sum(tool.success for tool in tools),
                "totalFail": self.failed,
                "totalDurationMs": self._milliseconds(sum(tool.seconds for tool in tools)),
                "totalDecisions": _decisions(sum((tool.decisions for tool in tools), Counter[str]())),
                "byName": {name: tool.to_json(self._milliseconds) for name, tool in self.tools.items()},
            },
            "files": {"totalLinesAdded": self.lines_added, "totalLinesRemoved": self.lines_removed},
            **({"agents": {"byName": agents}} if agents else {}),
            **({"skills": {"byName": skills}} if skills else {}),
        }

    def _model_statistics(self, model: str) -> "_ModelStatistics":
        return self.models.setdefault(model, _ModelStatistics())

    def _record_call(self, call: CallFinished, agent_id: str) -> None:
        decision = call_decision(call)
        self.tools.setdefault(call.call.name, _ToolStatistics()).add(call, decision)
        if decision == "reject":
            self.denials.append(_denial(call, agent_id))
        if call.call.name == ACTIVATE_SKILL and call.state is CallState.SUCCESS and not agent_id:
            self._record_skill(str(call.result.llm_content))
        display = call.result.return_display
        if call.state is CallState.SUCCESS and isinstance(display, FileDiff) and display.diff_stat is not None:
            stat = display.diff_stat
            self.lines_added += stat.model_added_lines + stat.user_added_lines
            self.lines_removed += stat.model_removed_lines + stat.user_removed_lines

    def _record_skill(self, content: str) -> None:
        """Count an activation; a skill that was active already costs nothing."""
        name = re.match(_ACTIVATED, content)
        if name is not None:
            self.skills.setdefault(unescape_tags(name[1]), _SkillStatistics()).activate(estimate_text_tokens(content))


class _SkillStatistics:
    """The activations of a skill, and the tokens of its instructions in all requests since then."""

    def __init__(self) -> None:
        self.activations = self.tokens = self._body = 0

    def activate(self, tokens: int) -> None:
        self.activations += 1
        self._body = tokens

    def add_request(self) -> None:
        self.tokens += self._body

    def to_json(self) -> JsonObject:
        return {"activations": self.activations, "tokens": self.tokens}


class _ModelStatistics:
    def __init__(self) -> None:
        self.requests = self.errors = 0
        self.seconds = 0.0
        self.usage = NO_USAGE

    def add(self, usage: Usage, seconds: float) -> None:
        self.requests += 1
        self.seconds += seconds
        self.usage += usage

    def fail(self, seconds: float) -> None:
        self.requests += 1
        self.errors += 1
        self.seconds += seconds

    def to_json(self, milliseconds: Callable[[float], int]) -> JsonObject:
        usage = self.usage
        return {
            "api": {
                "totalRequests": self.requests,
                "totalErrors": self.errors,
                "totalLatencyMs": milliseconds(self.seconds),
            },
            "tokens": {
                "input": usage.prompt - usage.cached,
                "prompt": usage.prompt,
                "candidates": usage.output,
                "total": usage.total,
                "cached": usage.cached,
                "thoughts": usage.thoughts,
                "tool": usage.tool,
            },
        }


class _AgentStatistics:
    """The runs of one sub-agent. The cost is None if the price of a model is unknown."""

    def __init__(self) -> None:
        self.runs = self.turns = self.calls = 0
        self.seconds = 0.0
        self.usage = NO_USAGE
        self.cost: float | None = 0.0
        self.outcomes = Counter[str]()

    def add(self, ended: AgentEnded) -> None:
        self.runs += 1
        self.turns += ended.turns
        self.calls += ended.calls
        self.seconds += ended.seconds
        self.usage += ended.usage
        self.cost = None if self.cost is None or ended.cost is None else self.cost + ended.cost
        self.outcomes[ended.reason.value] += 1

    def to_json(self, milliseconds: Callable[[float], int]) -> JsonObject:
        return {
            "runs": self.runs,
            "turns": self.turns,
            "calls": self.calls,
            "tokens": self.usage.total,
            "cost_usd": None if self.cost is None else round(self.cost, 6),
            "durationMs": milliseconds(self.seconds),
            "outcomes": dict(self.outcomes),
        }


class _ToolStatistics:
    def __init__(self) -> None:
        self.count = self.success = 0
        self.seconds = 0.0
        self.decisions = Counter[str]()

    def add(self, call: CallFinished, decision: str) -> None:
        self.count += 1
        self.success += call.state is CallState.SUCCESS
        self.seconds += call.seconds
        if decision:
            self.decisions[decision] += 1

    def to_json(self, milliseconds: Callable[[float], int]) -> JsonObject:
        return {
            "count": self.count,
            "success": self.success,
            "fail": self.count - self.success,
            "durationMs": milliseconds(self.seconds),
            "decisions": _decisions(self.decisions),
        }


def call_decision(call: CallFinished) -> str:
    """Return who decided about the call, as in the JSON output; empty if nobody had to."""
    error = call.result.error
    if not call.allowed_by:
        was_refused = error is not None and error.type in (ErrorType.POLICY_VIOLATION, ErrorType.CANCELLED)
        return "reject" if was_refused else ""
    if call.allowed_by != BY_USER:
        return "auto_accept"
    display = call.result.return_display
    stat = display.diff_stat if isinstance(display, FileDiff) else None
    was_rewritten = stat is not None and stat.user_added_lines + stat.user_removed_lines > 0
    return "modify" if was_rewritten else "accept"


def _denial(call: CallFinished, agent_id: str) -> JsonObject:
    error, display = call.result.error, call.result.return_display
    assert error is not None
    return {
        "tool_name": call.call.name,
        "tool_id": call.call.id,
        "parameters": cast("JsonObject", call.call.args),
        "reason": display if isinstance(display, str) else error.message,
        **({"agent_id": agent_id} if agent_id else {}),
    }


def _decisions(counted: Counter[str]) -> dict[str, JsonValue]:
    return {name: counted[name] for name in ("accept", "reject", "modify", "auto_accept")}
