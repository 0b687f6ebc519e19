"""The copy of the files that a sub-agent works in: opened at its start, reviewed at its end."""

import hashlib
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

from tejat.app.tools.tool_services import ToolServices
from tejat.config.files.directory import make_private_directory
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Approver, Outcome, TrialConfirmation
from tejat.core.errors import ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.messages.declaration import Kind
from tejat.core.messages.tool_names import INVOKE_AGENT
from tejat.core.messages.types import FunctionCall, Params
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult
from tejat.core.undo import PathChange, UndoUnavailable
from tejat.engine.subagents.copies import CopyReview, CopyUnavailable
from tejat.engine.subagents.rights import AgentIdentity
from tejat.tools.copy.copied_tool import CopiedTool
from tejat.tools.copy.worker import COPIED_TOOLS
from tejat.tools.copy.worker_client import CopyWorker, WorkerOptions
from tejat.workspace.files.private_files import write_private_file
from tejat.workspace.overlay.copy import OverlayChanges, OverlayCopy
from tejat.workspace.overlay.manager import OverlayManager
from tejat.workspace.paths.ignore_rules import IgnoreOptions
from tejat.workspace.threads.offload import run_blocking

_MAX_RESULT_LENGTH = 4000


class CopyContext(Frozen):
    """What a copy needs of its session. Without an approver nothing is kept, and patches go to `patches`."""

    services: ToolServices
    ignore: IgnoreOptions
    patches: str
    approver: Approver | None
    notify: Callable[[str], None]


@asynccontextmanager
async def open_agent_copy(context: CopyContext, identity: AgentIdentity) -> "AsyncGenerator[WorkingCopy]":
    """Open a copy with a worker in it; both are gone at the end. Raises CopyUnavailable."""
    copies = context.services.copies
    if not await run_blocking(lambda _unused: copies.is_supported):
        raise CopyUnavailable(copies_unavailable())
    try:
        copy = await run_blocking(lambda _unused: copies.open())
    except OSError as error:
        raise CopyUnavailable(_("Could not make a copy of the files: {why}.", why=error.strerror or error)) from error
    working = WorkingCopy(context, identity, copies, copy)
    try:
        await working.start_worker()
        yield working
    finally:
        await working.stop_worker()
        await run_blocking(lambda _unused: copy.discard())


def copies_unavailable() -> str:
    return _(
        "Copies of the files do not work on this system, so agents cannot work in one. They need bubblewrap and "
        "overlayfs; see `tejat doctor`."
    )


