"""Expected tool results for failures, and an approver for edits."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, EditConfirmation, Outcome
from tejat.core.errors import ErrorType
from tejat.core.tools.base import ToolError, ToolResult

RULE = "=" * 67
NOT_ALLOWED = "[Operation Cancelled] Reason: User did not allow tool call."


def failed_result(message: str, error_type: ErrorType, display: str | None = None) -> ToolResult:
    return ToolResult(message, message if display is None else display, ToolError(message, error_type))


def invalid_params_result(reason: str) -> ToolResult:
    return ToolResult(
        f"Error: Invalid parameters provided. Reason: {reason}",
        reason,
        ToolError(reason, ErrorType.INVALID_TOOL_PARAMS),
    )


def outside_workspace_result(path: object, *roots: Path) -> ToolResult:
    return failed_result(
        f'Path not in workspace: Attempted path "{path}" resolves outside the allowed workspace directories: '
        + ", ".join(map(str, roots)),
        ErrorType.PATH_NOT_IN_WORKSPACE,
        "Path not in workspace.",
    )


def changed_since_read_result(path: Path, seen: str, now: str) -> ToolResult:
    """The result for a one-line file that changed since it was read."""
    message = f"The file has changed since it was last read: {path}. Read it again with read_file first."
    lines = [
        f"{sign}{text}" + ("" if text.endswith("\n") else "\n\\ No newline at end of file\n")
        for sign, text in (("-", seen), ("+", now))
    ]
    header = f"Index: {path.name}\n{'=' * 67}\n--- {path.name}\tLast read\n+++ {path.name}\tNow\n"
    diff = f"{header}@@ -1,1 +1,1 @@\n{''.join(lines)}"
    return failed_result(f"{message}\nWhat has changed since:\n{diff}", ErrorType.STALE_FILE, message)


def list_tree(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


def child_processes() -> set[int]:
    """The children of this process."""
    found: set[int] = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = Path(f"/proc/{process}/stat").read_bytes()
        except OSError:
            continue
        if int(status.rpartition(b")")[2].split()[1]) == os.getpid():
            found.add(int(process))
    return found


@contextmanager
def unprivileged_user() -> Iterator[None]:
    """Run as a user who is bound by permissions."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


@dataclass
class EditApprover:
    """Approves everything, after calling `meanwhile` and giving the scripted answers."""

    answers: list[ApprovalReply] = field(default_factory=list[ApprovalReply])
    meanwhile: Callable[[], object] = lambda: None
    confirmations: list[EditConfirmation] = field(default_factory=list[EditConfirmation])

    @classmethod
    def approve_then_cancel(cls, meanwhile: Callable[[], object]) -> "EditApprover":
        """Call `meanwhile` at the first question; approve the first and reject the second."""
        pending = [meanwhile]
        return cls(
            [ApprovalReply(Outcome.PROCEED_ONCE), ApprovalReply(Outcome.CANCEL)], lambda: pending and pending.pop()()
        )

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        assert isinstance(question.confirmation, EditConfirmation)
        self.confirmations.append(question.confirmation)
        self.meanwhile()
        return self.answers.pop(0) if self.answers else ApprovalReply(Outcome.PROCEED_ONCE)
