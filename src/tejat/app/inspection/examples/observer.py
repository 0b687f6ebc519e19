"""What happens in an example: the calls, what was decided about them, and the replies of its user."""

import json
from typing import cast

from tejat.core.agent.events import AgentEvent
from tejat.core.agent.subagent_events import AgentActivity
from tejat.core.agent.subagents import current_agent
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    ElicitationConfirmation,
    Outcome,
    tool_scope,
)
from tejat.core.approval.user_question import UserUnavailable
from tejat.core.errors import ErrorType
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import FunctionCall, JsonObject, Params
from tejat.core.model import CONVERSATION
from tejat.core.tools.call_events import CallFinished, CallState, StateChanged
from tejat.models.scripted.script_file import ExpectedDecision, Script, ScriptedCall, ScriptedReply

NOT_RUN = "The example does not run this call."
_NOT_DECIDED = (ErrorType.TOOL_NOT_REGISTERED, ErrorType.INVALID_TOOL_PARAMS)


class ObservedCall(Frozen):
    """A call of an example. `agent` is the run of a sub-agent that made it, empty for the session itself.

    `decision` is None if nothing was decided, because the call was invalid. `reply` is the answer to the question about
    it, if there was one. `error` is why it failed.
    """

    agent: str
    tool: str
    arguments: JsonObject
    decision: ExpectedDecision | None
    reply: ScriptedReply | None = None
    error: str = ""

    def to_json(self) -> JsonObject:
        return {
            "agent": self.agent or None,
            "tool": self.tool,
            "arguments": self.arguments,
            "decision": self.decision,
            "reply": self.reply,
            "error": self.error or None,
        }


class ExampleObserver:
    """Watches the events of a run, and answers its questions as the script says."""

    def __init__(self, script: Script) -> None:
        self._scripted = [(answer, call) for answer in script.answers for call in answer.calls]
        self._waiting = dict(enumerate(self._scripted))
        self._question: dict[str, tuple[int, FunctionCall]] = {}
        self._replies: dict[tuple[str, int], ScriptedReply] = {}
        self._calls: list[tuple[int, ObservedCall]] = []
        self._problems: list[str] = []

    @property
    def problems(self) -> list[str]:
        """What was not as the script expects it, so far."""
        missing = [
            lazy("answer {number}: {tool} was not called", number=answer.number, tool=call.name)
            for answer, call in self._waiting.values()
        ]
        return [*self._problems, *missing]

    @property
    def calls(self) -> list[ObservedCall]:
        """The calls so far, in the order of the script; those that are not in it come last."""
        return [call for _position, call in sorted(self._calls, key=lambda pair: pair[0])]

    def listen(self, event: AgentEvent) -> None:
        agent = ""
        if isinstance(event, AgentActivity):
            agent, event = event.agent_id, event.event
        match event:
            case StateChanged(index=index, call=call, state=CallState.AWAITING_APPROVAL):
                self._question[agent] = index, call
            case CallFinished():
                self._finish(agent, event)
            case _:
                pass

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Answer a question about a call. Raises UserUnavailable for a question of the model."""
        if isinstance(question.confirmation, AskUserConfirmation | ElicitationConfirmation):
            raise UserUnavailable
        index, call = self._question[question.agent]
        _position, scripted = self._find(question.agent, call)
        reply = self._replies[question.agent, index] = ScriptedReply.YES if scripted is None else scripted.reply
        match reply:
            case ScriptedReply.YES:
                return ApprovalReply(Outcome.PROCEED_ONCE)
            case ScriptedReply.NO:
                return ApprovalReply(Outcome.CANCEL)
            case ScriptedReply.WITH:
                return ApprovalReply(Outcome.PROCEED_WITH_TOOLS, scope=tool_scope(question))

    def result_of(self, tool: str, arguments: Params) -> str:
        """What the model gets for a call that is not run."""
        _position, scripted = self._find(current_agent(), FunctionCall(tool, arguments))
        return NOT_RUN if scripted is None else scripted.result or NOT_RUN

    def _finish(self, agent: str, event: CallFinished) -> None:
        call, error = event.call, event.result.error
        reply = self._replies.pop((agent, event.index), None)
        if reply is not None:
            decision = ExpectedDecision.ASK
        elif error is not None and error.type in _NOT_DECIDED:
            decision = None
        else:
            is_denied = error is not None and error.type is ErrorType.POLICY_VIOLATION
            decision = ExpectedDecision.DENY if is_denied else ExpectedDecision.ALLOW
        failure = "" if error is None else error.message
        position, scripted = self._find(agent, call)
        observed = ObservedCall(agent, call.name, cast("JsonObject", call.args), decision, reply, failure)
        self._calls.append((position, observed))
        self._waiting.pop(position, None)
        if scripted is not None and scripted.decision not in (None, decision):
            self._problems.append(
                lazy(
                    "answer {number}: {tool}: the decision is {decision}, not {expected}",
                    number=self._scripted[position][0].number,
                    tool=call.name,
                    decision=decision or failure,
                    expected=scripted.decision,
                )
            )

    def _find(self, agent: str, call: FunctionCall) -> tuple[int, ScriptedCall | None]:
        """The first call of the script like this one that has not been made yet, with its position."""
        purposes = (f"agent:{agent}", f"agent:{agent.partition('#')[0]}") if agent else (CONVERSATION,)
        key = _key(call.name, call.args)
        for position, (answer, scripted) in self._waiting.items():
            if answer.purpose in purposes and _key(scripted.name, scripted.args) == key:
                return position, scripted
        return len(self._scripted), None


def _key(name: str, arguments: Params) -> tuple[str, str]:
    return name, json.dumps(arguments, sort_keys=True, default=str)
