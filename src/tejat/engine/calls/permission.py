"""May this call run? The policy says yes, no or ask; a person is asked; what they answer may become a rule."""

from collections.abc import Callable

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
    Scope,
    ToolOrigin,
)
from tejat.core.errors import ErrorType, TejatError, ToolFailure
from tejat.core.frozen import frozen, replace
from tejat.core.i18n import _, gettext_lazy, join_lazy
from tejat.core.messages.types import Params
from tejat.core.tools.base import BaseTool, ModifiableTool, ToolContext, TrialTool
from tejat.core.tools.call_events import BY_USER
from tejat.core.tools.display import FileDiff
from tejat.engine.calls.call_facts import FactCollector, call_risks
from tejat.engine.calls.trial import run_trial
from tejat.policy.engine import PolicyEngine
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.types import CallFacts, Decision, PolicyRule, PolicyVerdict, Tier

SaveRule = Callable[[PolicyRule, Scope], None]

BUILT_IN = ToolOrigin()

ANSWER_SOURCE = "your answer"
"""What the source of a rule begins with that the person gave as an answer in this session."""
SESSION_SOURCE = f"{ANSWER_SOURCE} ({Scope.SESSION.value})"


@frozen
class AuthorisedCall:
    """A call that may run. `approved` is what the person said yes to, None where a rule allowed it."""

    params: Params
    approved: Confirmation | None
    facts: CallFacts
    allowed_by: str


