"""The scheduler of tool calls."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallEventSink
from tejat.core.tools.cancellation import CancelReason, always_cancelled
from tejat.engine.calls.batch import Batch
from tejat.engine.calls.loop_lock import LoopLock
from tejat.engine.calls.permission import Permission
from tejat.engine.calls.secret_mask import SecretMask
from tejat.engine.calls.truncation import OutputTruncator
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.core.agent.hooks import ToolHooks
    from tejat.engine.calls.undo_recorder import UndoRecorder


class Scheduler:
    """Runs the calls of a model: consecutive read-only calls run concurrently, all others one after another.

    A second batch waits for the first; in another event loop it is refused meanwhile. `mask` removes secrets from
    results. `open_undo` returns the recorder of changes. `hooks` run before the policy decides and after the call.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        permission: Permission,
        *,
        truncator: OutputTruncator | None = None,
        mask: SecretMask | None = None,
        open_undo: "Callable[[], UndoRecorder] | None" = None,
        hooks: "ToolHooks | None" = None,
    ) -> None:
        self.registry = registry
        self.permission = permission
        self.truncator = truncator
        self.mask = mask
        self.open_undo = open_undo
        self.hooks = hooks
        self.lock = LoopLock()

    def batch(
        self,
        calls: Sequence[FunctionCall],
        emit: CallEventSink | None = None,
        *,
        beside: bool = False,
        why_cancelled: Callable[[], CancelReason] = always_cancelled,
    ) -> Batch:
        """Prepare a batch. If it may run `beside` others, it does not wait for them, as long as all calls only read.

        `why_cancelled` says why a call ended early, for its result.
        """
        return Batch(self, calls, emit, beside=beside, why_cancelled=why_cancelled)

    async def run(self, call: FunctionCall, emit: CallEventSink | None = None, *, beside: bool = False) -> ToolResult:
        """Run one call and return its result. Raises as `Batch.run` does."""
        batch = self.batch([call], emit, beside=beside)
        await batch.run()
        return batch.results[0]
