"""Sub-agents in a copy: nothing real changes until the user has seen all changes and wants them."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.approver import NO, YES, FakeApprover
from support.program import ProgramEnv
from support.subagents import Answer, SubagentEnv, call, done, invoke
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    InfoConfirmation,
    Outcome,
    TrialConfirmation,
)
from tejat.engine.calls.undo_recorder import UndoRecorder

LANE = "agent:writer#1"


@pytest.fixture
def agents(tmp_path: Path) -> SubagentEnv:
    env = SubagentEnv(ProgramEnv(tmp_path))
    env.agent("writer")
    use_copies(env, "always")
    (env.project / "a.txt").write_text("hello\n")
    return env


def use_copies(agents: SubagentEnv, mode: str) -> None:
    settings = agents.env.home / ".config" / "tejat" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    settings.write_text(json.dumps({"agents": {"overrides": {"writer": {"copy": mode}}}}))


def work(agents: SubagentEnv, *more: Answer) -> dict[str, Sequence[Answer]]:
    """Three files by tools, one of them changed, and a fourth by a command that sees the others."""
    root = agents.project
    first = [
        call("write_file", file_path=str(root / "one.txt"), content="1\n"),
        call("replace", file_path=str(root / "a.txt"), old_string="hello", new_string="goodbye"),
        call("write_file", file_path=str(root / "two.txt"), content="2\n"),
    ]
    command = call("run_shell_command", command="cat one.txt two.txt > three.txt")
    return {"main": [invoke("writer", "Write files."), "Done."], LANE: [first, command, done("Written."), *more]}


def digest(root: Path) -> str:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(str(path).encode() + path.read_bytes() for path in files)).hexdigest()


def trial_of(question: ApprovalRequest) -> TrialConfirmation:
    assert isinstance(question.confirmation, TrialConfirmation)
    return question.confirmation


def skip_without_copies(error: str) -> None:
    if "Copies of the files do not work" in error:
        pytest.skip("NOT TESTED: this machine has no bubblewrap that can lay a copy over files (overlayfs)")


def test_one_question_at_the_end_and_all_of_it_is_kept(agents: SubagentEnv) -> None:
    before = digest(agents.project)
    seen: list[str] = []

    def look(_question: ApprovalRequest) -> ApprovalReply:
        seen.append(digest(agents.project))
        return YES

    approver = FakeApprover(look)
    session = agents.run(work(agents), approver=approver, sandbox=None)
    skip_without_copies(session.ended[0].error)
    assert seen == [before]
    [question] = approver.questions
    trial = trial_of(question)
    assert (question.agent, question.agent_task, trial.agent, trial.command) == (
        "writer#1",
        "Write files.",
        "writer#1",
        "Write files.",
    )
    assert sorted(change.path for change in trial.changes) == ["a.txt", "one.txt", "three.txt", "two.txt"]
    assert "+goodbye" in trial.diff
    assert (agents.project / "three.txt").read_text() == "1\n2\n"
    assert (agents.project / "a.txt").read_text() == "goodbye\n"
    [ended] = session.ended
    assert (ended.reason, ended.files_changed) == (SubagentEnd.GOAL, 4)
    assert "The user kept 4 changed files." in session.results()[0]
    undo_all(agents, session.results()[0])
    assert digest(agents.project) == before


def undo_all(agents: SubagentEnv, result: str) -> None:
    """Undo by the id that the result names."""
    undo_id = result.partition("undo id: ")[2].partition(")")[0]
    state = agents.env.home / ".local" / "state" / "tejat" / "undo"
    log = UndoRecorder(str(state), [str(agents.project)])
    try:
        assert log.restore(undo_id).is_complete
    finally:
        log.close()


def test_a_no_discards_everything(agents: SubagentEnv) -> None:
    before = digest(agents.project)
    session = agents.run(work(agents), approver=FakeApprover(NO), sandbox=None)
    skip_without_copies(session.ended[0].error)
    assert digest(agents.project) == before
    assert "The user discarded all changes" in session.results()[0]
    assert session.ended[0].files_changed == 0
    copies = agents.env.home / ".local" / "state" / "tejat" / "copies"
    assert list(copies.iterdir()) == []


def test_a_part_is_kept(agents: SubagentEnv) -> None:
    wanted = f"{agents.project}/one.txt\n{agents.project}/three.txt\n"
    approver = FakeApprover(ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content=wanted))
    session = agents.run(work(agents), approver=approver, sandbox=None)
    skip_without_copies(session.ended[0].error)
    assert {path.name for path in agents.project.iterdir()} == {"a.txt", "one.txt", "three.txt"}
    assert (agents.project / "a.txt").read_text() == "hello\n"
    assert "The user kept 2 changed files. The user discarded these:" in session.results()[0]


def test_the_agent_is_sent_back_with_a_message(agents: SubagentEnv) -> None:
    again = call("run_shell_command", command="echo more >> three.txt; rm two.txt")
    lanes = work(agents, again, done("Better."))
    replies = [ApprovalReply(Outcome.CANCEL, feedback="Without two.txt, please."), YES]
    approver = FakeApprover(replies)
    session = agents.run(lanes, approver=approver, sandbox=None)
    skip_without_copies(session.ended[0].error)
    assert "Without two.txt, please." in session.model.requests_of(LANE)[3].messages[-1].text
    assert sorted(change.path for change in trial_of(approver.questions[1]).changes) == [
        "a.txt",
        "one.txt",
        "three.txt",
    ]
    assert (agents.project / "three.txt").read_text() == "1\n2\nmore\n"
    assert not (agents.project / "two.txt").exists()
    assert "Better." in session.results()[0]


def test_a_file_that_somebody_else_changed_meanwhile_keeps_all_of_it(agents: SubagentEnv) -> None:
    def change(_question: ApprovalRequest) -> ApprovalReply:
        (agents.project / "a.txt").write_text("by hand\n")
        return YES

    session = agents.run(work(agents), approver=FakeApprover(change), sandbox=None)
    skip_without_copies(session.ended[0].error)
    assert {path.name: path.read_text() for path in agents.project.iterdir()} == {"a.txt": "by hand\n"}
    assert "could not be kept" in session.results()[0]


def test_denials_and_control_files_are_as_ever(agents: SubagentEnv) -> None:
    lanes = {
        "main": [invoke("writer"), "Done."],
        LANE: [
            [
                call("write_file", file_path=str(agents.project / ".gemini" / "settings.json"), content="{}"),
                call("run_shell_command", command="rm -rf a.txt"),
                call("write_file", file_path="/etc/tejat-test", content="x"),
            ],
            done(),
        ],
    }
    approver = FakeApprover(NO)
    session = agents.run(lanes, approver=approver, sandbox=None, excluded_tools=("run_shell_command(rm)",))
    skip_without_copies(session.ended[0].error)
    assert all(finished.result.error is not None for _, finished in session.inner_calls()[:3])
    assert (agents.project / "a.txt").exists()
    assert not (agents.project / ".gemini").exists()


def test_an_offer_that_is_declined_works_on_the_files_themselves(agents: SubagentEnv) -> None:
    use_copies(agents, "ask")
    lanes = {
        "main": [invoke("writer"), "Done."],
        LANE: [call("write_file", file_path=str(agents.project / "b.txt"), content="x"), done()],
    }
    approver = FakeApprover([NO, YES])
    session = agents.run(lanes, approver=approver, sandbox=None)
    offer, write = approver.questions
    assert isinstance(offer.confirmation, InfoConfirmation)
    assert offer.agent == write.agent == "writer#1"
    assert (agents.project / "b.txt").read_text() == "x"
    assert session.ended[0].files_changed == 1


def test_an_accepted_offer_opens_a_copy(agents: SubagentEnv) -> None:
    use_copies(agents, "ask")
    approver = FakeApprover([YES, NO])
    before = digest(agents.project)
    session = agents.run(work(agents), approver=approver, sandbox=None)
    skip_without_copies(session.ended[0].error)
    assert trial_of(approver.questions[1]).agent == "writer#1"
    assert digest(agents.project) == before


class TestHeadless:
    def test_nothing_is_kept_and_the_diff_is_handed_out(self, agents: SubagentEnv) -> None:
        before = digest(agents.project)
        session = agents.run(work(agents), sandbox=None, agents_in_copies=True)
        skip_without_copies(session.ended[0].error)
        assert digest(agents.project) == before
        [ended] = session.ended
        assert "+goodbye" in ended.patch
        path = Path(session.results()[0].partition("Diff: ")[2].split()[0])
        assert path.read_text() == ended.patch

    def test_an_agent_that_only_reads_needs_none(self, agents: SubagentEnv) -> None:
        agents.agent("writer", tools=["read_file"])
        use_copies(agents, "never")
        lanes = {"main": [invoke("writer"), "Done."], LANE: [call("read_file", path="a.txt"), done()]}
        session = agents.run(lanes, sandbox=None, agents_in_copies=True)
        assert session.ended[0].reason is SubagentEnd.GOAL

    def test_without_the_flag_it_does_not_start(self, agents: SubagentEnv) -> None:
        session = agents.run({"main": [invoke("writer"), "Done."]}, sandbox=None)
        assert session.ended[0].reason is SubagentEnd.ERROR
        assert "--agents-in-copies" in session.results()[0]


def test_where_copies_do_not_work_it_does_not_start(agents: SubagentEnv) -> None:
    session = agents.run({"main": [invoke("writer"), "Done."]}, approver=FakeApprover(YES), sandbox="off")
    assert session.ended[0].reason is SubagentEnd.ERROR
    assert "Copies of the files do not work" in session.results()[0]
