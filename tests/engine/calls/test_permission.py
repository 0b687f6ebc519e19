"""Rules decide, people are asked, and what they answered with "always" is remembered exactly as it was shown."""

import asyncio
import threading
from pathlib import Path

import pytest

from support.approver import NO, YES, FakeApprover
from support.note_tool import (
    ModifiableNoteTool,
    NoteParams,
    NoteTool,
    create_scheduler,
    edit_confirmation,
    open_scheduler,
)
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    Confirmation,
    InfoConfirmation,
    McpConfirmation,
    Outcome,
    Risk,
    Scope,
    ToolOrigin,
)
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall, Params
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import BaseTool, ToolError, ToolLocation, ToolResult
from tejat.core.tools.call_events import BY_USER
from tejat.core.tools.display import FileDiff
from tejat.engine.calls.permission import AuthorisedCall, SaveRules
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.types import Decision, PolicyRule, Tier
from tejat.tools.registry import ToolRegistry
from tejat.workspace.files.roots import Roots

NO_TOLD = "[Operation Cancelled] Reason: User did not allow tool call."
ALLOW = PolicyRule(Decision.ALLOW, Tier.USER, "rules.toml:1", tool="note")
ASK = replace(ALLOW, decision=Decision.ASK)
DENY = replace(ALLOW, decision=Decision.DENY)


def run(
    directory: Path,
    tool: BaseTool,
    *texts: str,
    approver: FakeApprover | None,
    rules: tuple[PolicyRule, ...] = (),
    mode: ApprovalMode = ApprovalMode.DEFAULT,
    save: SaveRules | None = None,
    remembers: bool = True,
) -> list[ToolResult]:
    """The results of the calls, each of them in a turn of its own."""

    async def main() -> list[ToolResult]:
        opened = open_scheduler(directory, [tool], approver, rules=rules, mode=mode, save=save, remembers=remembers)
        with opened as scheduler:
            return [await scheduler.run(FunctionCall(tool.name, {"text": text})) for text in texts]

    return asyncio.run(main())


def wrote(text: str) -> ToolResult:
    return ToolResult(f"wrote {text}", "written")


class TestDeciding:
    @pytest.mark.parametrize("approver", [None, FakeApprover([])])
    def test_what_a_rule_allows_runs_unasked(self, tmp_path: Path, approver: FakeApprover | None) -> None:
        tool = NoteTool()
        assert run(tmp_path, tool, "a", approver=approver, rules=(ALLOW,)) == [wrote("a")]
        assert tool.written == [("a", None)]

    def test_what_a_rule_denies_is_not_even_asked(self, tmp_path: Path) -> None:
        tool, approver = NoteTool(), FakeApprover([YES])
        rule = replace(DENY, message="Notes are kept elsewhere.")
        told = "Tool execution denied by policy. Notes are kept elsewhere."
        assert run(tmp_path, tool, "a", approver=approver, rules=(ALLOW, rule)) == [
            ToolResult(told, f"{told} (rules.toml:1)", ToolError(told, ErrorType.POLICY_VIOLATION))
        ]
        assert (approver.questions, tool.written) == ([], [])

    @pytest.mark.parametrize("mode", list(ApprovalMode))
    def test_a_deny_holds_in_every_mode(self, tmp_path: Path, mode: ApprovalMode) -> None:
        tool = NoteTool()
        (result,) = run(tmp_path, tool, "a", approver=FakeApprover([YES]), rules=(DENY,), mode=mode)
        assert result.error is not None
        assert result.error.type is ErrorType.POLICY_VIOLATION
        assert tool.written == []

    def test_yolo_asks_nobody(self, tmp_path: Path) -> None:
        assert run(tmp_path, NoteTool(), "a", approver=None, mode=ApprovalMode.YOLO) == [wrote("a")]

    def test_plan_changes_nothing(self, tmp_path: Path) -> None:
        tool = NoteTool()
        (result,) = run(tmp_path, tool, "a", approver=FakeApprover([YES]), rules=(ALLOW,), mode=ApprovalMode.PLAN)
        assert result.error is not None
        assert tool.written == []

    @pytest.mark.parametrize("approver", [None, FakeApprover([])])
    def test_a_tool_that_wants_no_answer_runs(self, tmp_path: Path, approver: FakeApprover | None) -> None:
        assert run(tmp_path, NoteTool(asks=False), "a", approver=approver) == [wrote("a")]

    def test_a_rule_may_ask_about_a_tool_that_wants_no_answer(self, tmp_path: Path) -> None:
        approver = FakeApprover([NO])
        (result,) = run(tmp_path, NoteTool(asks=False), "a", approver=approver, rules=(ASK,))
        assert result.error == ToolError(NO_TOLD, ErrorType.CANCELLED)
        assert approver.confirmations == [InfoConfirmation("Confirm: Note", "a")]

    def test_the_word_of_a_servers_tool_that_it_wants_no_answer_does_not_count(self, tmp_path: Path) -> None:
        tool, approver = NoteTool("far__note", asks=False, kind=Kind.OTHER), FakeApprover([NO])
        tool.server_name = "far"
        (result,) = run(tmp_path, tool, "a", approver=approver)
        assert result.error == ToolError(NO_TOLD, ErrorType.CANCELLED)
        assert len(approver.questions) == 1

    def test_where_nobody_can_answer_doubt_means_no(self, tmp_path: Path) -> None:
        tool = NoteTool()
        told = 'Tool execution for "Note" requires user confirmation, which is not supported in non-interactive mode.'
        (result,) = run(tmp_path, tool, "a", approver=None)
        assert (result.llm_content, result.error) == (told, ToolError(told, ErrorType.POLICY_VIOLATION))
        assert isinstance(result.return_display, str)
        advice = "No rule allows this. Use --allowed-tools note or --approval-mode auto_edit."
        assert result.return_display == f"{told} {advice}"
        assert tool.written == []


