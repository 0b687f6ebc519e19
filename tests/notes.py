"""A tool for tests of the engine that writes down what it is told, people who answer, and a session around them."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tejat.core.confirm import Answer, Approver, Confirmation, EditConfirmation, Outcome, Question
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.schema import Param
from tejat.core.tool import BaseTool, Kind, ProposingTool, ToolContext, ToolResult
from tejat.core.types import Params
from tejat.engine.facts import FactFinder
from tejat.engine.permission import Permission, SaveRule
from tejat.engine.scheduler import Scheduler
from tejat.policy.engine import Policy
from tejat.policy.rules import Mode, Rule
from tejat.tools.registry import ToolRegistry
from tejat.workspace.roots import Roots

YES = Answer(Outcome.PROCEED_ONCE)
NO = Answer(Outcome.CANCEL)


@dataclass(frozen=True, slots=True)
class NoteParams:
    text: Annotated[str, Param("What to write down.")]


class Note(ProposingTool[NoteParams]):
    """Writes down what was approved; some words make a step of it fail."""

    spoken_name = "note"

    def __init__(self, name: str = "note", *, asks: bool = True, kind: Kind = Kind.EDIT) -> None:
        super().__init__(name=name, display_name="Note", description="", parameters=NoteParams, kind=kind)
        self.asks = asks
        self.written: list[tuple[str, Confirmation | None]] = []

    def check(self, params: NoteParams) -> None:
        if params.text == "forbidden":
            raise ToolFailure("that may not be said", ErrorType.PATH_NOT_IN_WORKSPACE)

    def describe(self, params: NoteParams) -> str:
        return params.text

    async def propose(self, params: NoteParams) -> Confirmation | None:
        match params.text:
            case "stale":
                raise ToolFailure("it moved on", ErrorType.STALE_FILE, display="Moved on.")
            case "break the proposal":
                raise ZeroDivisionError("division by zero")
        return proposal(params.text) if self.asks else None

    async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
        if params.text == "break the work":
            raise ZeroDivisionError("division by zero")
        if params.text == "fail the work":
            raise ToolFailure("disk full", ErrorType.NO_SPACE_LEFT)
        if params.text == "wait":
            await asyncio.Event().wait()
        self.written.append((params.text, context.approved))
        return ToolResult(f"wrote {params.text}", "written")


class RewritableNote(Note):
    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        assert isinstance(confirmation, EditConfirmation)
        assert confirmation.new_content == params["text"]
        return {"text": new_content} if new_content != "nothing" else {}


def proposal(text: str) -> EditConfirmation:
    return EditConfirmation(
        title="Confirm Note",
        file_name="note",
        file_path="/w/note",
        file_diff=f"+{text}",
        original_content=None,
        new_content=text,
        proposal=text.encode(),
    )


@dataclass
class Person:
    """Answers in turn and remembers what was asked."""

    answers: Sequence[Answer | Exception]
    questions: list[Question] = field(default_factory=list[Question])

    @property
    def shown(self) -> list[Confirmation]:
        return [question.confirmation for question in self.questions]

    async def ask(self, question: Question) -> Answer:
        answer = self.answers[len(self.questions)]
        self.questions.append(question)
        if isinstance(answer, Exception):
            raise answer
        return answer


@contextmanager
def session(
    directory: Path,
    tools: Sequence[BaseTool],
    person: Approver | None,
    *,
    rules: Sequence[Rule] = (),
    mode: Mode = Mode.DEFAULT,
    save: SaveRule | None = None,
) -> Generator[Scheduler]:
    registry = ToolRegistry()
    for tool in tools:
        registry.register(tool)
    with Roots([directory]) as roots:
        yield scheduler_for(roots, registry, person, rules=rules, mode=mode, save=save)


def scheduler_for(
    roots: Roots,
    registry: ToolRegistry,
    person: Approver | None,
    *,
    rules: Sequence[Rule] = (),
    mode: Mode = Mode.DEFAULT,
    save: SaveRule | None = None,
) -> Scheduler:
    facts = FactFinder(roots, home="/nowhere", search_path="/usr/bin:/bin")
    return Scheduler(registry, Permission(Policy(rules, mode), facts, person, save=save))
