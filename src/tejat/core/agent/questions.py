"""Questions of a session that wait for an answer of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tejat.core.frozen import Value

if TYPE_CHECKING:
    from tejat.core.approval.confirmation import ApprovalRequest


class PendingQuestion(Value):
    """An approval or an elicitation that any attached front end may answer.

    `asked_at` is in seconds since 1970.
    """

    question_id: str
    request: ApprovalRequest
    asked_at: float
