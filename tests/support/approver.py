"""A fake approver."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, ApprovalSubject, Outcome

YES = ApprovalReply(Outcome.PROCEED_ONCE)
NO = ApprovalReply(Outcome.CANCEL)


@dataclass
class FakeApprover:
    """Answers with one reply for all, with replies (or exceptions) in turn, or by a function. Keeps the requests."""

    replies: ApprovalReply | Sequence[ApprovalReply | Exception] | Callable[[ApprovalRequest], ApprovalReply] = YES
    questions: list[ApprovalRequest] = field(default_factory=list[ApprovalRequest])

    @property
    def confirmations(self) -> list[ApprovalSubject]:
        return [question.confirmation for question in self.questions]

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        self.questions.append(question)
        if isinstance(self.replies, ApprovalReply):
            return self.replies
        if callable(self.replies):
            return self.replies(question)
        reply = self.replies[len(self.questions) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply
