"""Questions from several sides reach a fake one after the other."""

import asyncio

import pytest

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, InfoConfirmation, Outcome
from tejat.core.errors import ApproverFailure
from tejat.engine.calls.approval.serial_approver import SerialApprover


class FakeApprover:
    """Thinks for a moment, and notes when somebody speaks while they do."""

    def __init__(self) -> None:
        self.open = self.most_open = 0
        self.asked: list[str] = []

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        self.asked.append(question.tool_name)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(0.01)
        finally:
            self.open -= 1
        return ApprovalReply(Outcome.PROCEED_ONCE, feedback=question.tool_name)


def question(name: str) -> ApprovalRequest:
    return ApprovalRequest(InfoConfirmation("May it?", "?"), name)


def test_in_order_and_each_gets_its_own_answer() -> None:
    async def run() -> tuple[FakeApprover, list[ApprovalReply]]:
        fake = FakeApprover()
        approver = SerialApprover(fake)
        return fake, await asyncio.gather(*(approver.ask(question(name)) for name in "abc"))

    fake, answers = asyncio.run(run())
    assert (fake.asked, fake.most_open) == (["a", "b", "c"], 1)
    assert [answer.feedback for answer in answers] == ["a", "b", "c"]


def test_whoever_gives_up_lets_the_next_one_ask() -> None:
    async def run() -> list[str]:
        fake = FakeApprover()
        approver = SerialApprover(fake)
        first, second = (asyncio.ensure_future(approver.ask(question(name))) for name in "ab")
        await asyncio.sleep(0)
        first.cancel()
        await second
        return fake.asked

    assert asyncio.run(run()) == ["a", "b"]


def test_an_approver_that_is_cancelled_by_nobody_has_failed() -> None:
    class Lost:
        async def ask(self, question: ApprovalRequest) -> ApprovalReply:
            raise asyncio.CancelledError

    with pytest.raises(ApproverFailure, match="The approver was cancelled from within"):
        asyncio.run(SerialApprover(Lost()).ask(question("a")))
