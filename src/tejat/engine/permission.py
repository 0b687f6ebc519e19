"""May this call run? The policy says yes, no or ask; a person is asked; what they answer may become a rule."""

from collections.abc import Callable

from tejat.core.confirm import (
    Answer,
    Approver,
    Confirmation,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    Origin,
    Outcome,
    Question,
    Scope,
)
from tejat.core.display import FileDiff
from tejat.core.errors import ErrorType, TejatError, ToolFailure
from tejat.core.events import BY_THE_PERSON
from tejat.core.tool import BaseTool, ModifiableTool, ToolContext, TrialTool
from tejat.core.types import Params
from tejat.core.value import replace, value
from tejat.core.words import joined, phrase, say
from tejat.engine.facts import FactFinder, risks_in
from tejat.engine.trying import try_first
from tejat.policy.engine import Policy
from tejat.policy.rule_text import rule_text
from tejat.policy.rules import Decision, Facts, Rule, Tier, Verdict

SaveRule = Callable[[Rule, Scope], None]

BUILT_IN = Origin()

FROM_ANSWER = "your answer"
"""What the source of a rule begins with that the person gave as an answer in this session."""
FOR_SESSION = f"{FROM_ANSWER} ({Scope.SESSION.value})"


@value
class Ready:
    """A call that may run. `approved` is what the person said yes to, None where a rule allowed it."""

    params: Params
    approved: Confirmation | None
    facts: Facts
    allowed_by: str


class Permission:
    """Decides for one session, and remembers for it what the person answered with "always".

    Without an approver nobody can answer, so whatever needs an answer is refused. Without `save` an "always" can only
    last for the session. `around` are the directories that rules were written for, where the session works in some part
    of them only: what the rules say of them counts too, if it is stricter.
    """

    def __init__(
        self,
        policy: Policy,
        facts: FactFinder,
        approver: Approver | None,
        *,
        save: SaveRule | None = None,
        around: tuple[str, ...] = (),
    ) -> None:
        self.policy = policy
        self._facts = facts
        self._approver = approver
        self._save = save
        self._around = around

    @property
    def can_ask(self) -> bool:
        return self._approver is not None

    def decide(self, tool: BaseTool, params: Params) -> tuple[Facts, Verdict]:
        """What the rules say about a call, whoever is there to be asked."""
        with_paths = not tool.is_read_only or self.policy.has_path_rules
        facts = self._facts.of(tool, params, with_paths=with_paths)
        verdict = self.policy.decide(facts)
        if self._around:
            from_around = self.policy.decide(replace(facts, roots=self._around))
            verdict = max(verdict, from_around, key=lambda each: (each.decision.strictness, each.firm))
        return facts, verdict

    async def authorise(
        self,
        tool: BaseTool,
        params: Params,
        *,
        asking: Callable[[Question], None],
        origin: Origin = BUILT_IN,
        note: str = "",
        objection: str = "",
        trying: Callable[[], ToolContext] = ToolContext,
    ) -> Ready:
        """Raises ToolFailure where the call may not run. What the person rewrote is judged and shown again.

        An `objection` is what somebody has against it: then the person is asked, whatever the rules allow. They are
        told the `origin` of the tool. `trying` is called when they want it tried in a copy first.
        """
        while True:
            facts, verdict = self.decide(tool, params)
            if verdict.decision is Decision.DENY:
                raise _denied(verdict)
            if objection:
                verdict = _objected(verdict, objection)
            if verdict.decision is Decision.ALLOW:
                return Ready(params, None, facts, verdict.source)
            confirmation = await _confirmation(tool, params, facts, verdict)
            if confirmation is None:
                return Ready(params, None, facts, "the tool needs no confirmation")
            if self._approver is None:
                raise _nobody_to_ask(tool, verdict, objection)
            question = self._question(tool, confirmation, facts, verdict, note=note, origin=origin)
            trying_tool = tool if isinstance(tool, TrialTool) else None
            if trying_tool is not None:
                question = replace(question, can_try=await trying_tool.can_try(confirmation))
            asking(question)
            answer = await self._approver.ask(question)
            if answer.outcome is Outcome.TRY_IN_COPY and question.can_try and trying_tool is not None:
                try:
                    answer, confirmation = await try_first(
                        trying_tool, question, confirmation, self._approver, context=trying(), asking=asking
                    )
                except ToolFailure as failure:
                    note = say("It could not be tried in a copy: {why}", why=failure.message)
                    continue
            if answer.outcome in (Outcome.CANCEL, Outcome.STOP):
                ends_turn = answer.outcome is Outcome.STOP
                raise NotAllowed(answer.feedback, confirmation, ends_turn=ends_turn, has_word=bool(answer.feedback))
            if answer.new_content is not None:
                params, note = _rewritten(tool, params, confirmation, answer.new_content), say("This is your version.")
                continue
            if answer.outcome is Outcome.MODIFY_WITH_EDITOR:
                raise NotAllowed("the change was to be rewritten, and was not", confirmation)
            if answer.outcome is Outcome.TRY_IN_COPY:
                note = say("This cannot be tried in a copy.")
                continue
            try:
                self._remember(answer, confirmation, verdict)
            except (TejatError, OSError) as error:
                note = say("The answer could not be saved: {error}", error=error)
                continue
            return Ready(params, confirmation, facts, BY_THE_PERSON)

    def _question(
        self,
        tool: BaseTool,
        confirmation: Confirmation,
        facts: Facts,
        verdict: Verdict,
        *,
        note: str,
        origin: Origin,
    ) -> Question:
        scopes = (Scope.SESSION,) if self._save is None else tuple(Scope)
        of_server = None if verdict.offer is None else _for_server(verdict.offer, confirmation)
        return Question(
            confirmation=confirmation,
            tool_name=tool.name,
            reason=verdict.reason,
            always=None if verdict.offer is None else rule_text(verdict.offer),
            scopes=() if verdict.offer is None else scopes,
            can_modify=isinstance(tool, ModifiableTool),
            note=note,
            origin=origin,
            risks=risks_in(facts),
            directory=facts.roots[0] if facts.roots else "",
            always_server=None if of_server is None else rule_text(of_server),
        )

    def _remember(self, answer: Answer, confirmation: Confirmation, verdict: Verdict) -> None:
        rule = _rule_of(answer, confirmation, verdict)
        if rule is None:
            return
        scope = answer.scope or (Scope.USER if answer.outcome is Outcome.PROCEED_ALWAYS_AND_SAVE else Scope.SESSION)
        if scope is not Scope.SESSION and self._save is not None:
            self._save(rule, scope)
        self.policy = self.policy.with_rule(replace(rule, source=f"{FROM_ANSWER} ({scope.value})", tier=Tier.USER))


