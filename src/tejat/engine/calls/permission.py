"""Permission for calls: the policy decides, the user is asked, and an answer may become a rule."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    Approver,
    Confirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    Outcome,
    Risk,
    Scope,
    ToolOrigin,
)
from tejat.core.approval.user_question import UserUnavailable
from tejat.core.errors import ErrorType, TejatError, ToolFailure
from tejat.core.frozen import frozen, replace
from tejat.core.i18n import _, join_lazy, lazy
from tejat.core.messages.types import Params
from tejat.core.tools.base import BaseTool, ModifiableTool, RememberingTool, ToolContext, TrialTool
from tejat.core.tools.call_events import BY_USER
from tejat.engine.calls.approval.refusals import RejectedByUser, denied_error, non_interactive_error
from tejat.engine.calls.approval.trial import run_trial
from tejat.engine.calls.call_facts import FactCollector, call_risks
from tejat.policy.engine import PolicyEngine, refuse_always
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.types import CallFacts, Decision, PolicyRule, PolicyVerdict, SandboxedCommands, SkillScript, Tier

_Written = TypeVar("_Written")
SaveRules = Callable[[Sequence[PolicyRule], Scope], None]

BUILT_IN = ToolOrigin()

ANSWER_SOURCE = "your answer"
"""The beginning of the source of every rule that comes from an answer in this session."""
_ALWAYS = (
    Outcome.PROCEED_ALWAYS,
    Outcome.PROCEED_ALWAYS_AND_SAVE,
    Outcome.PROCEED_ALWAYS_SERVER,
    Outcome.PROCEED_ALWAYS_TOOL,
)
SESSION_SOURCE = f"{ANSWER_SOURCE} ({Scope.SESSION.value})"


@frozen
class AuthorisedCall:
    """A call that may run. `approved` is what the user approved, None if a rule allowed it."""

    params: Params
    approved: Confirmation | None
    facts: CallFacts
    allowed_by: str


class Permission:
    """The permissions of one session, including the rules from answers with "always".

    Without an approver every call that needs approval is refused. Without `save` an "always" lasts only for the
    session, and without `remembers` none is offered. `save_sandboxed` switches on the setting for sandboxed commands
    and returns its source; a question offers that once. `rule_roots` are the directories that the rules were written
    for, if the session works only in a part of them: the stricter of the two decisions counts.
    """

    def __init__(
        self,
        policy: PolicyEngine,
        facts: FactCollector,
        approver: Approver | None,
        *,
        save: SaveRules | None = None,
        save_sandboxed: Callable[[], str] | None = None,
        remembers: bool = True,
        rule_roots: tuple[str, ...] = (),
    ) -> None:
        self._policy = policy
        self.facts = facts
        self._approver = approver
        self.save = save
        self.save_sandboxed = save_sandboxed
        self._has_offered_sandboxed = False
        self.remembers = remembers
        self.rule_roots = rule_roots

    @property
    def policy(self) -> PolicyEngine:
        """The rules in force."""
        return self._policy

    @policy.setter
    def policy(self, policy: PolicyEngine) -> None:
        self._policy = policy

    @property
    def can_ask(self) -> bool:
        return self._approver is not None

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Ask the user something that permits nothing. Raises UserUnavailable."""
        if self._approver is None:
            raise UserUnavailable
        return await self._approver.ask(question)

    def decide(self, tool: BaseTool, params: Params) -> tuple[CallFacts, PolicyVerdict]:
        """Apply the rules to a call, without asking anyone."""
        facts = self._collect_facts(tool, params)
        verdict = self.policy.decide(facts)
        if self.rule_roots:
            for_rule_roots = self.policy.decide(replace(facts, roots=self.rule_roots))
            verdict = max(verdict, for_rule_roots, key=lambda each: (each.decision.strictness, each.always_ask))
        if self.remembers or verdict.decision is not Decision.ASK:
            return facts, verdict
        refusal = refuse_always(lazy("the settings turn it off"))
        return facts, replace(verdict, suggested_rules=(), always_refusal=refusal)

    def _collect_facts(self, tool: BaseTool, params: Params) -> CallFacts:
        return self.facts.collect(tool, params)

    def asks(self, tool: BaseTool, params: Params) -> bool:
        """Whether the rules ask about a call, as far as that is known before it is prepared."""
        return not tool.rejection(params) and self.decide(tool, params)[1].decision is Decision.ASK

    async def authorise(
        self,
        tool: BaseTool,
        params: Params,
        *,
        on_question: Callable[[ApprovalRequest], None],
        origin: ToolOrigin = BUILT_IN,
        note: str = "",
        objection: str = "",
        risks: tuple[Risk, ...] = (),
        trial_context: Callable[[], ToolContext] = ToolContext,
        position: Callable[[], tuple[int, int]] = lambda: (1, 1),
    ) -> AuthorisedCall:
        """Authorise a call, asking the user if the policy says so. Raises ToolFailure if the call may not run.

        With an `objection` the user is asked even if the rules allow the call. The user sees the `origin` of the tool,
        the `note`, further `risks`, and the `position` of the question: its place and how many there are. A change that
        the user edits is decided and shown again. `trial_context` is called when the user wants to try the call in a
        copy first.
        """
        while True:
            facts, verdict = self.decide(tool, params)
            if verdict.decision is Decision.DENY:
                raise denied_error(verdict)
            if objection:
                verdict = _with_objection(verdict, objection)
            if verdict.decision is Decision.ALLOW:
                return AuthorisedCall(params, None, facts, verdict.source)
            confirmation = await _build_confirmation(tool, params, facts, verdict)
            if confirmation is None:
                return AuthorisedCall(params, None, facts, "the tool needs no confirmation")
            if self._approver is None:
                raise non_interactive_error(tool, facts, verdict, self.policy, objection)
            question = self._build_question(tool, confirmation, facts, verdict, note=note, origin=origin)
            place, total = position()
            question = replace(question, risks=(*risks, *question.risks), place=place, total=total)
            dialog = _ApprovalDialog(tool, self._approver, on_question, trial_context)
            try:
                self._has_offered_sandboxed |= question.can_allow_sandboxed
                reply, confirmation = await dialog.ask(question, confirmation)
                if reply.new_content is None:
                    self._remember_answer(tool, reply, confirmation, verdict)
                    return AuthorisedCall(params, confirmation, facts, BY_USER)
                params = _apply_user_edit(tool, params, confirmation, reply.new_content)
                note = _("This is your edited version.")
            except _AskAgain as again:
                note = again.note

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
        rules = verdict.suggested_rules
        always = join_lazy("; ", map(format_rule, rules)) if rules else None
        if isinstance(tool, RememberingTool):
            always = tool.agreement(confirmation) if self.remembers else None
        scopes = self._offered_scopes()
        server_rule = _server_rule(rules, confirmation)
        return ApprovalRequest(
            confirmation=confirmation,
            tool_name=tool.name,
            reason="" if verdict.is_routine else verdict.reason,
            always=always,
            scopes=() if always is None else scopes,
            can_modify=isinstance(tool, ModifiableTool),
            note=note,
            origin=origin,
            risks=call_risks(facts),
            directory=facts.roots[0] if facts.roots else "",
            always_server=None if server_rule is None else format_rule(server_rule),
            always_refusal=verdict.always_refusal,
            can_allow_sandboxed=self._can_offer_sandboxed(confirmation, facts, verdict),
        )

    def _offered_scopes(self) -> tuple[Scope, ...]:
        """Where the rule of an "always" can be kept."""
        return (Scope.SESSION,) if self.save is None else (Scope.SESSION, Scope.PROJECT, Scope.USER)

    def _can_offer_sandboxed(self, confirmation: Confirmation, facts: CallFacts, verdict: PolicyVerdict) -> bool:
        if self.save_sandboxed is None or self._has_offered_sandboxed or not self.remembers or verdict.always_ask:
            return False
        return isinstance(confirmation, ExecConfirmation) and self.policy.can_offer_sandboxed(facts)

    def _remember_answer(
        self, tool: BaseTool, answer: ApprovalReply, confirmation: Confirmation, verdict: PolicyVerdict
    ) -> None:
        """Add the rules of an "always". Raises _AskAgain if they cannot be saved."""
        if isinstance(tool, RememberingTool) and answer.outcome in _ALWAYS:
            return _save(partial(tool.remember, confirmation, _scope_of(answer)))
        if answer.outcome is Outcome.PROCEED_ALWAYS_SANDBOXED and self.save_sandboxed is not None:
            return self.allow_sandboxed(_save(self.save_sandboxed))
        rules = _rules_from_answer(answer, confirmation, verdict)
        if not rules:
            return None
        scope = _scope_of(answer)
        if scope in (Scope.PROJECT, Scope.USER) and self.save is not None:
            _save(partial(self.save, rules, scope))
        source = f"{ANSWER_SOURCE} ({scope.value})"
        return self.add_rules([replace(rule, source=source, tier=Tier.USER) for rule in rules], scope)

    def add_rules(self, rules: Sequence[PolicyRule], scope: Scope) -> None:
        """Add the rules of an answer that lasts as long as `scope` says."""
        self.policy = self.policy.with_rules(*rules)

    def allow_sandboxed(self, source: str) -> None:
        """Let sandboxed commands run without asking, as the setting at `source` says now."""
        self.policy = self.policy.with_sandboxed(SandboxedCommands(source))


