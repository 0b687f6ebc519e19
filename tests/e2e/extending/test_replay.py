"""Recorded runs with questions, plans, todos and sub-agents are replayed, in the same home and elsewhere."""

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.approver import FakeApprover
from support.program import ProgramEnv, ProgramResult, script_answer, text_script
from tejat.app.session.lifespan import open_session_manager
from tejat.core.agent.events import AgentEvent, EndReason, PlanPresented, RunEnded
from tejat.core.agent.options import AgentOptions
from tejat.core.agent.session_state import TODOS_KEY
from tejat.core.agent.subagent_events import AgentActivity
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome, PlanConfirmation
from tejat.core.frozen import Frozen
from tejat.core.messages.types import JsonValue
from tejat.core.tools.call_events import CallFinished

PLAN = "# Add a parser\n\n1. Write it.\n"
QUESTION = {
    "question": "Which database?",
    "header": "Database",
    "type": "choice",
    "options": [{"label": "SQLite", "description": ""}, {"label": "Postgres", "description": ""}],
}
ASK = script_answer(calls=[("ask_user", {"questions": [QUESTION]})]) + text_script("Thanks.")
ENTER = script_answer(calls=[("enter_plan_mode", {"reason": "It is large."})])
LEAVE = script_answer(calls=[("exit_plan_mode", {"plan_filename": "plan.md"})])
APPROVED = ApprovalReply(Outcome.PROCEED_ONCE)

Replies = ApprovalReply | Sequence[ApprovalReply] | Callable[[ApprovalRequest], ApprovalReply]


def write_plan(content: str = PLAN) -> str:
    return script_answer(calls=[("write_file", {"file_path": "plan.md", "content": content})])


def write_todos(*pairs: tuple[str, str], **fields: object) -> str:
    todos = [{"description": name, "status": status} for name, status in pairs]
    return script_answer(calls=[("write_todos", {"todos": todos})], **fields)


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path.resolve())
    (machine.project / "README.md").write_text("mine\n")
    return machine


def plan_directories(machine: ProgramEnv) -> list[Path]:
    return sorted((machine.home / ".local" / "state" / "tejat" / "plans").glob("*/*"))


class Outline(Frozen):
    """What a run with a user came to. Paths of plans are by name, and results of calls by agent."""

    ended: RunEnded
    results_by_agent: dict[str, list[str]]
    plans: tuple[tuple[str, str, str], ...]
    todos: JsonValue

    @property
    def comparable(self) -> tuple[object, ...]:
        # Agents side by side finish in any order.
        results = {agent: sorted(found) for agent, found in self.results_by_agent.items()}
        return self.ended.text, self.ended.reason, results, self.plans, self.todos

    @property
    def results(self) -> list[str]:
        """The results of the calls in the conversation itself."""
        return self.results_by_agent[""]


def run_with_user(machine: ProgramEnv, replies: Replies, **options: Any) -> Outline:
    given: dict[str, Any] = {"environment": machine.environment, "sandbox": "off", "trusts_folder": True, **options}

    async def main() -> Outline:
        events: list[AgentEvent] = []
        approver = FakeApprover(replies)
        wanted = AgentOptions(directories=(str(machine.project),), **given)
        async with open_session_manager(wanted, approver) as manager:
            ended = await manager.session.prompt("go", events.append)
            results: dict[str, list[str]] = {"": []}
            directory = manager.plan_mode.location.path
            for agent_id, event in map(split_activity, events):
                if isinstance(event, CallFinished):
                    content = str(event.result.llm_content).replace(directory, "PLANS")
                    results.setdefault(agent_id, []).append(content)
            plans = [event for event in events if isinstance(event, PlanPresented)]
            return Outline(
                ended,
                results,
                tuple((Path(plan.path).name, plan.text, plan.mode) for plan in plans),
                manager.session.state.get(TODOS_KEY),
            )

    return asyncio.run(main())


def split_activity(event: AgentEvent) -> tuple[str, object]:
    """The agent of an event, empty for the session, and the event."""
    return (event.agent_id, event.event) if isinstance(event, AgentActivity) else ("", event)


def check_replay(machine: ProgramEnv, script: str, replies: Replies, **options: Any) -> Outline:
    """Record a run with a user, replay it twice in the same home and return its outline."""
    recording = str(machine.base / "run.jsonl")
    recorded = run_with_user(machine, replies, model=machine.script(script), record=recording, **options)
    plans = {path: path.read_text() for directory in plan_directories(machine) for path in directory.iterdir()}
    for _ in range(2):
        replayed = run_with_user(machine, replies, replay=recording, **options)
        assert replayed.comparable == recorded.comparable, replayed.ended.message
    left = {path: path.read_text() for directory in plan_directories(machine) for path in directory.iterdir()}
    assert left == plans, "a replay changed or left plan files"
    return recorded