class NotAllowed(ToolFailure):
    """The person said no. `shown` is the change they said no to, if it was one.

    `ends_turn`: they want none of the other calls either, and the model is not asked again. `has_word`: they have told
    the model what to do instead, which it is to hear.
    """

    def __init__(
        self, feedback: str | None, confirmation: Confirmation, *, ends_turn: bool = False, has_word: bool = False
    ) -> None:
        said = f" They said: {feedback}" if feedback else ""
        super().__init__(
            f"[Operation Cancelled] Reason: User did not allow tool call.{said}",
            ErrorType.CANCELLED,
            display=phrase("Cancelled: you did not allow this call."),
        )
        self.shown = _change_shown(confirmation)
        self.ends_turn = ends_turn
        self.has_word = has_word


def _change_shown(confirmation: Confirmation) -> FileDiff | None:
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


async def _confirmation(tool: BaseTool, params: Params, facts: Facts, verdict: Verdict) -> Confirmation | None:
    """What to show. A tool that wants no answer is still asked about where it is somebody else's, or a rule says so."""
    confirmation = await tool.should_confirm_execute(params)
    if isinstance(confirmation, ExecConfirmation) and facts.line is not None:
        return replace(confirmation, root_commands=facts.line.roots)
    if confirmation is not None:
        return confirmation
    rule_asks = verdict.firm or (verdict.rule is not None and verdict.rule.tier is not Tier.DEFAULT)
    if not rule_asks and tool.server_name is None:
        return None
    return InfoConfirmation(title=say("Confirm: {tool}", tool=tool.display_name), prompt=tool.get_description(params))


def _rule_of(answer: Answer, confirmation: Confirmation, verdict: Verdict) -> Rule | None:
    """The rule that the answer asks to be remembered: just the one that was shown, or for a server all its tools."""
    if answer.outcome is Outcome.PROCEED_ONCE or verdict.offer is None:
        return None
    if answer.outcome is Outcome.PROCEED_ALWAYS_SERVER:
        return _for_server(verdict.offer, confirmation) or verdict.offer
    return verdict.offer


def _for_server(offer: Rule, confirmation: Confirmation) -> Rule | None:
    """The rule for all tools of the server that the call goes to, None where it goes to none."""
    if not isinstance(confirmation, McpConfirmation):
        return None
    return replace(offer, tool="*", server=confirmation.server_name)


def _rewritten(tool: BaseTool, params: Params, confirmation: Confirmation, new_content: str) -> Params:
    if not isinstance(tool, ModifiableTool):
        raise ToolFailure(f'Tool "{tool.name}" has nothing that could be rewritten.', ErrorType.EXECUTION_FAILED)
    rewritten = tool.modified_params(params, confirmation, new_content)
    rejection = tool.rejection(rewritten)
    if rejection:
        raise rejection
    return rewritten


def _denied(verdict: Verdict) -> ToolFailure:
    message = verdict.rule.message if verdict.rule and verdict.rule.message else verdict.reason
    told = joined(" ", filter(None, (phrase("Tool execution denied by policy."), message)))
    display = phrase("{told} ({source})", told=told, source=verdict.source)
    return ToolFailure(told, ErrorType.POLICY_VIOLATION, display=display)


def _objected(verdict: Verdict, objection: str) -> Verdict:
    """No rule that could be remembered would settle it."""
    is_asked = verdict.decision is Decision.ASK and verdict.reason
    reason = joined(" ", (objection, verdict.reason)) if is_asked else objection
    return replace(verdict, decision=Decision.ASK, reason=reason, firm=True, offer=None)


def _nobody_to_ask(tool: BaseTool, verdict: Verdict, objection: str) -> ToolFailure:
    told = phrase(
        'Tool execution for "{tool}" requires user confirmation, which is not supported in non-interactive mode.',
        tool=tool.display_name,
    )
    if objection:
        return ToolFailure(joined(" ", (told, objection)), ErrorType.POLICY_VIOLATION)
    offer = verdict.offer
    hint = "" if offer is None else phrase("A rule that would allow it: {rule}", rule=rule_text(offer))
    display = joined(" ", filter(None, (told, verdict.reason, hint)))
    return ToolFailure(told, ErrorType.POLICY_VIOLATION, display=display)