class _AskAgain(Exception):
    """The question has to be asked again, with a note for the user."""

    def __init__(self, note: str) -> None:
        super().__init__(note)
        self.note = note


def _save(write: Callable[[], _Written]) -> _Written:
    """Save an answer. Raises _AskAgain if that is not possible."""
    try:
        return write()
    except (TejatError, OSError) as error:
        raise _AskAgain(_("Could not save the answer: {error}", error=error)) from None


class _ApprovalDialog:
    """One approval of a call, with a trial in a copy if the user wants one."""

    def __init__(
        self,
        tool: BaseTool,
        approver: Approver,
        on_question: Callable[[ApprovalRequest], None],
        trial_context: Callable[[], ToolContext],
    ) -> None:
        self._trial_tool = tool if isinstance(tool, TrialTool) else None
        self._approver = approver
        self._on_question = on_question
        self._trial_context = trial_context

    async def ask(self, question: ApprovalRequest, confirmation: Confirmation) -> tuple[ApprovalReply, Confirmation]:
        """Return a reply that approves or edits the call, and what it is about. Raises RejectedByUser, _AskAgain."""
        if self._trial_tool is not None:
            question = replace(question, can_try=await self._trial_tool.can_try(confirmation))
        self._on_question(question)
        reply = await self._approver.ask(question)
        if not _is_offered(reply, question):
            raise ToolFailure(
                "The answer was not one of the choices offered, so the call was refused.",
                ErrorType.POLICY_VIOLATION,
                display=lazy("The answer {answer} was not offered, so the call was refused.", answer=reply.outcome),
            )
        if reply.outcome is Outcome.TRY_IN_COPY and question.can_try and self._trial_tool is not None:
            reply, confirmation = await self._try_in_copy(self._trial_tool, question, confirmation)
        if reply.outcome in (Outcome.CANCEL, Outcome.STOP, Outcome.STOP_AGENT):
            ends_turn = reply.outcome is not Outcome.CANCEL
            raise RejectedByUser(confirmation, feedback=reply.feedback, ends_turn=ends_turn)
        if reply.new_content is None and reply.outcome is Outcome.MODIFY_WITH_EDITOR:
            raise RejectedByUser(confirmation, detail=" They wanted to edit the change first, but did not.")
        if reply.new_content is None and reply.outcome is Outcome.TRY_IN_COPY:
            raise _AskAgain(_("This call cannot be tried in a copy."))
        return reply, confirmation

    async def _try_in_copy(
        self, tool: TrialTool, question: ApprovalRequest, confirmation: Confirmation
    ) -> tuple[ApprovalReply, Confirmation]:
        context = self._trial_context()
        try:
            return await run_trial(tool, question, confirmation, self._approver, context, self._on_question)
        except ToolFailure as failure:
            raise _AskAgain(_("Could not try it in a copy: {why}", why=failure.message)) from None


async def _build_confirmation(
    tool: BaseTool, params: Params, facts: CallFacts, verdict: PolicyVerdict
) -> Confirmation | None:
    """Build what the user is asked. External tools are confirmed even if they do not ask for it themselves."""
    confirmation = await tool.should_confirm_execute(params)
    if isinstance(confirmation, ExecConfirmation) and facts.line is not None:
        scripts = tuple(map(_describe_script, facts.skill_scripts))
        return replace(confirmation, root_commands=facts.line.program_names, notes=(*scripts, *confirmation.notes))
    if confirmation is not None:
        return confirmation
    rule_asks = verdict.always_ask or (verdict.rule is not None and verdict.rule.tier is not Tier.DEFAULT)
    if not rule_asks and tool.server_name is None:
        return None
    return InfoConfirmation(title=_("Confirm: {tool}", tool=tool.display_name), prompt=tool.get_description(params))


def _describe_script(script: SkillScript) -> str:
    if script.is_unchanged:
        return lazy("{path} is a script of the skill {name}, unchanged.", path=script.path, name=script.skill)
    return lazy("{path} is a script of the skill {name}, and has changed.", path=script.path, name=script.skill)


def _is_offered(answer: ApprovalReply, question: ApprovalRequest) -> bool:
    """Whether a front end was free to give this answer. Only those with "always" are limited."""
    if answer.outcome is Outcome.PROCEED_ALWAYS_SANDBOXED:
        return question.can_allow_sandboxed
    if answer.outcome is Outcome.STOP_AGENT:
        return bool(question.agent)
    if answer.outcome not in _ALWAYS:
        return True
    return question.always is not None and _scope_of(answer) in question.scopes