class Permission:
    """Decides for one session, and remembers for it what the person answered with "always".

    Without an approver nobody can answer, so whatever needs an answer is refused. Without `save` an "always" can only
    last for the session. `around` are the directories that rules were written for, where the session works in some part
    of them only: what the rules say of them counts too, if it is stricter.
    """

    def __init__(
        self,
        policy: PolicyEngine,
        facts: FactCollector,
        approver: Approver | None,
        *,
        save: SaveRule | None = None,
        rule_roots: tuple[str, ...] = (),
    ) -> None:
        self.policy = policy
        self._facts = facts
        self._approver = approver
        self._save = save
        self._rule_roots = rule_roots

    @property
    def can_ask(self) -> bool:
        return self._approver is not None

    def decide(self, tool: BaseTool, params: Params) -> tuple[CallFacts, PolicyVerdict]:
        """What the rules say about a call, whoever is there to be asked."""
        with_paths = not tool.is_read_only or self.policy.has_path_rules
        facts = self._facts.collect(tool, params, with_paths=with_paths)
        verdict = self.policy.decide(facts)
        if self._rule_roots:
            from_around = self.policy.decide(replace(facts, roots=self._rule_roots))
            verdict = max(verdict, from_around, key=lambda each: (each.decision.strictness, each.always_ask))
        return facts, verdict

    async def authorise(
        self,
        tool: BaseTool,
        params: Params,
        *,
        on_question: Callable[[ApprovalRequest], None],
        origin: ToolOrigin = BUILT_IN,
        note: str = "",
        objection: str = "",
        trial_context: Callable[[], ToolContext] = ToolContext,
    ) -> AuthorisedCall:
        """Raises ToolFailure where the call may not run. What the person rewrote is judged and shown again.

        An `objection` is what somebody has against it: then the person is asked, whatever the rules allow. They are
        told the `origin` of the tool. `trial_context` is called when they want it tried in a copy first.
        """
        while True:
            facts, verdict = self.decide(tool, params)
            if verdict.decision is Decision.DENY:
                raise _denied_error(verdict)
            if objection:
                verdict = _with_objection(verdict, objection)
            if verdict.decision is Decision.ALLOW:
                return AuthorisedCall(params, None, facts, verdict.source)
            confirmation = await _build_confirmation(tool, params, facts, verdict)
            if confirmation is None:
                return AuthorisedCall(params, None, facts, "the tool needs no confirmation")
            if self._approver is None:
                raise _non_interactive_error(tool, verdict, objection)
            question = self._build_question(tool, confirmation, facts, verdict, note=note, origin=origin)
            trying_tool = tool if isinstance(tool, TrialTool) else None
            if trying_tool is not None:
                question = replace(question, can_try=await trying_tool.can_try(confirmation))
            on_question(question)
            answer = await self._approver.ask(question)
            if answer.outcome is Outcome.TRY_IN_COPY and question.can_try and trying_tool is not None:
                try:
                    answer, confirmation = await run_trial(
                        trying_tool,
                        question,
                        confirmation,
                        self._approver,
                        context=trial_context(),
                        on_question=on_question,
                    )
                except ToolFailure as failure:
                    note = _("It could not be tried in a copy: {why}", why=failure.message)
                    continue
            if answer.outcome in (Outcome.CANCEL, Outcome.STOP):
                ends_turn = answer.outcome is Outcome.STOP
                raise RejectedByUser(
                    answer.feedback, confirmation, ends_turn=ends_turn, has_feedback=bool(answer.feedback)
                )
            if answer.new_content is not None:
                params, note = (
                    _apply_user_edit(tool, params, confirmation, answer.new_content),
                    _("This is your version."),
                )
                continue
            if answer.outcome is Outcome.MODIFY_WITH_EDITOR:
                raise RejectedByUser("the change was to be rewritten, and was not", confirmation)
            if answer.outcome is Outcome.TRY_IN_COPY:
                note = _("This cannot be tried in a copy.")
                continue
            try:
                self._remember_answer(answer, confirmation, verdict)
            except (TejatError, OSError) as error:
                note = _("The answer could not be saved: {error}", error=error)
                continue
            return AuthorisedCall(params, confirmation, facts, BY_USER)

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
        scopes = (Scope.SESSION,) if self._save is None else tuple(Scope)
        of_server = None if verdict.suggested_rule is None else _server_rule(verdict.suggested_rule, confirmation)
        return ApprovalRequest(
            confirmation=confirmation,
            tool_name=tool.name,
            reason=verdict.reason,
            always=None if verdict.suggested_rule is None else format_rule(verdict.suggested_rule),
            scopes=() if verdict.suggested_rule is None else scopes,
            can_modify=isinstance(tool, ModifiableTool),
            note=note,
            origin=origin,
            risks=call_risks(facts),
            directory=facts.roots[0] if facts.roots else "",
            always_server=None if of_server is None else format_rule(of_server),
        )

    def _remember_answer(self, answer: ApprovalReply, confirmation: Confirmation, verdict: PolicyVerdict) -> None:
        rule = _rule_from_answer(answer, confirmation, verdict)
        if rule is None:
            return
        scope = answer.scope or (Scope.USER if answer.outcome is Outcome.PROCEED_ALWAYS_AND_SAVE else Scope.SESSION)
        if scope is not Scope.SESSION and self._save is not None:
            self._save(rule, scope)
        self.policy = self.policy.with_rule(replace(rule, source=f"{ANSWER_SOURCE} ({scope.value})", tier=Tier.USER))


class RejectedByUser(ToolFailure):
    """The person said no. `shown` is the change they said no to, if it was one.

    `ends_turn`: they want none of the other calls either, and the model is not asked again. `has_word`: they have told
    the model what to do instead, which it is to hear.
    """

    def __init__(
        self, feedback: str | None, confirmation: Confirmation, *, ends_turn: bool = False, has_feedback: bool = False
    ) -> None:
        said = f" They said: {feedback}" if feedback else ""
        super().__init__(
            f"[Operation Cancelled] Reason: User did not allow tool call.{said}",
            ErrorType.CANCELLED,
            display=gettext_lazy("Cancelled: you did not allow this call."),
        )
        self.rejected_change = _rejected_change(confirmation)
        self.ends_turn = ends_turn
        self.has_feedback = has_feedback


def _rejected_change(confirmation: Confirmation) -> FileDiff | None:
    if not isinstance(confirmation, EditConfirmation):
        return None
    return FileDiff(
        file_name=confirmation.file_name,
        file_path=confirmation.file_path,
        file_diff=confirmation.file_diff,
        is_new_file=confirmation.original_content is None,
        original_content=confirmation.original_content,
        new_content=confirmation.new_content,
        diff_stat=confirmation.diff_stat,
    )


async def _build_confirmation(
    tool: BaseTool, params: Params, facts: CallFacts, verdict: PolicyVerdict
) -> Confirmation | None:
    """What to show. A tool that wants no answer is still asked about where it is somebody else's, or a rule says so."""
    confirmation = await tool.should_confirm_execute(params)
    if isinstance(confirmation, ExecConfirmation) and facts.line is not None:
        return replace(confirmation, root_commands=facts.line.program_names)
    if confirmation is not None:
        return confirmation
    rule_asks = verdict.always_ask or (verdict.rule is not None and verdict.rule.tier is not Tier.DEFAULT)
    if not rule_asks and tool.server_name is None:
        return None
    return InfoConfirmation(title=_("Confirm: {tool}", tool=tool.display_name), prompt=tool.get_description(params))


def _rule_from_answer(answer: ApprovalReply, confirmation: Confirmation, verdict: PolicyVerdict) -> PolicyRule | None:
    """The rule that the answer asks to be remembered: just the one that was shown, or for a server all its tools."""
    if answer.outcome is Outcome.PROCEED_ONCE or verdict.suggested_rule is None:
        return None
    if answer.outcome is Outcome.PROCEED_ALWAYS_SERVER:
        return _server_rule(verdict.suggested_rule, confirmation) or verdict.suggested_rule
    return verdict.suggested_rule


def _server_rule(offer: PolicyRule, confirmation: Confirmation) -> PolicyRule | None:
    """The rule for all tools of the server that the call goes to, None where it goes to none."""
    if not isinstance(confirmation, McpConfirmation):
        return None
    return replace(offer, tool="*", server=confirmation.server_name)


def _apply_user_edit(tool: BaseTool, params: Params, confirmation: Confirmation, new_content: str) -> Params:
    if not isinstance(tool, ModifiableTool):
        raise ToolFailure(f'Tool "{tool.name}" has nothing that could be rewritten.', ErrorType.EXECUTION_FAILED)
    rewritten = tool.modified_params(params, confirmation, new_content)
    rejection = tool.rejection(rewritten)
    if rejection:
        raise rejection
    return rewritten


def _denied_error(verdict: PolicyVerdict) -> ToolFailure:
    message = verdict.rule.message if verdict.rule and verdict.rule.message else verdict.reason
    told = join_lazy(" ", filter(None, (gettext_lazy("Tool execution denied by policy."), message)))
    display = gettext_lazy("{told} ({source})", told=told, source=verdict.source)
    return ToolFailure(told, ErrorType.POLICY_VIOLATION, display=display)


def _with_objection(verdict: PolicyVerdict, objection: str) -> PolicyVerdict:
    """No rule that could be remembered would settle it."""
    is_asked = verdict.decision is Decision.ASK and verdict.reason
    reason = join_lazy(" ", (objection, verdict.reason)) if is_asked else objection
    return replace(verdict, decision=Decision.ASK, reason=reason, always_ask=True, suggested_rule=None)


def _non_interactive_error(tool: BaseTool, verdict: PolicyVerdict, objection: str) -> ToolFailure:
    told = gettext_lazy(
        'Tool execution for "{tool}" requires user confirmation, which is not supported in non-interactive mode.',
        tool=tool.display_name,
    )
    if objection:
        return ToolFailure(join_lazy(" ", (told, objection)), ErrorType.POLICY_VIOLATION)
    offer = verdict.suggested_rule
    hint = "" if offer is None else gettext_lazy("A rule that would allow it: {rule}", rule=format_rule(offer))
    display = join_lazy(" ", filter(None, (told, verdict.reason, hint)))
    return ToolFailure(told, ErrorType.POLICY_VIOLATION, display=display)
