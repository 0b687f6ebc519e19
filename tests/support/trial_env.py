"""A session whose shell commands can be tried in an overlay copy, with a fake approver."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.approver import FakeApprover
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome, TrialConfirmation
from tejat.core.approval.modes import ApprovalMode, SandboxMode
from tejat.core.messages.types import FunctionCall
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import Event
from tejat.engine.calls.call_facts import FactCollector
from tejat.engine.calls.permission import Permission
from tejat.engine.calls.scheduler import Scheduler
from tejat.engine.calls.undo_recorder import UndoRecorder
from tejat.policy.control_files import control_paths, plantable_paths
from tejat.policy.engine import PolicyEngine
from tejat.tools.registry import ToolRegistry
from tejat.tools.run_shell_command import ShellTool
from tejat.workspace.context import Workspace
from tejat.workspace.jobs.store import JobStore
from tejat.workspace.overlay.manager import OverlayManager
from tejat.workspace.processes.environment import child_environment
from tejat.workspace.processes.shell import ShellContext
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.sandbox.session_sandbox import SandboxPaths, SessionSandbox

TRY_IN_COPY = ApprovalReply(Outcome.TRY_IN_COPY)
KEEP = ApprovalReply(Outcome.PROCEED_ONCE)
RUN_FOR_REAL = ApprovalReply(Outcome.RUN_FOR_REAL)
NO = ApprovalReply(Outcome.CANCEL)

PATH = "/usr/local/bin:/usr/bin:/bin"


class TrialEnv:
    """A project in `root`; `home` and `state` lie beside it."""

    def __init__(self, directory: Path) -> None:
        self.root, self.home, self.state = (directory / name for name in ("root", "home", "state"))
        for place in (self.root, self.home, self.state):
            place.mkdir()
        self.questions: list[ApprovalRequest] = []
        self.events: list[Event] = []
        self.undone_paths: list[str] = []

    @contextmanager
    def open_sandbox(self) -> Generator[SessionSandbox]:
        grounds = SandboxPaths(
            roots=(str(self.root),),
            home=str(self.home),
            own_directories=(str(self.state),),
            control_paths=control_paths(),
            blocked_paths=plantable_paths(),
            state_directory=str(self.state / "sandbox"),
        )
        (self.state / "sandbox").mkdir(exist_ok=True)
        with SessionSandbox(SandboxMode.AUTO, grounds) as session_sandbox:
            yield session_sandbox

    @contextmanager
    def scheduler(self, approver: FakeApprover, *, idle: float | None = None) -> Generator[Scheduler]:
        environment = child_environment({"PATH": PATH, "HOME": str(self.home)})
        with self.open_sandbox() as session_sandbox, Workspace([self.root]) as workspace:
            copies = OverlayManager(session_sandbox, str(self.copies))
            if not copies.is_supported:
                pytest.skip("NOT TESTED: this machine has no bubblewrap that can lay a copy over files (overlayfs)")
            shell = ShellContext(
                ProcessSupervisor(),
                JobStore(str(self.state / "jobs")),
                environment,
                str(self.state / "outputs"),
                wrap=session_sandbox.wrap,
                copies=lambda: copies,
                idle=idle,
            )
            journal = UndoRecorder(str(self.state / "undo"), [str(self.root)])
            registry = ToolRegistry()
            registry.register(ShellTool(workspace, shell), source=ToolSource.BUILT_IN)
            facts = FactCollector(workspace.roots, home=str(self.home), search_path=PATH)
            permission = Permission(PolicyEngine([], mode=ApprovalMode.DEFAULT), facts, approver)
            try:
                yield Scheduler(registry, permission, open_undo=lambda: journal)
            finally:
                shell.close()
                copies.close()
                journal.close()

    def run(
        self,
        command: str,
        answers: Sequence[ApprovalReply],
        *,
        before_answer: Callable[[ApprovalRequest], None] = lambda _: None,
        watch: Callable[[Event], None] = lambda _: None,
        undo: bool = False,
        idle: float | None = None,
        **params: object,
    ) -> ToolResult:
        """Run one call whose questions are answered in turn."""
        person = _InterruptingApprover(list(answers), before_answer)

        def see(event: Event) -> None:
            self.events.append(event)
            watch(event)

        async def main() -> ToolResult:
            with self.scheduler(person, idle=idle) as scheduler:
                call = FunctionCall("run_shell_command", {"command": command, **params}, "call-1")
                result = await scheduler.run(call, see)
                if undo and scheduler.open_undo is not None:
                    journal = scheduler.open_undo()
                    self.undone_paths = list(journal.restore(journal.entries()[0].id).restored)
                return result

        try:
            return asyncio.run(main())
        finally:
            self.questions = person.questions

    @property
    def copies(self) -> Path:
        return self.state / "copies"

    @property
    def leftover_copies(self) -> list[str]:
        return [path.name for path in self.copies.iterdir()] if self.copies.exists() else []

    @property
    def trial(self) -> TrialConfirmation:
        """The first trial that was shown."""
        return next(
            question.confirmation for question in self.questions if isinstance(question.confirmation, TrialConfirmation)
        )

    def changes(self) -> dict[str, str]:
        return {change.path: change.kind.value for change in self.trial.changes}


class _InterruptingApprover(FakeApprover):
    """Calls a function before each answer."""

    def __init__(self, answers: list[ApprovalReply], before_answer: Callable[[ApprovalRequest], None]) -> None:
        super().__init__(answers)
        self._before_answer = before_answer

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        self._before_answer(question)
        return await super().ask(question)
