"""Questions of a session, put to the user of one front end."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from tejat.core.approval.confirmation import ApprovalReply, Approver, Outcome
from tejat.core.approval.user_question import UserUnavailable
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.log import report_unexpected
from tejat.engine.sessions.questions import QuestionResponder
from tejat.ui.contract import UiSession


@contextmanager
def answer_questions(session: UiSession, approver: Approver, show_notice: Callable[[str], None]) -> Generator[None]:
    """Ask the user the questions of a session, also those already pending.

    A question answered elsewhere is withdrawn with a notice. An approver that cannot ask anybody raises
    UserUnavailable. A question that cannot be shown is answered with no, so that the run does not wait.
    """
    responder = QuestionResponder(
        _SessionAnswers(session, show_notice), approver, lambda: show_notice(_("Answered elsewhere."))
    )
    for question in session.pending_questions:
        responder.begin(question)
    unsubscribe = session.subscribe(responder)
    try:
        yield
    finally:
        unsubscribe()
        responder.close()


class _SessionAnswers(Frozen):
    session: UiSession
    show_notice: Callable[[str], None]

    def answer(self, question_id: str, reply: ApprovalReply) -> bool:
        return self.session.answer(question_id, reply)

    def fail(self, question_id: str, error: Exception) -> bool:
        if isinstance(error, UserUnavailable):
            return self.session.fail_question(question_id, error)
        self.show_notice(report_unexpected(error, "a question to the user"))
        return self.session.answer(question_id, ApprovalReply(Outcome.STOP))
