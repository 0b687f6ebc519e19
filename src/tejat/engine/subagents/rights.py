"""The rights of a sub-agent: those of its parent at that moment, and no more."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from tejat.core.agent.subagents import SubagentDefinition
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    Approver,
    Confirmation,
    Scope,
    ToolOrigin,
)
from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.messages.types import Params
from tejat.core.tools.base import BaseTool
from tejat.engine.calls.permission import Permission
from tejat.engine.subagents.complete_task import CompleteTaskTool
from tejat.policy.engine import PolicyEngine
from tejat.policy.types import CallFacts, Decision, PolicyRule, PolicyVerdict

_PLAN_SOURCE = lazy("its definition")
_HANDS_IN = lazy("It hands in the result of the agent.")


class AgentIdentity(Frozen):
    """Who asks: the id of the run, and the first line of its task."""

    agent_id: str
    task: str
    definition: SubagentDefinition


class AgentApprover:
    """Asks the user for a sub-agent. `pause` stops its clock meanwhile, and `on_reply` gets each reply."""

    def __init__(
        self,
        approver: Approver,
        identity: AgentIdentity,
        pause: Callable[[], AbstractContextManager[None]],
        on_reply: Callable[[ApprovalReply], None],
    ) -> None:
        self._approver = approver
        self._identity = identity
        self._pause = pause
        self._on_reply = on_reply

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        identity = self._identity
        with self._pause():
            reply = await self._approver.ask(replace(question, agent=identity.agent_id, agent_task=identity.task))
        self._on_reply(reply)
        return reply


class AgentPermission(Permission):
    """Decides by the rules and the mode that the parent has at each call.

    Answers for the session go to the parent, answers for this run stay here.
    """

    def __init__(self, parent: Permission, identity: AgentIdentity, approver: Approver | None) -> None:
        super().__init__(
            parent.policy,
            parent.facts,
            approver,
            save=parent.save,
            save_sandboxed=parent.save_sandboxed,
            remembers=parent.remembers,
            rule_roots=parent.rule_roots,
            tool_rules=parent.tool_rules,
            names_arguments=parent.names_arguments,
        )
        self._parent = parent
        self._identity = identity
        self._run_rules: tuple[PolicyRule, ...] = ()
        self._derived: tuple[PolicyEngine, tuple[PolicyRule, ...], PolicyEngine] | None = None

    @property
    def policy(self) -> PolicyEngine:
        """The rules of the parent with those of this run, in plan mode if the definition says so."""
        parent, own = self._parent.policy, self._run_rules
        if not own and not self._identity.definition.plan_only:
            return parent
        if self._derived is None or self._derived[0] is not parent or self._derived[1] is not own:
            self._derived = parent, own, self._derive(parent.with_rules(*own))
        return self._derived[2]

    @policy.setter
    def policy(self, policy: PolicyEngine) -> None:
        raise AttributeError("The rules of an agent are those of its parent.")

    def hides(self, tool: str, server: str | None = None) -> bool:
        """Whether a rule forbids this agent every call of a tool."""
        return self.policy.hides(tool, server, self._identity.definition.qualified_name)

    def decide(self, tool: BaseTool, params: Params) -> tuple[CallFacts, PolicyVerdict]:
        """Apply the rules to a call. Handing in a result needs no permission."""
        if isinstance(tool, CompleteTaskTool):
            return self._collect_facts(tool, params), PolicyVerdict(Decision.ALLOW, None, _HANDS_IN)
        return super().decide(tool, params)

    def _derive(self, policy: PolicyEngine) -> PolicyEngine:
        if not self._identity.definition.plan_only or policy.mode is ApprovalMode.PLAN:
            return policy
        return policy.with_mode(ApprovalMode.PLAN, source=_PLAN_SOURCE)

    def _collect_facts(self, tool: BaseTool, params: Params) -> CallFacts:
        return replace(super()._collect_facts(tool, params), subagent=self._identity.definition.qualified_name)

    def _build_question(
        self,
        tool: BaseTool,
        confirmation: Confirmation,
        facts: CallFacts,
        verdict: PolicyVerdict,
        *,
        note: str,
        origin: ToolOrigin,
    ) -> ApprovalRequest:
        question = super()._build_question(tool, confirmation, facts, verdict, note=note, origin=origin)
        return replace(question, agent=self._identity.agent_id, agent_task=self._identity.task)

    def _offered_scopes(self) -> tuple[Scope, ...]:
        return (Scope.RUN, *super()._offered_scopes())

    def add_rules(self, rules: Sequence[PolicyRule], scope: Scope) -> None:
        if scope is Scope.RUN:
            self._run_rules += tuple(rules)
        else:
            self._parent.add_rules(rules, scope)

    def allow_sandboxed(self, source: str) -> None:
        self._parent.allow_sandboxed(source)