class LocatingTool(NoteTool):
    """Notes in which thread its calls are judged."""

    def __init__(self) -> None:
        super().__init__("run_shell_command", kind=Kind.EXECUTE)
        self.threads: list[threading.Thread] = []

    def tool_locations(self, params: Params) -> list[ToolLocation]:
        self.threads.append(threading.current_thread())
        return []


class TestJudging:
    @pytest.mark.parametrize(
        ("line", "rules", "is_in_thread"), [("ls", 1, False), ("ls; " * 600, 1, True), ("ls", 1100, True)]
    )
    def test_what_takes_long_is_judged_in_a_thread(
        self, tmp_path: Path, line: str, rules: int, is_in_thread: bool
    ) -> None:
        tool = LocatingTool()
        deny = PolicyRule(Decision.DENY, Tier.USER, "x", tool.name, command=("rm",))
        with open_scheduler(tmp_path, [tool], None, rules=(deny,) * rules) as scheduler:
            verdict = asyncio.run(scheduler.permission.judge(tool, {"command": line}))[1]
            assert verdict == scheduler.permission.decide(tool, {"command": line})[1]
        assert (tool.threads[0] is not threading.current_thread()) == is_in_thread

    def test_a_question_is_assumed_for_a_long_line(self, tmp_path: Path) -> None:
        tool = LocatingTool()
        with open_scheduler(tmp_path, [tool], None) as scheduler:
            assert scheduler.permission.asks(tool, {"command": "ls; " * 600})
        assert tool.threads == []