class WorkingCopy:
    """Implements `engine.subagents.copies.AgentCopy` with an overlay copy."""

    def __init__(
        self, context: CopyContext, identity: AgentIdentity, copies: OverlayManager, copy: OverlayCopy
    ) -> None:
        self._context = context
        self._identity = identity
        self._copies = copies
        self._copy = copy
        self._worker: CopyWorker | None = None

    async def start_worker(self) -> None:
        """Raises CopyUnavailable."""
        services = self._context.services
        roots = tuple(root.real_path for root in services.workspace().roots.directories)
        options = WorkerOptions(roots, self._context.ignore)
        try:
            self._worker = await CopyWorker.start(self._copies, self._copy, services.shell(), options)
        except OSError as error:
            raise CopyUnavailable(
                _("Could not start in a copy of the files: {why}", why=error.strerror or error)
            ) from None

    async def stop_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.close()

    def copied(self, tool: BaseTool) -> BaseTool:
        return CopiedTool(tool, self) if tool.name in COPIED_TOOLS else tool

    async def call(self, name: str, params: Params, paths: Sequence[str], context: ToolContext) -> ToolResult:
        """Run a call in the copy. Raises ToolFailure."""
        if self._worker is None:
            raise RuntimeError("A call was made after the review had begun.")
        return await self._worker.call(name, params, paths, context)

    async def review(self, result: str) -> CopyReview:
        """Show the changes and do what the user says. Raises CopyUnavailable if the agent cannot continue."""
        await self.stop_worker()  # a layer must not change while it is read
        try:
            found = await run_blocking(self._copy.collect_changes)
        except OSError as error:
            return CopyReview(f"The changes in the copy could not be read: {error.strerror or error}.")
        if not found.changes and not found.blockers:
            return CopyReview("It changed no files.")
        if self._context.approver is None:
            return await run_blocking(lambda _unused: self._save_patch(found))
        reply = await self._context.approver.ask(self._question(found, result))
        match reply:
            case ApprovalReply(Outcome.PROCEED_ONCE) if not found.blockers:
                return await self._keep(found.changes)
            case ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content=str(listed)) if not found.blockers:
                return await self._keep_part(found.changes, listed)
            case ApprovalReply(Outcome.CANCEL, feedback=str(feedback)) if feedback.strip():
                await self.start_worker()
                return CopyReview(feedback=feedback)
            case _:
                return CopyReview("The user discarded all changes that it made. The files are as they were before.")

    def _question(self, found: OverlayChanges, result: str) -> ApprovalRequest:
        identity, root = self._identity, self._context.services.workspace().roots.first.real_path
        shown = repr((found.changes, found.diff)).encode("utf-8", "surrogateescape")
        trial = TrialConfirmation(
            title=_("Keep the changes an agent made in a copy"),
            command=identity.task,
            directory=root,
            changes=found.changes,
            diff=found.diff,
            output=result if len(result) <= _MAX_RESULT_LENGTH else f"{result[:_MAX_RESULT_LENGTH]}...",
            exit_code=None,
            obstacles=found.blockers,
            digest=hashlib.sha256(shown).hexdigest(),
            agent=identity.agent_id,
        )
        return ApprovalRequest(trial, INVOKE_AGENT, directory=root, can_modify=len(found.changes) > 1)

    async def _keep_part(self, changes: Sequence[PathChange], listed: str) -> CopyReview:
        """Keep the changes whose paths are listed, one per line."""
        wanted = {line.strip() for line in listed.splitlines()}
        kept = [change for change in changes if change.full_path in wanted]
        if not kept:
            return CopyReview("The user discarded all changes that it made. The files are as they were before.")
        review = await self._keep(kept)
        left = ", ".join(change.full_path for change in changes if change not in kept)
        return CopyReview(f"{review.text} The user discarded these: {left}") if left else review

    async def _keep(self, changes: Sequence[PathChange]) -> CopyReview:
        """Apply changes to the real files, recorded for undo."""

        async def apply() -> ToolResult:
            await run_blocking(lambda stop: self._copy.apply(stop, changes))
            return ToolResult("")

        call = FunctionCall(INVOKE_AGENT, {"description": self._identity.task})
        paths = [change.full_path for change in changes]
        undo = self._context.services.undo
        try:
            await undo.record(call, Kind.EDIT, paths, apply, whole_tree=False, planned=changes)
        except (ToolFailure, UndoUnavailable) as failure:
            self._context.notify(str(failure))
            return CopyReview(f"Its changes could not be kept: {failure}")
        except OSError as error:
            why = error.strerror or str(error)
            self._context.notify(
                _("Not all changes of {agent} could be kept. {why}", agent=self._identity.agent_id, why=why)
            )
            return CopyReview(f"Not all of its changes could be kept: {why}")
        count = len(changes)
        return CopyReview(f"It worked in a copy. The user kept {count} changed {'file' if count == 1 else 'files'}.")

    def _save_patch(self, found: OverlayChanges) -> CopyReview:
        """Write the changes to a file, because nobody can keep them."""
        name = self._identity.agent_id.replace("#", "-")
        path = os.path.join(make_private_directory(self._context.patches), f"agent-{name}-{os.urandom(4).hex()}.patch")
        try:
            write_private_file(path, found.diff)
        except OSError as error:
            return CopyReview(f"It worked in a copy, and nothing was kept ({error.strerror}).", patch=found.diff)
        problems = "".join(f" {problem}" for problem in found.blockers)
        text = (
            f"It worked in a copy. Nobody can keep its changes in this run, so nothing was kept. Diff: {path}{problems}"
        )
        return CopyReview(text, patch=found.diff)
