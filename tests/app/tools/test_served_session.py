"""The session of an MCP client: todos and plan mode stay with it, and no plan permits more than the server."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from support.approver import FakeApprover
from tejat.app.tools.served_session import ServedSession, ServedTools
from tejat.app.tools.tool_host import ToolHostOptions, open_tool_host
from tejat.core.agent.session_state import TODOS_KEY
from tejat.core.approval.confirmation import ApprovalReply, Outcome, PlanConfirmation
from tejat.core.approval.modes import ApprovalMode
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult

PLAN = "# Plan\n\n1. Do it.\n"
YES, NO = ApprovalReply(Outcome.PROCEED_ONCE), ApprovalReply(Outcome.CANCEL, feedback="Smaller steps.")
AUTO_EDIT = ApprovalReply(Outcome.PROCEED_AUTO_EDIT)
REFUSED = "You are in Plan Mode and cannot modify source code."


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("home", "project/a"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "project"


def serve(
    project: Path,
    work: Callable[[ServedSession], Awaitable[None]],
    *,
    mode: str | None = None,
    has_plans: bool = True,
    warnings: list[str] | None = None,
) -> None:
    warn = None if warnings is None else warnings.append
    options = ToolHostOptions(directories=(str(project),), sandbox="off", mode=mode, warn=warn)

    async def main() -> None:
        async with open_tool_host(options) as host:
            await work(host.start_session(has_plans=has_plans))

    asyncio.run(main())


async def call(tools: ServedTools, name: str, **args: object) -> ToolResult:
    return await tools.scheduler.run(FunctionCall(name, args))


def content(result: ToolResult) -> str:
    return str(result.llm_content if result.error is None else result.error.message)


def mode_of(tools: ServedTools) -> ApprovalMode:
    return tools.scheduler.permission.policy.mode


async def write_plan(tools: ServedTools) -> str:
    """Enter plan mode and write a plan. Returns its path."""
    entered = content(await call(tools, "enter_plan_mode", reason="It is large."))
    assert entered.startswith("Switching to Plan mode.\n\n# Plan mode")
    written = content(await call(tools, "write_file", file_path="plan.md", content=PLAN))
    path = written.removeprefix("Successfully created and wrote to new file: ").removesuffix(".")
    assert str(Path(path).parent) in entered
    return path


def test_todos_stay_when_the_directories_change(project: Path) -> None:
    async def work(session: ServedSession) -> None:
        with session.open(None, ()) as tools:
            todos = [{"description": "Read", "status": "in_progress"}]
            assert (await call(tools, "write_todos", todos=todos)).error is None
        with session.open(None, [str(project / "a")]):
            assert session.state.get(TODOS_KEY) == todos

    serve(project, work)


def test_each_client_has_its_own(project: Path) -> None:
    async def main() -> None:
        async with open_tool_host(ToolHostOptions(directories=(str(project),), sandbox="off")) as host:
            one, other = host.start_session(has_plans=True), host.start_session(has_plans=True)
            with one.open(FakeApprover(YES), ()) as tools, other.open(FakeApprover(YES), ()) as theirs:
                await call(tools, "write_todos", todos=[{"description": "Mine", "status": "pending"}])
                await write_plan(tools)
                assert (mode_of(tools), mode_of(theirs)) == (ApprovalMode.PLAN, ApprovalMode.DEFAULT)
                assert other.state.get(TODOS_KEY) is None
                assert one.session_id != other.session_id

    asyncio.run(main())


def test_a_plan_is_approved(project: Path) -> None:
    approver = FakeApprover(YES)

    async def work(session: ServedSession) -> None:
        with session.open(approver, ()) as tools:
            path = await write_plan(tools)
            assert content(await call(tools, "read_file", path=path)) == PLAN
            assert REFUSED in content(await call(tools, "write_file", file_path="x.py", content="x"))
            assert content(await call(tools, "enter_plan_mode")) == "You are already in Plan Mode."
            left = content(await call(tools, "exit_plan_mode", plan_filename="plan.md"))
            assert left.startswith("Plan approved. Switching to Default mode")
            assert mode_of(tools) is ApprovalMode.DEFAULT
            assert (await call(tools, "write_file", file_path="x.py", content="x")).error is None

    serve(project, work)
    assert (project / "x.py").read_text() == "x"
    plan, edit = approver.confirmations
    assert isinstance(plan, PlanConfirmation)
    assert (plan.text, plan.can_auto_edit) == (PLAN, False)
    assert not isinstance(edit, PlanConfirmation), "the change itself was asked about, too"


def test_a_plan_is_rejected(project: Path) -> None:
    async def work(session: ServedSession) -> None:
        with session.open(FakeApprover(NO), ()) as tools:
            await write_plan(tools)
            left = content(await call(tools, "exit_plan_mode", plan_filename="plan.md"))
            assert left.startswith("Plan rejected. User feedback: Smaller steps.")
            assert mode_of(tools) is ApprovalMode.PLAN
            assert REFUSED in content(await call(tools, "write_file", file_path="x.py", content="x"))

    serve(project, work)


@pytest.mark.parametrize(
    ("start", "reply", "expected"),
    [
        ("default", AUTO_EDIT, ApprovalMode.PLAN),
        ("auto_edit", AUTO_EDIT, ApprovalMode.AUTO_EDIT),
        ("auto_edit", YES, ApprovalMode.DEFAULT),
    ],
)
def test_an_approval_permits_no_more_than_the_server(
    project: Path, start: str, reply: ApprovalReply, expected: ApprovalMode
) -> None:
    async def work(session: ServedSession) -> None:
        with session.open(FakeApprover(reply), ()) as tools:
            await write_plan(tools)
            await call(tools, "exit_plan_mode", plan_filename="plan.md")
            assert mode_of(tools) is expected

    serve(project, work, mode=start)


def test_other_directories_do_not_end_plan_mode(project: Path) -> None:
    async def work(session: ServedSession) -> None:
        with session.open(FakeApprover(YES), ()) as tools:
            path = await write_plan(tools)
        with session.open(FakeApprover(YES), [str(project / "a")]) as tools:
            assert mode_of(tools) is ApprovalMode.PLAN
            refused = await call(tools, "write_file", file_path=str(project / "a" / "x.py"), content="x")
            assert REFUSED in content(refused)
            assert content(await call(tools, "read_file", path=path)) == PLAN
            left = content(await call(tools, "exit_plan_mode", plan_filename="plan.md"))
            assert left.startswith("Plan approved.")
        with session.open(FakeApprover(YES), ()) as tools:
            assert mode_of(tools) is ApprovalMode.DEFAULT

    serve(project, work)


def test_an_approval_counts_for_tools_that_were_opened_meanwhile(project: Path) -> None:
    async def work(session: ServedSession) -> None:
        with session.open(FakeApprover(YES), ()) as old:
            await write_plan(old)
            with session.open(FakeApprover(YES), [str(project / "a")]) as new:
                assert mode_of(new) is ApprovalMode.PLAN
                await call(old, "exit_plan_mode", plan_filename="plan.md")
                assert mode_of(new) is ApprovalMode.DEFAULT

    serve(project, work)


@pytest.mark.parametrize(("mode", "has_plans"), [("plan", True), ("yolo", True), ("default", False)])
def test_where_there_is_no_plan_mode(project: Path, mode: str, has_plans: bool) -> None:
    async def work(session: ServedSession) -> None:
        with session.open(FakeApprover(YES), ()) as tools:
            for name, arguments in (("enter_plan_mode", {}), ("exit_plan_mode", {"plan_filename": "plan.md"})):
                entry = tools.scheduler.registry.entry(name)
                assert entry is not None
                assert not entry.is_declared()
                assert (await call(tools, name, **arguments)).error is not None
            assert mode_of(tools) is ApprovalMode(mode)

    serve(project, work, mode=mode, has_plans=has_plans)


def test_plan_mode_is_not_entered_if_no_plan_can_be_written(project: Path) -> None:
    state = project.parent / "home" / ".local" / "state" / "tejat"
    state.mkdir(parents=True, mode=0o700)
    (state / "plans").write_text("in the way")
    warnings: list[str] = []

    async def work(session: ServedSession) -> None:
        with session.open(FakeApprover(YES), ()) as tools:
            assert content(await call(tools, "enter_plan_mode")) == "There is no directory for plans."
            assert mode_of(tools) is ApprovalMode.DEFAULT

    serve(project, work, warnings=warnings)
    (warning,) = [each for each in warnings if "Plans" in each]
    assert warning.startswith("Plans cannot be written: ")


def test_what_is_offered_does_not_depend_on_the_mode_of_the_session(project: Path) -> None:
    async def work(session: ServedSession) -> None:
        with session.open(FakeApprover(YES), ()) as tools:
            names = tools.scheduler.registry.names()
            before = [name for name in names if tools.offers(name)]
            await write_plan(tools)
            assert [name for name in names if tools.offers(name)] == before
        with session.open(FakeApprover(YES), [str(project / "a")]) as tools:
            assert [name for name in names if tools.offers(name)] == before
            assert not tools.offers("nothing")

    serve(project, work)