class TestAsking:
    @pytest.mark.parametrize(
        "outcome",
        [
            each
            for each in Outcome
            if each.value.startswith("proceed_")
            and each not in (Outcome.PROCEED_ALWAYS_SANDBOXED, Outcome.PROCEED_WITH_TOOLS)
        ],
    )
    def test_a_yes_runs_exactly_what_was_shown(self, tmp_path: Path, outcome: Outcome) -> None:
        tool, approver = NoteTool(), FakeApprover([ApprovalReply(outcome)])
        assert run(tmp_path, tool, "a", approver=approver, save=lambda *_: None) == [wrote("a")]
        assert approver.confirmations == [edit_confirmation("a")]
        ((text, approved),) = tool.written
        assert text == "a"
        assert approved is approver.confirmations[0]

    def test_a_no_runs_nothing_and_keeps_the_change_to_look_at(self, tmp_path: Path) -> None:
        tool = NoteTool()
        shown = FileDiff("note", "/w/note", "+a", is_new_file=True, new_content="a")
        assert run(tmp_path, tool, "a", approver=FakeApprover([NO])) == [
            ToolResult(NO_TOLD, shown, ToolError(NO_TOLD, ErrorType.CANCELLED))
        ]
        assert tool.written == []

    def test_a_no_with_new_content_is_still_a_no(self, tmp_path: Path) -> None:
        tool = ModifiableNoteTool()
        (result,) = run(tmp_path, tool, "a", approver=FakeApprover([ApprovalReply(Outcome.CANCEL, new_content="b")]))
        assert result.error == ToolError(NO_TOLD, ErrorType.CANCELLED)
        assert tool.written == []

    def test_a_no_may_carry_a_word_for_the_model(self, tmp_path: Path) -> None:
        approver = FakeApprover([ApprovalReply(Outcome.CANCEL, feedback="use the other file")])
        (result,) = run(tmp_path, NoteTool(), "a", approver=approver)
        told = f"{NO_TOLD} They said: use the other file"
        assert (result.llm_content, result.error) == (told, ToolError(told, ErrorType.CANCELLED))

    def test_a_stop_is_a_no(self, tmp_path: Path) -> None:
        tool = NoteTool()
        (result,) = run(tmp_path, tool, "a", approver=FakeApprover([ApprovalReply(Outcome.STOP, new_content="b")]))
        assert result.error == ToolError(NO_TOLD, ErrorType.CANCELLED)
        assert tool.written == []

    def test_what_cannot_be_tried_in_a_copy_is_asked_again(self, tmp_path: Path) -> None:
        tool, approver = NoteTool(), FakeApprover([ApprovalReply(Outcome.TRY_IN_COPY), NO])
        (result,) = run(tmp_path, tool, "a", approver=approver)
        assert result.error == ToolError(NO_TOLD, ErrorType.CANCELLED)
        assert [question.note for question in approver.questions] == ["", "This call cannot be tried in a copy."]
        assert tool.written == []

    @pytest.mark.parametrize(
        ("source", "origin", "told"),
        [
            (ToolSource.BUILT_IN, "", ToolOrigin()),
            (ToolSource.PYTHON, "tools.py", ToolOrigin(ToolSource.PYTHON, "tools.py")),
            (ToolSource.DISCOVERED, "user settings", ToolOrigin(ToolSource.DISCOVERED, "user settings")),
        ],
    )
    def test_the_question_says_whose_tool_it_is(
        self, tmp_path: Path, source: ToolSource, origin: str, told: ToolOrigin
    ) -> None:
        approver, registry = FakeApprover([NO]), ToolRegistry()
        registry.register(NoteTool(), source=source, origin=origin)
        with Roots([tmp_path]) as roots:
            asyncio.run(create_scheduler(roots, registry, approver).run(FunctionCall("note", {"text": "a"})))
        assert approver.questions[0].origin == told

    def test_a_tool_is_the_callers_own_unless_it_is_said_otherwise(self, tmp_path: Path) -> None:
        approver, registry = FakeApprover([NO]), ToolRegistry()
        registry.register(NoteTool())
        with Roots([tmp_path]) as roots:
            asyncio.run(create_scheduler(roots, registry, approver).run(FunctionCall("note", {"text": "a"})))
        assert approver.questions[0].origin == ToolOrigin(ToolSource.PYTHON)

    def test_false_needs_no_confirmation_as_in_gemini_cli(self, tmp_path: Path) -> None:
        class Sure(NoteTool):
            async def propose(self, params: NoteParams) -> Confirmation | None:
                return False  # pyright: ignore[reportReturnType]

        approver = FakeApprover([NO])
        assert run(tmp_path, Sure(), "a", approver=approver) == [ToolResult("wrote a", "written")]
        assert approver.questions == []

    def test_anything_else_is_an_error_that_names_the_tool(self, tmp_path: Path) -> None:
        class Unsure(NoteTool):
            async def propose(self, params: NoteParams) -> Confirmation | None:
                return "really?"  # pyright: ignore[reportReturnType]

        tool, approver = Unsure(), FakeApprover([YES])
        (result,) = run(tmp_path, tool, "a", approver=approver)
        told = 'Tool "note" returned str from should_confirm_execute.'
        assert result.error == ToolError(told, ErrorType.EXECUTION_FAILED)
        assert (approver.questions, tool.written) == ([], [])

    def test_the_question_about_a_servers_tool(self, tmp_path: Path) -> None:
        class Remote(NoteTool):
            server_name = "far"

            async def propose(self, params: NoteParams) -> Confirmation | None:
                return McpConfirmation("Confirm", "far", "note", "note")

        approver, registry = FakeApprover([NO]), ToolRegistry()
        registry.register(Remote("far__note", kind=Kind.OTHER), source=ToolSource.MCP)
        with Roots([tmp_path]) as roots:
            asyncio.run(create_scheduler(roots, registry, approver).run(FunctionCall("far__note", {"text": "a"})))
        (question,) = approver.questions
        rule = PolicyRule(Decision.ALLOW, Tier.USER, "", tool="*", server="far")
        assert (question.origin, question.always_server) == (
            ToolOrigin(ToolSource.MCP, "far"),
            format_rule(rule),
        )

    def test_the_question_names_the_risks(self, tmp_path: Path) -> None:
        class Sketch(NoteTool):
            def locations(self, params: NoteParams) -> list[ToolLocation]:
                return [ToolLocation(str(tmp_path / params.text))]

        approver = FakeApprover([NO, NO])
        run(tmp_path, Sketch(), "a", ".git/config", approver=approver)
        assert [question.risks for question in approver.questions] == [(), (Risk.CONTROL_FILE,)]

    def test_a_proposal_that_fails_is_told_with_its_kind(self, tmp_path: Path) -> None:
        tool, approver = NoteTool(), FakeApprover([YES])
        assert run(tmp_path, tool, "stale", approver=approver) == [
            ToolResult("it moved on", "Moved on.", ToolError("it moved on", ErrorType.STALE_FILE))
        ]
        assert (approver.confirmations, tool.written) == ([], [])

    def test_a_proposal_that_breaks_runs_nothing(self, tmp_path: Path) -> None:
        tool, approver = NoteTool(), FakeApprover([YES])
        (result,) = run(tmp_path, tool, "break the proposal", approver=approver)
        assert result.error == ToolError("division by zero", ErrorType.EXECUTION_FAILED)
        assert (approver.confirmations, tool.written) == ([], [])

    def test_an_approver_that_breaks_is_not_a_yes(self, tmp_path: Path) -> None:
        tool = NoteTool()
        (result,) = run(tmp_path, tool, "a", approver=FakeApprover([RuntimeError("terminal gone")]))
        assert result.error == ToolError("terminal gone", ErrorType.EXECUTION_FAILED)
        assert tool.written == []

    def test_a_wish_to_modify_without_any_content_is_not_a_yes(self, tmp_path: Path) -> None:
        tool = ModifiableNoteTool()
        (result,) = run(tmp_path, tool, "a", approver=FakeApprover([ApprovalReply(Outcome.MODIFY_WITH_EDITOR)]))
        assert result.error is not None
        assert result.error.type is ErrorType.CANCELLED
        assert tool.written == []

    def test_the_question_says_why_and_what_always_would_remember(self, tmp_path: Path) -> None:
        approver = FakeApprover([YES])
        run(tmp_path, ModifiableNoteTool(), "a", approver=approver, save=lambda *_: None)
        (question,) = approver.questions
        assert question.reason == ""  # nothing special: there is just no rule
        rule = PolicyRule(Decision.ALLOW, Tier.USER, "", tool="note")
        assert question == ApprovalRequest(
            edit_confirmation("a"),
            "note",
            question.reason,
            format_rule(rule),
            (Scope.SESSION, Scope.PROJECT, Scope.USER),
            can_modify=True,
            directory=str(tmp_path.resolve()),
            call_index=0,
        )

    def test_without_a_place_to_save_only_the_session_is_offered(self, tmp_path: Path) -> None:
        approver = FakeApprover([YES])
        run(tmp_path, NoteTool(), "a", approver=approver)
        assert (approver.questions[0].scopes, approver.questions[0].can_modify) == ((Scope.SESSION,), False)


