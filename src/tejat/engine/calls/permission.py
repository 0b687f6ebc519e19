"""Permission for calls: the policy decides, the user is asked, and an answer may become a rule."""

from collections.abc import Callable, Sequence
from functools import partial

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    Approver,
    Confirmation,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    Outcome,
    Risk,
    Scope,
    ToolOrigin,
)
from tejat.core.approval.user_question import UserUnavailable
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, join_lazy, lazy
from tejat.core.messages.types import Params
from tejat.core.tools.abilities import ModifiableTool, RememberingTool
from tejat.core.tools.base import BaseTool, ToolContext
from tejat.core.tools.call_events import BY_USER
from tejat.engine.calls.approval.dialog import (
    ALWAYS,
    AskAgain,
    CallDialog,
    OnQuestion,
    ignore_question,
    scope_of,
    try_to_save,
)
from tejat.engine.calls.approval.refusals import denied_error, non_interactive_error
from tejat.engine.calls.call_facts import FactCollector, call_risks
from tejat.policy.engine import PolicyEngine, refuse_always
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.types import (
    CallFacts,
    Decision,
    PolicyRule,
    PolicyVerdict,
    SandboxedCommands,
    ScriptState,
    SkillScript,
    Tier,
)
from tejat.workspace.threads.offload import run_blocking

SaveRules = Callable[[Sequence[PolicyRule], Scope], None]

BUILT_IN = ToolOrigin()

ANSWER_SOURCE = "your answer"
"""The beginning of the source of every rule that comes from an answer in this session."""
_PROJECT_SKILL = "project:"
_LONG_LINE = 2000
"""The length of a command line from which judging it takes more than a few milliseconds."""
_MANY_RULES = 1000
SESSION_SOURCE = f"{ANSWER_SOURCE} ({Scope.SESSION.value})"


class AuthorisedCall(Frozen):
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
    for, if the session works only in a part of them: the stricter of the two decisions counts. `tool_rules` are the
    rules for the tools that a skill asks for, which the user may add when it is activated.
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
        tool_rules: Callable[[Confirmation], tuple[PolicyRule, ...]] = lambda _: (),
        names_arguments: bool = False,
    ) -> None:
        self._policy = policy
        self.facts = facts
        self._approver = approver
        self.save = save
        self.save_sandboxed = save_sandboxed
        self._has_offered_sandboxed = False
        self.remembers = remembers
        self.rule_roots = rule_roots
        self.tool_rules = tool_rules
        self.names_arguments = names_arguments

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

    async def judge(self, tool: BaseTool, params: Params) -> tuple[CallFacts, PolicyVerdict]:
        """Apply the rules to a call as `decide` does, in a thread if that may take long."""
        if not self._takes_long(params):
            return self.decide(tool, params)
        return await run_blocking(lambda _: self.decide(tool, params))

    def _takes_long(self, params: Params) -> bool:
        command = params.get("command")
        return isinstance(command, str) and (len(command) > _LONG_LINE or self.policy.rule_count > _MANY_RULES)

    def _collect_facts(self, tool: BaseTool, params: Params) -> CallFacts:
        return self.facts.collect(tool, params)

    def declares_read_only(self, tool: BaseTool, subagent: str) -> bool:
        """Whether the rules say that a tool of an MCP server only reads when this sub-agent calls it."""
        return self.policy.declares_read_only(replace(self._collect_facts(tool, {}), subagent=subagent))

    def asks(self, tool: BaseTool, params: Params) -> bool:
        """Whether the rules ask about a call, as far as that is known before it is prepared.

        For a long line a question is assumed: judging it here would hold up everything else.
        """
        command = params.get("command")
        if isinstance(command, str) and len(command) > _LONG_LINE:
            return True
        return not tool.rejection(params) and self.decide(tool, params)[1].decision is Decision.ASK

    def find_stale(self, tool: BaseTool, call: AuthorisedCall) -> ToolFailure | None:
        """Return why a call must not start after all: a rule allowed a script of a skill, which changed since then."""
        if call.approved is not None or not call.facts.skill_scripts:
            return None
        verdict = self.decide(tool, call.params)[1]
        return None if verdict.decision is Decision.ALLOW else ToolFailure(verdict.reason, ErrorType.STALE_FILE)

    async def authorise(
        self,
        tool: BaseTool,
        params: Params,
        *,
        on_question: OnQuestion = ignore_question,
        origin: ToolOrigin = BUILT_IN,
        note: str = "",
        objection: str = "",
        risks: tuple[Risk, ...] = (),
        trial_context: Callable[[], ToolContext] = ToolContext,
        position: Callable[[], tuple[int, int]] = lambda: (1, 1),
        call_index: int | None = None,
    ) -> AuthorisedCall:
        """Authorise a call, asking the user if the policy says so. Raises ToolFailure if the call may not run.

        `on_question` is awaited before each question. With an `objection` the user is asked even if the rules allow the
        call. The user sees the `origin` of the tool, the `note`, further `risks`, and the `position` of the question:
        its place and how many there are. A change that the user edits is decided and shown again. `trial_context` is
        called when the user wants to try the call in a copy first. `call_index` is the position of the call in its
        batch.
        """
        while True:
            facts, verdict = await self.judge(tool, params)
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
                raise non_interactive_error(
                    tool, facts, verdict, self.policy, objection, names_arguments=self.names_arguments
                )
            build = partial(self._build_question, tool, confirmation, facts, verdict, note=note, origin=origin)
            question = await run_blocking(lambda _, build=build: build()) if self._takes_long(params) else build()
            place, total = position()
            risks_shown = (*risks, *question.risks)
            question = replace(question, risks=risks_shown, place=place, total=total, call_index=call_index)
            dialog = CallDialog(tool, self._approver, on_question, trial_context)
            try:
                self._has_offered_sandboxed |= question.can_allow_sandboxed
                reply, confirmation = await dialog.ask(question, confirmation)
                if reply.new_content is None or _is_as_shown(reply, confirmation):
                    self._remember_answer(tool, reply, confirmation, verdict)
                    return AuthorisedCall(params, confirmation, facts, BY_USER)
                params = _apply_user_edit(tool, params, confirmation, reply.new_content)
                note = _("This is your edited version.")
            except AskAgain as again:
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
        if any(rule.skill is not None and rule.skill.startswith(_PROJECT_SKILL) for rule in rules):
            # Elsewhere, the same name is the skill of another project.
            scopes = tuple(scope for scope in scopes if scope is not Scope.USER)
        server_rule = _server_rule(rules, confirmation)
        tool_rules = self.tool_rules(confirmation) if self.remembers else ()
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
            tool_rules=join_lazy("; ", map(format_rule, tool_rules)) if tool_rules else None,
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
        """Add the rules of an "always". Raises AskAgain if they cannot be saved."""
        if isinstance(tool, RememberingTool) and answer.outcome in ALWAYS:
            return try_to_save(partial(tool.remember, confirmation, scope_of(answer)))
        if answer.outcome is Outcome.PROCEED_ALWAYS_SANDBOXED and self.save_sandboxed is not None:
            return self.allow_sandboxed(try_to_save(self.save_sandboxed))
        with_tools = answer.outcome is Outcome.PROCEED_WITH_TOOLS
        rules = self.tool_rules(confirmation) if with_tools else _rules_from_answer(answer, confirmation, verdict)
        if not rules:
            return None
        scope = scope_of(answer)
        if scope in (Scope.PROJECT, Scope.USER) and self.save is not None:
            try_to_save(partial(self.save, rules, scope))
        source = f"{ANSWER_SOURCE} ({scope.value})"
        return self.add_rules([replace(rule, source=source, tier=Tier.USER) for rule in rules], scope)

    def add_rules(self, rules: Sequence[PolicyRule], scope: Scope) -> None:
        """Add the rules of an answer that lasts as long as `scope` says."""
        self.policy = self.policy.with_rules(*rules)

    def allow_sandboxed(self, source: str) -> None:
        """Let sandboxed commands run without asking, as the setting at `source` says now."""
        self.policy = self.policy.with_sandboxed(SandboxedCommands(source))


async def _build_confirmation(
    tool: BaseTool, params: Params, facts: CallFacts, verdict: PolicyVerdict
) -> Confirmation | None:
    """Build what the user is asked. External tools are confirmed even if they do not ask for it themselves."""
    confirmation = _checked_confirmation(tool, await tool.should_confirm_execute(params))
    if isinstance(confirmation, ExecConfirmation) and facts.line is not None:
        scripts = tuple(map(_describe_script, facts.skill_scripts))
        return replace(confirmation, root_commands=facts.line.program_names, notes=(*scripts, *confirmation.notes))
    if confirmation is not None:
        return confirmation
    rule_asks = verdict.always_ask or (verdict.rule is not None and verdict.rule.tier is not Tier.DEFAULT)
    if not rule_asks and tool.server_name is None:
        return None
    return InfoConfirmation(title=_("Confirm: {tool}", tool=tool.display_name), prompt=tool.get_description(params))


def _checked_confirmation(tool: BaseTool, returned: object) -> Confirmation | None:
    """Return what a tool wants to have confirmed. False is nothing, as in Gemini CLI. Raises TypeError."""
    if returned is None or returned is False:
        return None
    if isinstance(returned, Confirmation):
        from tejat.core.messages.value_check import check_value

        check_value(returned)
        return returned
    raise TypeError(f'Tool "{tool.name}" returned {type(returned).__name__} from should_confirm_execute.')


def _is_as_shown(reply: ApprovalReply, confirmation: Confirmation) -> bool:
    """Whether an edited proposal was approved as it is already: a function may return the same text every time."""
    if reply.outcome is Outcome.MODIFY_WITH_EDITOR or reply.new_content is None:
        return False
    shown = confirmation.new_content if isinstance(confirmation, EditConfirmation) else None
    return shown is not None and shown.splitlines() == reply.new_content.splitlines()


def _describe_script(script: SkillScript) -> str:
    match script.state:
        case ScriptState.UNCHANGED:
            return lazy("{path} is a script of the skill {name}, unchanged.", path=script.path, name=script.skill)
        case ScriptState.CHANGED:
            return lazy("{path} is a script of the skill {name}, and has changed.", path=script.path, name=script.skill)
        case ScriptState.INACTIVE:
            return lazy(
                "{path} is a script of the skill {name}, which is not active.", path=script.path, name=script.skill
            )


def _rules_from_answer(
    answer: ApprovalReply, confirmation: Confirmation, verdict: PolicyVerdict
) -> tuple[PolicyRule, ...]:
    """Return the rules to remember: those that were shown, or one for all tools of the server."""
    if answer.outcome not in ALWAYS:
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
