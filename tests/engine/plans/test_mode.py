"""Plan mode of a session with a user who answers."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from support.approver import FakeApprover
from support.program import ProgramEnv, script_answer, text_script
from tejat.app.session.lifespan import open_session_manager
from tejat.app.session.manager import SessionManager
from tejat.core.agent.events import AgentEvent, EndReason, Noticed, PlanPresented, RunEnded
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome, PlanConfirmation
from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import Frozen, replace
from tejat.core.tools.call_events import CallFinished
from tejat.engine.plans.approved import approved_plan

PLAN = "# Plan\n\n1. Do it.\n"
SCRIPT = (
    script_answer(calls=[("enter_plan_mode", {})])
    + script_answer(calls=[("write_file", {"file_path": "plan.md", "content": PLAN})])
    + script_answer(calls=[("exit_plan_mode", {"plan_path": "plan.md"})])
    + text_script("That is all.")
)
YES, NO = ApprovalReply(Outcome.PROCEED_ONCE), ApprovalReply(Outcome.CANCEL)


class Planned(Frozen):
    """How a run with a plan ended."""

    ended: RunEnded
    events: tuple[AgentEvent, ...]
    questions: tuple[PlanConfirmation, ...]
    mode: ApprovalMode
    approved: str
    section: str

    @property
    def content(self) -> str:
        """What the model got from `exit_plan_mode`."""
        finished = [event for event in self.events if isinstance(event, CallFinished)]
        error = finished[-1].result.error
        return str(finished[-1].result.llm_content if error is None else error.message)


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def plan(
    env: ProgramEnv,
    replies: ApprovalReply | list[ApprovalReply] | Callable[[ApprovalRequest], ApprovalReply],
    *,
    script: str = SCRIPT,
    trusts_folder: bool = True,
) -> Planned:
    approver = FakeApprover(replies)
    options = AgentOptions(
        directories=(str(env.project),),
        model=env.script(script),
        environment=env.environment,
        sandbox="off",
        trusts_folder=trusts_folder,
    )

    async def main() -> Planned:
        events: list[AgentEvent] = []
        async with open_session_manager(options, approver) as manager:
            ended = await manager.session.prompt("go", events.append)
            asked = [subject for subject in approver.confirmations if isinstance(subject, PlanConfirmation)]
            mode = manager.toolset.start_scheduler().permission.policy.mode
            kept = approved_plan(manager.session.state)
            path = "" if kept is None else kept.path
            return Planned(ended, tuple(events), tuple(asked), mode, path, manager.plan_mode.section())

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("outcome", "mode", "words"),
    [
        (Outcome.PROCEED_ONCE, ApprovalMode.DEFAULT, "Default mode (edits will require confirmation)"),
        (Outcome.PROCEED_AUTO_EDIT, ApprovalMode.AUTO_EDIT, "Auto-Edit mode (edits will be applied automatically)"),
    ],
)
def test_a_yes(env: ProgramEnv, outcome: Outcome, mode: ApprovalMode, words: str) -> None:
    done = plan(env, ApprovalReply(outcome))
    (asked,) = done.questions
    assert (asked.text, asked.can_auto_edit) == (PLAN, True)
    assert done.content.startswith(f"Plan approved. Switching to {words}.")
    assert f"The approved implementation plan is stored at: {asked.file_path}" in done.content
    assert (done.mode, done.approved) == (mode, asked.file_path)
    assert asked.file_path in done.section
    assert PlanPresented(asked.file_path, PLAN, mode.value) in done.events
    assert done.ended.reason is EndReason.FINISHED


def test_a_no(env: ProgramEnv) -> None:
    done = plan(env, NO)
    assert done.content.startswith("Plan rejected. No feedback provided.")
    assert (done.mode, done.approved, done.ended.reason) == (ApprovalMode.PLAN, "", EndReason.FINISHED)
    assert "# Plan mode" in done.section


def test_a_no_with_words(env: ProgramEnv) -> None:
    done = plan(env, ApprovalReply(Outcome.CANCEL, feedback="Smaller steps."))
    assert done.content.startswith("Plan rejected. User feedback: Smaller steps.\n")
    assert done.questions[0].file_path in done.content


def test_a_stop_ends_the_turn(env: ProgramEnv) -> None:
    done = plan(env, ApprovalReply(Outcome.STOP))
    assert done.content.startswith("User cancelled the plan approval dialog.")
    assert (done.ended.reason, done.mode) == (EndReason.INTERRUPTED, ApprovalMode.PLAN)


def test_an_edited_plan_is_shown_again(env: ProgramEnv) -> None:
    done = plan(env, [ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="# Mine\n"), YES])
    first, second = done.questions
    assert (first.text, second.text, second.note) == (PLAN, "# Mine\n", "This is your edited version.")
    assert Path(second.file_path).read_text() == "# Mine\n"


def test_a_plan_that_changed_meanwhile_is_shown_again(env: ProgramEnv) -> None:
    def change_once(question: ApprovalRequest) -> ApprovalReply:
        subject = question.confirmation
        assert isinstance(subject, PlanConfirmation)
        if not subject.note:
            Path(subject.file_path).write_text("# Other\n")
        return YES

    done = plan(env, change_once)
    assert [asked.text for asked in done.questions] == [PLAN, "# Other\n"]
    assert done.questions[1].note == "The plan changed in the meantime. This is its current text."


def test_an_edit_of_a_plan_that_changed_is_not_saved(env: ProgramEnv) -> None:
    def change_and_edit(question: ApprovalRequest) -> ApprovalReply:
        subject = question.confirmation
        assert isinstance(subject, PlanConfirmation)
        if subject.note:
            return YES
        Path(subject.file_path).write_text("# Other\n")
        return ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="# Mine\n")

    done = plan(env, change_and_edit)
    assert done.questions[1].text == "# Other\n"
    assert done.questions[1].note == "The plan changed in the meantime, so your version was not saved."


def test_auto_edit_needs_a_trusted_folder(env: ProgramEnv) -> None:
    env.write_project_settings(model={"name": "x"})
    done = plan(env, ApprovalReply(Outcome.PROCEED_AUTO_EDIT), trusts_folder=False)
    assert done.questions[0].can_auto_edit is False
    assert done.content.startswith("Plan rejected.")
    assert done.mode is ApprovalMode.PLAN


def test_an_answer_that_was_not_offered_is_a_no(env: ProgramEnv) -> None:
    assert plan(env, ApprovalReply(Outcome.PROCEED_ALWAYS)).content.startswith("Plan rejected.")


def test_the_user_is_told_of_the_mode(env: ProgramEnv) -> None:
    notices = [event.message for event in plan(env, NO).events if isinstance(event, Noticed)]
    assert "The model switched to plan mode. Shift-Tab to leave it." in notices


def test_a_resumed_session_has_its_plan(env: ProgramEnv) -> None:
    options = AgentOptions(directories=(str(env.project),), environment=env.environment, sandbox="off")

    async def work(manager: SessionManager) -> tuple[str, str]:
        await manager.session.prompt("go")
        return manager.session.session_id, manager.plan_mode.section()

    async def main() -> tuple[str, str]:
        first = replace(options, model=env.script(SCRIPT))
        async with open_session_manager(first, FakeApprover(YES)) as manager:
            session_id, section = await work(manager)
        path = approved_path(section)
        read = script_answer(calls=[("read_file", {"path": path})]) + text_script("Read.")
        second = replace(options, model=env.script(read), resume=session_id)
        events: list[AgentEvent] = []
        async with open_session_manager(second, FakeApprover(NO)) as manager:
            await manager.session.prompt("again", events.append)
            again = manager.plan_mode.section()
        finished = [event for event in events if isinstance(event, CallFinished)]
        assert "1. Do it." in str(finished[0].result.llm_content)
        return section, again

    section, again = asyncio.run(main())
    assert section == again != ""


def approved_path(section: str) -> str:
    return next(word.rstrip(".") for word in section.split() if word.rstrip(".").endswith("plan.md"))
