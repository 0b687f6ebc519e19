"""A sub-agent may do what its session may do at that moment, and no more."""

from pathlib import Path

import pytest

from support.approver import NO, FakeApprover
from support.program import ProgramEnv
from support.subagents import SubagentEnv, SubagentSession, call, done, invoke
from tejat.core.agent.events import EndReason
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.approval.confirmation import ApprovalReply, Outcome, Scope
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import ToolFailure
from tejat.core.messages.types import FunctionCall
from tejat.core.model import ModelRequest
from tejat.core.tools.base import ToolContext

WRITE = call("write_file", file_path="x.txt", content="x\n")
WRITE_AGAIN = call("write_file", file_path="y.txt", content="y\n")


@pytest.fixture
def agents(tmp_path: Path) -> SubagentEnv:
    return SubagentEnv(ProgramEnv(tmp_path))


def errors(session: SubagentSession) -> list[str]:
    """The errors of inner calls, in order."""
    found = (finished.result.error for _, finished in session.inner_calls())
    return [error.message for error in found if error is not None]


def rule(agents: SubagentEnv, text: str) -> None:
    policies = agents.env.home / ".gemini" / "policies"
    policies.mkdir(parents=True)
    (policies / "own.toml").write_text(text)


class TestTools:
    def test_only_those_of_its_list(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["read_file", "glob"])
        session = agents.run(
            {"main": [invoke("a"), "ok"], "agent:a#1": [[WRITE, call("grep", pattern="x")], done()]}, mode="yolo"
        )
        assert [tool.name for tool in session.model.requests_of("agent:a#1")[0].tools] == [
            "complete_task",
            "read_file",
            "glob",
        ]
        assert errors(session) == [
            "Unauthorized tool call: 'write_file' is not available to this agent.",
            "Unauthorized tool call: 'grep' is not available to this agent.",
        ]
        assert not (agents.project / "x.txt").exists()

    def test_never_agents_nor_what_belongs_to_the_session(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"])
        forbidden = [
            invoke("a"),
            call("generalist", request="Do it."),
            call("save_memory", fact="x"),
            call("enter_plan_mode", reason="x"),
        ]
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [forbidden, done()]}, mode="yolo")
        assert len(errors(session)) == 4
        assert all(message.startswith("Unauthorized tool call: ") for message in errors(session))
        names = {tool.name for tool in session.model.requests_of("agent:a#1")[0].tools}
        assert names.isdisjoint({"invoke_agent", "ask_user", "save_memory", "enter_plan_mode", "exit_plan_mode"})
        assert "write_file" in names

    def test_an_agent_inside_an_agent_is_refused_by_the_engine(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=[])
        inner: list[Exception] = []

        async def start(_: ModelRequest) -> str:
            service = session_of[0].manager.subagent_service
            definition = service.find("a")
            assert definition is not None
            try:
                await service.run(definition, "Again.", ToolContext())
            except ToolFailure as failure:
                inner.append(failure)
            return "text"

        session_of: list[SubagentSession] = []

        async def use(session: SubagentSession) -> None:
            session_of.append(session)
            await session.prompt()

        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [start, done()]}, use)
        assert [str(error) for error in inner] == [
            "Unauthorized tool call: 'invoke_agent' is not available to this agent."
        ]
        assert len(session.started) == 1


