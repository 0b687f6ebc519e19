"""A note tool for engine tests, and a scheduler with fake approvers."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tejat.core.approval.confirmation import (
    Approver,
    Confirmation,
    EditConfirmation,
)
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import Params
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import BaseTool, ProposingTool, ToolContext, ToolResult
from tejat.core.tools.schema import Param
from tejat.engine.calls.call_facts import FactCollector
from tejat.engine.calls.permission import Permission, SaveRules
from tejat.engine.calls.scheduler import Scheduler
from tejat.policy.engine import PolicyEngine
from tejat.policy.types import PolicyRule
from tejat.tools.registry import ToolRegistry
from tejat.workspace.files.roots import Roots


@dataclass(frozen=True, slots=True)
class NoteParams:
    text: Annotated[str, Param("What to write down.")]


class NoteTool(ProposingTool[NoteParams]):
    """Records what was approved; some texts make a step fail."""

    error_label = "note"

    def __init__(self, name: str = "note", *, asks: bool = True, kind: Kind = Kind.EDIT) -> None:
        super().__init__(name=name, display_name="Note", description="", parameters=NoteParams, kind=kind)
        self.needs_confirmation = asks
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
            case "cancel the proposal":
                raise asyncio.CancelledError
        return edit_confirmation(params.text) if self.needs_confirmation else None

    async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
        if params.text == "break the work":
            raise ZeroDivisionError("division by zero")
        if params.text == "cancel the work":
            raise asyncio.CancelledError
        if params.text == "fail the work":
            raise ToolFailure("disk full", ErrorType.NO_SPACE_LEFT)
        if params.text == "wait":
            await asyncio.Event().wait()
        self.written.append((params.text, context.approved))
        return ToolResult(f"wrote {params.text}", "written")


class ModifiableNoteTool(NoteTool):
    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        assert isinstance(confirmation, EditConfirmation)
        assert confirmation.new_content == params["text"]
        return {"text": new_content} if new_content != "nothing" else {}


def edit_confirmation(text: str) -> EditConfirmation:
    return EditConfirmation(
        title="Confirm Note",
        file_name="note",
        file_path="/w/note",
        file_diff=f"+{text}",
        original_content=None,
        new_content=text,
        proposal=text.encode(),
    )


@contextmanager
def open_scheduler(
    directory: Path,
    tools: Sequence[BaseTool],
    approver: Approver | None,
    *,
    rules: Sequence[PolicyRule] = (),
    mode: ApprovalMode = ApprovalMode.DEFAULT,
    save: SaveRules | None = None,
    remembers: bool = True,
) -> Generator[Scheduler]:
    registry = ToolRegistry()
    for tool in tools:
        registry.register(tool, source=ToolSource.BUILT_IN)
    with Roots([directory]) as roots:
        yield create_scheduler(roots, registry, approver, rules=rules, mode=mode, save=save, remembers=remembers)


def create_scheduler(
    roots: Roots,
    registry: ToolRegistry,
    approver: Approver | None,
    *,
    rules: Sequence[PolicyRule] = (),
    mode: ApprovalMode = ApprovalMode.DEFAULT,
    save: SaveRules | None = None,
    remembers: bool = True,
) -> Scheduler:
    facts = FactCollector(roots, home="/nowhere", search_path="/usr/bin:/bin")
    permission = Permission(PolicyEngine(rules, mode), facts, approver, save=save, remembers=remembers)
    return Scheduler(registry, permission)
