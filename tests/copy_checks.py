"""A session whose shell commands can be tried in a copy of the files, and a person who answers about them."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from notes import Person
from tejat.core.confirm import Answer, Outcome, Question, TrialConfirmation
from tejat.core.events import Event
from tejat.core.sandbox_wish import SandboxWish
from tejat.core.tool import ToolResult
from tejat.core.types import FunctionCall
from tejat.engine.facts import FactFinder
from tejat.engine.permission import Permission
from tejat.engine.scheduler import Scheduler
from tejat.engine.undo import UndoJournal
from tejat.policy.control_files import control_paths, planted_paths
from tejat.policy.engine import Policy
from tejat.policy.rules import Mode
from tejat.tools.registry import ToolRegistry
from tejat.tools.run_shell_command import ShellTool
from tejat.workspace.copies.copies import Copies
from tejat.workspace.jobs import Jobs
from tejat.workspace.processes.environment import child_environment
from tejat.workspace.processes.keeping import Keeper
from tejat.workspace.processes.shell import Shell
from tejat.workspace.sandbox.fencing import Fencing, Grounds
from tejat.workspace.workspace import Workspace

TRY = Answer(Outcome.TRY_IN_COPY)
KEEP = Answer(Outcome.PROCEED_ONCE)
FOR_REAL = Answer(Outcome.RUN_FOR_REAL)
NO = Answer(Outcome.CANCEL)

PATH = "/usr/local/bin:/usr/bin:/bin"


class Trials:
    """A project in `root` with one person; `outside` and `home` lie beside it."""

    def __init__(self, directory: Path) -> None:
        self.root, self.home, self.state = (directory / name for name in ("root", "home", "state"))
        for place in (self.root, self.home, self.state):
            place.mkdir()
        self.questions: list[Question] = []
        self.events: list[Event] = []
        self.undone: list[str] = []

    @contextmanager
    def fencing(self) -> Generator[Fencing]:
        grounds = Grounds(
            roots=(str(self.root),),
            home=str(self.home),
            own=(str(self.state),),
            control_paths=control_paths(),
            blocked=planted_paths(),
            state=str(self.state / "sandbox"),
        )
        (self.state / "sandbox").mkdir(exist_ok=True)
        with Fencing(SandboxWish.AUTO, grounds) as fencing:
            yield fencing

    @contextmanager
    def scheduler(self, person: Person, *, idle: float | None = None) -> Generator[Scheduler]:
        environment = child_environment({"PATH": PATH, "HOME": str(self.home)})
        with self.fencing() as fencing, Workspace([self.root]) as workspace:
            copies = Copies(fencing, str(self.copies))
            if not copies.work:
                pytest.skip("NOT TESTED: this machine has no bubblewrap that can lay a copy over files (overlayfs)")
            shell = Shell(
                Keeper(),
                Jobs(str(self.state / "jobs")),
                environment,
                str(self.state / "outputs"),
                wrap=fencing.wrap,
                copies=lambda: copies,
                idle=idle,
            )
            journal = UndoJournal(str(self.state / "undo"), [str(self.root)])
            registry = ToolRegistry()
            registry.register(ShellTool(workspace, shell))
            facts = FactFinder(workspace.roots, home=str(self.home), search_path=PATH)
            permission = Permission(Policy([], mode=Mode.DEFAULT), facts, person)
            try:
                yield Scheduler(registry, permission, undo=lambda: journal)
            finally:
                shell.close()
                copies.close()
                journal.close()

    def run(
        self,
        command: str,
        answers: Sequence[Answer],
        *,
        before_answer: Callable[[Question], None] = lambda _: None,
        watch: Callable[[Event], None] = lambda _: None,
        undo: bool = False,
        idle: float | None = None,
        **params: object,
    ) -> ToolResult:
        """One call whose questions are answered in turn."""
        person = _Looking(list(answers), before_answer)

        def see(event: Event) -> None:
            self.events.append(event)
            watch(event)

        async def main() -> ToolResult:
            with self.scheduler(person, idle=idle) as scheduler:
                call = FunctionCall("run_shell_command", {"command": command, **params}, "call-1")
                result = await scheduler.run(call, see)
                if undo and scheduler.undo is not None:
                    journal = scheduler.undo()
                    self.undone = list(journal.restore(journal.entries()[0].id).restored)
                return result

        try:
            return asyncio.run(main())
        finally:
            self.questions = person.questions

    @property
    def copies(self) -> Path:
        return self.state / "copies"

    @property
    def leftovers(self) -> list[str]:
        return [path.name for path in self.copies.iterdir()] if self.copies.exists() else []

    @property
    def trial(self) -> TrialConfirmation:
        """What the person was shown of the first trial."""
        return next(
            question.confirmation for question in self.questions if isinstance(question.confirmation, TrialConfirmation)
        )

    def changes(self) -> dict[str, str]:
        return {change.path: change.verb.value for change in self.trial.changes}


class _Looking(Person):
    """Does something else before they answer."""

    def __init__(self, answers: list[Answer], before_answer: Callable[[Question], None]) -> None:
        super().__init__(answers)
        self._before_answer = before_answer

    async def ask(self, question: Question) -> Answer:
        self._before_answer(question)
        return await super().ask(question)