class TestQuestions:
    def test_the_user_answers_again(self, machine: ProgramEnv) -> None:
        answered = ApprovalReply(Outcome.PROCEED_ONCE, answers={"0": "SQLite"})
        recorded = check_replay(machine, ASK, answered)
        assert recorded.results == ['{"answers":{"0":"SQLite"}}']

    def test_dismissed(self, machine: ProgramEnv) -> None:
        recorded = check_replay(machine, ASK, ApprovalReply(Outcome.CANCEL))
        assert recorded.results == ["User dismissed ask_user dialog without answering."]

    def test_another_answer_ends_the_replay(self, machine: ProgramEnv) -> None:
        check_replay(machine, ASK, ApprovalReply(Outcome.PROCEED_ONCE, answers={"0": "SQLite"}))
        other = ApprovalReply(Outcome.PROCEED_ONCE, answers={"0": "Postgres"})
        ended = run_with_user(machine, other, replay=str(machine.base / "run.jsonl")).ended
        assert ended.reason is EndReason.MODEL_FAILED
        message = ended.message
        assert "request 2 differs from the recording" in message
        assert '-      {"answers":{"0":"SQLite"}}' in message
        assert '+      {"answers":{"0":"Postgres"}}' in message

    def test_headless_with_the_same_flags(self, machine: ProgramEnv) -> None:
        recording = str(machine.base / "run.jsonl")
        words = ("-p", "go", "--answer", "database=postgres", "-o", "stream-json")
        recorded = machine.run("-m", machine.script(ASK), "--record", recording, *words)
        replayed = machine.run("--replay", recording, *words)
        assert (recorded.code, replayed.code) == (0, 0), replayed.stderr
        assert tool_results(recorded) == tool_results(replayed) == ['{"answers":{"0":"Postgres"}}']
        without = machine.run("--replay", recording, "-p", "go")
        assert without.code != 0
        assert "-tool ask_user, declared as" in without.stderr


def tool_results(result: ProgramResult) -> list[str]:
    return [line["content"] for line in result.lines if line["type"] == "tool_result"]


class TestPlans:
    SCRIPT = ENTER + write_plan() + LEAVE + text_script("Done.")

    @pytest.mark.parametrize("outcome", [Outcome.PROCEED_ONCE, Outcome.PROCEED_AUTO_EDIT])
    def test_approved(self, machine: ProgramEnv, outcome: Outcome) -> None:
        recorded = check_replay(machine, self.SCRIPT, ApprovalReply(outcome))
        assert recorded.plans == (("plan.md", PLAN, "default" if outcome is Outcome.PROCEED_ONCE else "auto_edit"),)
        assert recorded.results[1] == "Successfully created and wrote to new file: PLANS/plan.md."
        assert recorded.results[2].startswith("Plan approved.")
        assert recorded.ended.text == "Done."

    def test_rejected_improved_and_approved(self, machine: ProgramEnv) -> None:
        better = PLAN + "2. Test it.\n"
        script = ENTER + write_plan() + LEAVE + write_plan(better) + LEAVE + text_script("Done.")

        def reply(request: ApprovalRequest) -> ApprovalReply:
            assert isinstance(request.confirmation, PlanConfirmation)
            is_better = request.confirmation.text == better
            return APPROVED if is_better else ApprovalReply(Outcome.CANCEL, feedback="Add tests.")

        recorded = check_replay(machine, script, reply)
        assert recorded.results[2].startswith("Plan rejected. User feedback: Add tests.")
        assert recorded.results[3].startswith("Successfully overwrote file: PLANS/plan.md")
        assert recorded.results[4].startswith("Plan approved.")

    def test_edited_by_the_user(self, machine: ProgramEnv) -> None:
        script = ENTER + write_plan() + LEAVE + script_answer(calls=[("read_file", {"path": "plan.md"})])
        edited = ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="# Mine\n")
        recorded = check_replay(machine, script + text_script("Done."), [edited, APPROVED])
        assert recorded.plans == (("plan.md", "# Mine\n", "default"),)

    def test_a_no_instead_of_a_yes_ends_the_replay(self, machine: ProgramEnv) -> None:
        check_replay(machine, self.SCRIPT, APPROVED)
        ended = run_with_user(machine, ApprovalReply(Outcome.CANCEL), replay=str(machine.base / "run.jsonl")).ended
        assert ended.reason is EndReason.MODEL_FAILED
        assert "request 4 differs from the recording" in ended.message
        assert "Plan rejected." in ended.message

    def test_the_plan_of_the_recorded_session_stays_as_the_user_left_it(self, machine: ProgramEnv) -> None:
        check_replay(machine, self.SCRIPT, APPROVED)
        (directory,) = plan_directories(machine)
        (directory / "plan.md").write_text("# Changed since\n")
        replayed = run_with_user(machine, APPROVED, replay=str(machine.base / "run.jsonl"))
        assert replayed.ended.text == "Done."
        assert (directory / "plan.md").read_text() == "# Changed since\n"

    def test_the_plan_is_read_and_followed_after_its_approval(self, machine: ProgramEnv) -> None:
        script = (
            self.SCRIPT.removesuffix(text_script("Done."))
            + script_answer(calls=[("read_file", {"path": "plan.md"})])
            + script_answer(calls=[("write_file", {"file_path": "parser.py", "content": "x = 1\n"})])
            + text_script("Done.")
        )
        recording = str(machine.base / "run.jsonl")
        reply = ApprovalReply(Outcome.PROCEED_AUTO_EDIT)
        recorded = run_with_user(machine, reply, model=machine.script(script), record=recording)
        (machine.project / "parser.py").unlink()
        replayed = run_with_user(machine, reply, replay=recording)
        assert replayed.comparable == recorded.comparable, replayed.ended.message
        assert (machine.project / "parser.py").read_text() == "x = 1\n"

    @pytest.mark.parametrize("words", [(), ("--approve-plan", "auto_edit")])
    def test_headless_in_the_same_home_and_in_another(
        self, machine: ProgramEnv, tmp_path: Path, words: tuple[str, ...]
    ) -> None:
        recording = str(machine.base / "run.jsonl")
        words = ("-p", "go", "-o", "json", "--sandbox", "off", *words)
        recorded = machine.run("-m", machine.script(self.SCRIPT), "--record", recording, *words)
        assert recorded.code == 0, recorded.stderr
        other = ProgramEnv(make_directory(tmp_path.resolve() / "elsewhere"))
        shutil.copy(machine.project / "README.md", other.project)
        for place in (machine, machine, other):
            replayed = place.run("--replay", recording, *words)
            assert replayed.code == 0, replayed.stderr
            assert replayed.json["response"] == recorded.json["response"]
            plans = [run.json["plan"] | {"path": ""} for run in (recorded, replayed)]
            assert plans[0] == plans[1]
        (directory,) = plan_directories(machine)
        assert str(directory / "plan.md") == recorded.json["plan"]["path"]
        assert plan_directories(other) == []