class TestRules:
    def test_without_a_user_what_asks_is_refused_and_named(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"])
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [WRITE, done()]})
        [error] = errors(session)
        assert "requires user confirmation" in error

    def test_what_is_allowed_to_the_session_is_allowed(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"])
        session = agents.run(
            {"main": [invoke("a"), "ok"], "agent:a#1": [WRITE, done("Written.")]}, allowed_tools=("write_file",)
        )
        assert (agents.project / "x.txt").read_text() == "x\n"
        [result] = session.results()
        assert "Written.\n\n1 file changed (undo" in result
        assert session.ended[0].files_changed == 1

    def test_a_denial_holds_in_every_mode(self, agents: SubagentEnv) -> None:
        rule(agents, '[[rule]]\ntoolName = "write_file"\ndecision = "deny"\n')
        agents.agent("a", tools=["*"])
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [WRITE, done()]}, mode="yolo")
        assert errors(session)[0].startswith("Tool execution denied by policy.")

    def test_a_rule_for_one_agent(self, agents: SubagentEnv) -> None:
        rule(agents, '[[rule]]\ntoolName = "write_file"\nsubagent = "a"\ndecision = "allow"\n')
        agents.agent("a", tools=["*"])
        agents.agent("b", tools=["*"])
        session = agents.run(
            {
                "main": [invoke("a"), invoke("b"), WRITE, "ok"],
                "agent:a#1": [WRITE, done()],
                "agent:b#1": [WRITE_AGAIN, done()],
            }
        )
        assert (agents.project / "x.txt").exists()
        assert not (agents.project / "y.txt").exists()
        assert "requires user confirmation" in session.results()[2]

    def test_a_rule_that_names_an_agent_as_a_tool(self, agents: SubagentEnv) -> None:
        rule(agents, '[[rule]]\ntoolName = "a"\ndecision = "deny"\n')
        agents.agent("a", tools=[])
        session = agents.run({"main": [[invoke("a"), call("a", query="Go.")], "ok"]}, mode="yolo")
        assert all(text.startswith("Tool execution denied by policy.") for text in session.results())
        assert not session.started

    def test_plan_mode_is_that_of_the_agent_too(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"])
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [WRITE, done()]}, mode="plan")
        assert "Plan Mode" in errors(session)[0]

    def test_an_agent_that_only_plans(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"], permissionMode="plan")
        session = agents.run({"main": [invoke("a"), WRITE, "ok"], "agent:a#1": [WRITE, done()]}, mode="yolo")
        assert "Plan Mode" in errors(session)[0]
        assert "plan mode: read only" in session.model.requests_of("agent:a#1")[0].system
        assert (agents.project / "x.txt").exists()

    def test_a_change_of_the_mode_holds_from_the_next_call_on(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"])

        async def use(session: SubagentSession) -> None:
            async def change(_: ModelRequest) -> FunctionCall:
                permission = session.manager.toolset.scheduler.permission
                permission.policy = permission.policy.with_mode(ApprovalMode.PLAN, source="test")
                return WRITE_AGAIN

            session.model.put("agent:a#1", WRITE, change, done())
            await session.prompt()

        session = agents.run({"main": [invoke("a"), "ok"]}, use, mode="yolo")
        assert (agents.project / "x.txt").exists()
        assert not (agents.project / "y.txt").exists()
        assert len(errors(session)) == 1


class TestQuestions:
    def test_they_say_which_agent_asks(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"])
        approver = FakeApprover(NO)
        agents.run({"main": [invoke("a", "Write it.\nMore."), "ok"], "agent:a#1": [WRITE, done()]}, approver=approver)
        [question] = approver.questions
        assert (question.agent, question.agent_task) == ("a#1", "Write it.")
        assert question.scopes == (Scope.RUN, Scope.SESSION, Scope.PROJECT, Scope.USER)

    def test_an_answer_for_this_run_is_not_asked_again_in_it(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"])
        approver = FakeApprover(ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.RUN))
        agents.run(
            {
                "main": [invoke("a"), invoke("a"), "ok"],
                "agent:a#1": [WRITE, WRITE_AGAIN, done()],
                "agent:a#2": [WRITE, done()],
            },
            approver=approver,
        )
        assert [question.agent for question in approver.questions] == ["a#1", "a#2"]

    def test_an_answer_for_the_session_holds_in_agents_and_outside(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"])
        approver = FakeApprover(ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION))
        agents.run(
            {
                "main": [invoke("a"), invoke("a"), WRITE_AGAIN, "ok"],
                "agent:a#1": [WRITE, done()],
                "agent:a#2": [WRITE_AGAIN, done()],
            },
            approver=approver,
        )
        assert len(approver.questions) == 1

    def test_stopping_the_agent_that_asks(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"])
        approver = FakeApprover(ApprovalReply(Outcome.STOP_AGENT))
        session = agents.run({"main": [invoke("a"), "ok"], "agent:a#1": [WRITE]}, approver=approver)
        assert [ended.reason for ended in session.ended] == [SubagentEnd.ABORTED]
        assert session.results()[0].splitlines()[1] == "Termination Reason: ABORTED"
        assert session.run_ended.reason is EndReason.FINISHED

    def test_stopping_everything(self, agents: SubagentEnv) -> None:
        agents.agent("a", tools=["*"])
        approver = FakeApprover(ApprovalReply(Outcome.STOP))
        session = agents.run({"main": [[invoke("a"), WRITE_AGAIN]], "agent:a#1": [WRITE]}, approver=approver)
        assert session.run_ended.reason is EndReason.INTERRUPTED
        assert [ended.reason for ended in session.ended] == [SubagentEnd.ABORTED]
        assert len(session.results()) == 2
        assert len(approver.questions) == 1