class TestRemembering:
    def test_once_is_once(self, tmp_path: Path) -> None:
        approver = FakeApprover([YES, NO])
        first, second = run(tmp_path, NoteTool(), "a", "a", approver=approver)
        assert first == wrote("a")
        assert second.error is not None

    def test_always_is_not_asked_again_in_this_session(self, tmp_path: Path) -> None:
        approver = FakeApprover([ApprovalReply(Outcome.PROCEED_ALWAYS)])
        assert run(tmp_path, NoteTool(), "a", "b", approver=approver) == [wrote("a"), wrote("b")]

    @pytest.mark.parametrize(
        ("answer", "scope"),
        [
            (ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE), Scope.USER),
            (ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.PROJECT), Scope.PROJECT),
            (ApprovalReply(Outcome.PROCEED_ALWAYS_TOOL, scope=Scope.USER), Scope.USER),
        ],
    )
    def test_what_is_saved_is_the_rule_that_was_shown(
        self, tmp_path: Path, answer: ApprovalReply, scope: Scope
    ) -> None:
        saved: list[tuple[str, Scope]] = []
        approver = FakeApprover([answer])
        results = run(
            tmp_path,
            NoteTool(),
            "a",
            "b",
            approver=approver,
            save=lambda rules, where: saved.extend((format_rule(rule), where) for rule in rules),
        )
        assert results == [wrote("a"), wrote("b")]
        assert saved == [(approver.questions[0].always, scope)]

    def test_an_answer_that_cannot_be_saved_is_told_and_asked_again(self, tmp_path: Path) -> None:
        def save(*_: object) -> None:
            raise UsageError("the disk is full")

        tool = NoteTool()
        approver = FakeApprover([ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE), NO])
        (result,) = run(tmp_path, tool, "a", approver=approver, save=save)
        assert result.error is not None
        assert approver.questions[1].note == "Could not save the answer: the disk is full"
        assert tool.written == []

    def test_an_always_for_a_server_covers_its_other_tools_and_nobody_elses(self, tmp_path: Path) -> None:
        class Remote(NoteTool):
            def __init__(self, server: str, name: str) -> None:
                super().__init__(f"{server}__{name}", kind=Kind.OTHER)
                self.server_name = server
                self.short_name = name

            async def propose(self, params: NoteParams) -> Confirmation | None:
                return McpConfirmation("Confirm", self.server_name or "", self.short_name, self.short_name)

        tools = [Remote("one", "a"), Remote("one", "b"), Remote("two", "a")]
        approver = FakeApprover([ApprovalReply(Outcome.PROCEED_ALWAYS_SERVER), NO])

        async def main() -> list[bool]:
            with open_scheduler(tmp_path, tools, approver) as scheduler:
                results = [await scheduler.run(FunctionCall(tool.name, {"text": "x"})) for tool in tools]
            return [result.error is None for result in results]

        assert asyncio.run(main()) == [True, True, False]