def _scope_of(answer: ApprovalReply) -> Scope:
    return answer.scope or (Scope.USER if answer.outcome is Outcome.PROCEED_ALWAYS_AND_SAVE else Scope.SESSION)


def _rules_from_answer(
    answer: ApprovalReply, confirmation: Confirmation, verdict: PolicyVerdict
) -> tuple[PolicyRule, ...]:
    """Return the rules to remember: those that were shown, or one for all tools of the server."""
    if answer.outcome not in _ALWAYS:
        return ()
    if answer.outcome is Outcome.PROCEED_ALWAYS_SERVER:
        rule = _server_rule(verdict.suggested_rules, confirmation)
        return verdict.suggested_rules if rule is None else (rule,)
    return verdict.suggested_rules


def _server_rule(rules: Sequence[PolicyRule], confirmation: Confirmation) -> PolicyRule | None:
    """Return the rule for all tools of the server of the call, None if it is not an MCP call."""
    if not rules or not isinstance(confirmation, McpConfirmation):
        return None
    return replace(rules[0], tool="*", server=confirmation.server_name)


def _apply_user_edit(tool: BaseTool, params: Params, confirmation: Confirmation, new_content: str) -> Params:
    if not isinstance(tool, ModifiableTool):
        raise ToolFailure(f'Tool "{tool.name}" does not support editing.', ErrorType.EXECUTION_FAILED)
    rewritten = tool.modified_params(params, confirmation, new_content)
    rejection = tool.rejection(rewritten)
    if rejection:
        raise rejection
    return rewritten


def _with_objection(verdict: PolicyVerdict, objection: str) -> PolicyVerdict:
    """Ask in any case. No rule is suggested, because none would settle the objection."""
    is_reason_given = verdict.decision is Decision.ASK and not verdict.is_routine
    return replace(
        verdict,
        decision=Decision.ASK,
        reason=join_lazy(" ", (objection, verdict.reason)) if is_reason_given else objection,
        always_ask=True,
        suggested_rules=(),
        always_refusal=refuse_always(lazy("this warning needs an answer each time")),
        is_routine=False,
    )
