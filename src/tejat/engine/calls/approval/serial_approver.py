"""An approver that asks one question at a time."""

import asyncio

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Approver


class SerialApprover:
    """Lets a question wait until the one before it is answered: calls, hooks and servers may ask at once."""

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._lock = asyncio.Lock()

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        async with self._lock:
            return await self._approver.ask(question)