class TestAnswersThatWereNotOffered:
    ALWAYS = (
        ApprovalReply(Outcome.PROCEED_ALWAYS),
        ApprovalReply(Outcome.PROCEED_ALWAYS_TOOL, scope=Scope.SESSION),
        ApprovalReply(Outcome.PROCEED_ALWAYS_SERVER),
        ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE),
        ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.PROJECT),
    )

    @pytest.mark.parametrize("answer", ALWAYS)
    def test_a_rule_that_asks_is_asked_each_time(self, tmp_path: Path, answer: ApprovalReply) -> None:
        tool, approver = NoteTool(), FakeApprover([YES, answer])
        yes, refused = run(tmp_path, tool, "a", "b", approver=approver, rules=(ASK, ALLOW))
        assert [(question.always, question.scopes) for question in approver.questions] == [(None, ())] * 2
        assert yes == wrote("a")
        assert refused.error is not None
        assert refused.error.type is ErrorType.POLICY_VIOLATION
        assert [text for text, _ in tool.written] == ["a"]

    @pytest.mark.parametrize("answer", ALWAYS)
    def test_nothing_is_remembered_where_that_is_switched_off(self, tmp_path: Path, answer: ApprovalReply) -> None:
        tool, approver, saved = NoteTool(), FakeApprover([answer]), list[PolicyRule]()
        save: SaveRules = lambda rules, _scope: saved.extend(rules)  # noqa: E731
        (refused,) = run(tmp_path, tool, "a", approver=approver, save=save, remembers=False)
        assert [(question.always, question.scopes) for question in approver.questions] == [(None, ())]
        assert refused.error is not None
        assert (tool.written, saved) == ([], [])

    @pytest.mark.parametrize("scope", [Scope.PROJECT, Scope.USER, None])
    def test_nothing_is_saved_where_that_is_switched_off(self, tmp_path: Path, scope: Scope | None) -> None:
        answer = ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=scope)
        tool, approver = NoteTool(), FakeApprover([answer])
        (refused,) = run(tmp_path, tool, "a", approver=approver)
        assert [question.scopes for question in approver.questions] == [(Scope.SESSION,)]
        assert refused.error is not None
        assert tool.written == []


