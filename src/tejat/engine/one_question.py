"""One question at a time: several calls, hooks and servers may want to ask the same person."""

import asyncio

from tejat.core.confirm import Answer, Approver, Question


class OneQuestionAtATime:
    """An approver that lets the next question wait until the one before it is answered."""

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._turn = asyncio.Lock()

    async def ask(self, question: Question) -> Answer:
        async with self._turn:
            return await self._approver.ask(question)