def make_directory(path: Path) -> Path:
    path.mkdir()
    return path


class TestTodos:
    def test_the_list_is_the_same(self, machine: ProgramEnv) -> None:
        script = (
            write_todos(("Read", "in_progress"), ("Write", "pending"))
            + write_todos(("Read", "completed"), ("Write", "in_progress"))
            + text_script("Done.")
        )
        recorded = check_replay(machine, script, APPROVED)
        assert recorded.todos == [
            {"description": "Read", "status": "completed"},
            {"description": "Write", "status": "in_progress"},
        ]

    def test_an_invalid_list(self, machine: ProgramEnv) -> None:
        script = write_todos(("a", "in_progress"), ("b", "in_progress")) + text_script("Done.")
        recorded = check_replay(machine, script, APPROVED)
        assert recorded.todos is None
        assert recorded.ended.text == "Done."


READER = "---\nname: reader\ndescription: Reads.\ntools: [read_file, write_todos]\n---\nRead what you are told to.\n"


class TestSubagents:
    @pytest.fixture
    def machine(self, machine: ProgramEnv) -> ProgramEnv:
        agents = machine.home / ".gemini" / "agents"
        agents.mkdir(parents=True)
        (agents / "reader.md").write_text(READER)
        return machine

    def reader(self, number: int) -> str:
        purpose = f"agent:reader#{number}"
        return (
            write_todos((f"Read for {number}", "in_progress"), purpose=purpose)
            + script_answer(purpose=purpose, calls=[("read_file", {"path": "README.md"})])
            + script_answer(purpose=purpose, calls=[("complete_task", {"result": f"read for {number}"})])
        )

    def test_agents_side_by_side_while_planning(self, machine: ProgramEnv) -> None:
        invoke = [("invoke_agent", {"agent_name": "reader", "prompt": f"Read for {each}."}) for each in (1, 2)]
        script = (
            write_todos(("Plan", "in_progress"))
            + ENTER
            + script_answer(calls=invoke)
            + write_plan()
            + LEAVE
            + write_todos(("Plan", "completed"))
            + text_script("Done.")
            + self.reader(1)
            + self.reader(2)
        )
        recorded = check_replay(machine, script, APPROVED)
        assert recorded.ended.text == "Done."
        assert recorded.todos == [{"description": "Plan", "status": "completed"}]
        lanes = {
            json.loads(line)["request"].get("lane", "main")
            for line in (machine.base / "run.jsonl").read_text().splitlines()
            if "request" in json.loads(line)
        }
        assert lanes == {"main", "agent:reader#1", "agent:reader#2"}

    def test_a_change_in_an_agent_after_the_approval_names_its_lane(self, machine: ProgramEnv) -> None:
        invoke = script_answer(calls=[("invoke_agent", {"agent_name": "reader", "prompt": "Read for 1."})])
        script = ENTER + write_plan() + LEAVE + invoke + text_script("Done.") + self.reader(1)
        check_replay(machine, script, APPROVED)
        (machine.project / "README.md").write_text("yours\n")
        replayed = run_with_user(machine, APPROVED, replay=str(machine.base / "run.jsonl"))
        messages = [replayed.ended.message, *replayed.results]
        assert any("request 3 of agent:reader#1 differs from the recording" in message for message in messages)