class TestRewriting:
    @pytest.mark.parametrize("outcome", [Outcome.MODIFY_WITH_EDITOR, Outcome.PROCEED_ONCE])
    def test_what_was_rewritten_is_shown_again_and_then_runs(self, tmp_path: Path, outcome: Outcome) -> None:
        tool = ModifiableNoteTool()
        approver = FakeApprover([ApprovalReply(outcome, new_content="b"), ApprovalReply(outcome, new_content="c"), YES])
        assert run(tmp_path, tool, "a", approver=approver) == [wrote("c")]
        assert approver.confirmations == [edit_confirmation("a"), edit_confirmation("b"), edit_confirmation("c")]
        assert tool.written == [("c", edit_confirmation("c"))]
        assert tool.written[0][1] is approver.confirmations[2]

    def test_what_was_rewritten_may_still_be_refused(self, tmp_path: Path) -> None:
        tool = ModifiableNoteTool()
        approver = FakeApprover([ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="b"), NO])
        (result,) = run(tmp_path, tool, "a", approver=approver)
        assert result.error == ToolError(NO_TOLD, ErrorType.CANCELLED)
        assert tool.written == []

    def test_what_was_rewritten_is_judged_again(self, tmp_path: Path) -> None:
        tool = ModifiableNoteTool()
        approver = FakeApprover([ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="secret"), YES])
        rule = replace(DENY, arguments="secret")
        (result,) = run(tmp_path, tool, "a", approver=approver, rules=(rule,))
        assert result.error is not None
        assert result.error.type is ErrorType.POLICY_VIOLATION
        assert tool.written == []

    @pytest.mark.parametrize(
        ("new_content", "error"),
        [
            ("nothing", ToolError("params must have required property 'text'", ErrorType.INVALID_TOOL_PARAMS)),
            ("forbidden", ToolError("that may not be said", ErrorType.PATH_NOT_IN_WORKSPACE)),
        ],
    )
    def test_what_was_rewritten_is_checked_again(self, tmp_path: Path, new_content: str, error: ToolError) -> None:
        tool = ModifiableNoteTool()
        approver = FakeApprover([ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content=new_content), YES])
        (result,) = run(tmp_path, tool, "a", approver=approver)
        assert result.error == error
        assert approver.confirmations == [edit_confirmation("a")]
        assert tool.written == []

    def test_a_tool_that_cannot_be_rewritten_says_so(self, tmp_path: Path) -> None:
        tool = NoteTool()
        approver = FakeApprover([ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="b"), YES])
        told = 'Tool "note" does not support editing.'
        assert run(tmp_path, tool, "a", approver=approver) == [
            ToolResult(told, told, ToolError(told, ErrorType.EXECUTION_FAILED))
        ]
        assert tool.written == []


class TestObjections:
    """Somebody has something against the call, whatever the rules say."""

    def authorise(
        self,
        directory: Path,
        approver: FakeApprover | None,
        *rules: PolicyRule,
        mode: ApprovalMode = ApprovalMode.DEFAULT,
    ) -> AuthorisedCall:
        async def main() -> AuthorisedCall:
            with open_scheduler(directory, [], approver, rules=rules, mode=mode) as scheduler:
                return await scheduler.permission.authorise(NoteTool(), {"text": "a"}, objection="Think twice.")

        return asyncio.run(main())

    @pytest.mark.parametrize("mode", [ApprovalMode.DEFAULT, ApprovalMode.YOLO])
    def test_what_a_rule_allows_is_asked_about(self, tmp_path: Path, mode: ApprovalMode) -> None:
        approver = FakeApprover([YES])
        ready = self.authorise(tmp_path, approver, ALLOW, mode=mode)
        assert (ready.approved, ready.allowed_by) == (edit_confirmation("a"), BY_USER)
        assert approver.questions == [
            ApprovalRequest(
                edit_confirmation("a"),
                "note",
                "Think twice.",
                directory=str(tmp_path.resolve()),
                always_refusal="Always is not offered: this warning needs an answer each time.",
            )
        ]

    def test_that_no_rule_allows_it_is_not_added(self, tmp_path: Path) -> None:
        approver = FakeApprover([YES])
        self.authorise(tmp_path, approver)
        assert [question.reason for question in approver.questions] == ["Think twice."]

    def test_what_a_rule_denies_stays_denied(self, tmp_path: Path) -> None:
        with pytest.raises(ToolFailure, match="Tool execution denied by policy"):
            self.authorise(tmp_path, FakeApprover([YES]), DENY)

    def test_without_anybody_it_is_refused_with_the_reason(self, tmp_path: Path) -> None:
        with pytest.raises(ToolFailure) as caught:
            self.authorise(tmp_path, None, ALLOW)
        told = 'Tool execution for "Note" requires user confirmation, which is not supported in non-interactive mode.'
        assert caught.value.message == f"{told} Think twice."
        assert caught.value.error_type is ErrorType.POLICY_VIOLATION
