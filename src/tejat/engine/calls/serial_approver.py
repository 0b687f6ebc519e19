"""One question at a time: several calls, hooks and servers may want to ask the same person."""

import asyncio

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Approver


class SerialApprover:
    """An approver that lets the next question wait until the one before it is answered."""

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._lock = asyncio.Lock()

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        async with self._lock:
            return await self._approver.ask(question)
