"""An approver that asks one question at a time."""

import asyncio

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Approver
from tejat.core.errors import ApproverFailure
from tejat.core.tools.cancellation import inner_cancellation


class SerialApprover:
    """Lets a question wait until the one before it is answered: calls, hooks and servers may ask at once."""

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._lock = asyncio.Lock()

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Raises ApproverFailure if the approver was cancelled although nobody cancelled the task that asks."""
        async with self._lock:
            try:
                return await self._approver.ask(question)
            except asyncio.CancelledError as error:
                raise ApproverFailure(inner_cancellation(error, asyncio.current_task(), "The approver")) from error
