"""`tejat sessions stop`, `send` and `answer`: what scripts and other terminals do with a running session."""

import asyncio
import sys

from tejat.core.agent.questions import PendingQuestion
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _
from tejat.core.log import logger
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_line
from tejat.core.value_json import value_to_json
from tejat.ui.plain.approver import ConsoleApprover, is_interactive
from tejat.ui.plain.style import Style
from tejat.ui.remote import methods
from tejat.ui.remote.client import request_once
from tejat.ui.remote.directory import LiveSession, LiveState, find_live_session
from tejat.ui.remote.question_json import offered_words, reply_for_word
from tejat.ui.remote.session import attach_session
from tejat.ui.shared.approval.question_title import question_title
from tejat.ui.shared.questions import answer_questions


def run_action(action: str, directory: str, which: str, rest: list[str]) -> int:
    """Run an action on a running session, and return the exit code. Raises UsageError."""
    return asyncio.run(_run(action, directory, which, rest))


async def _run(action: str, directory: str, which: str, rest: list[str]) -> int:
    live = await find_live_session(directory, which)
    match action, rest:
        case "stop", []:
            return await _stop(live)
        case "send", [_text, *_more]:
            return await _send(live, " ".join(rest))
        case "answer", []:
            return await _ask(live)
        case "answer", [question_id, word, *message]:
            return await _answer(live, question_id, word, " ".join(message))
        case _:
            raise UsageError(_("Wrong arguments. Run `tejat sessions --help` for usage."))


async def _stop(live: LiveSession) -> int:
    stopped = await request_once(live.path, methods.STOP, {})
    if stopped.get("is_stopped") is not True:
        print(_("Session {session} is idle. Close it in its own terminal.", session=live.session_id))
        return EXIT_OK
    print(_("Stopped session {session}.", session=live.session_id))
    return EXIT_OK


async def _send(live: LiveSession, text: str) -> int:
    if live.state is not LiveState.IDLE:
        sent = await request_once(live.path, methods.STEER, {"text": text})
        if sent.get("is_sent") is True:
            print(_("Sent. The model gets it after its current tool calls."))
            return EXIT_OK
    await request_once(live.path, methods.PROMPT, {"prompt": text, "waits": False})
    print(_("Sent."))
    return EXIT_OK


async def _answer(live: LiveSession, question_id: str, word: str, message: str) -> int:
    """Answer the question with this id: another one that came meanwhile must not get the answer."""
    question = next((each for each in live.questions if each.question_id == question_id), None)
    if question is None:
        raise UsageError(_("Session {session} no longer has this question.", session=live.session_id))
    reply = reply_for_word(question, word, message)
    params: JsonObject = {"question_id": question_id, "reply": value_to_json(reply)}
    if (await request_once(live.path, methods.ANSWER, params)).get("is_accepted") is not True:
        print(_("Another answer was first."), file=sys.stderr)
        return EXIT_FAILED
    print(_("Answered."))
    return EXIT_OK


async def _ask(live: LiveSession) -> int:
    """Ask the user at this terminal; elsewhere print the question and how to answer it."""
    if not live.questions:
        print(_("Session {session} has no question.", session=live.session_id))
        return EXIT_OK
    if not is_interactive():
        for question in live.questions:
            _print_question(question)
        return EXIT_OK
    async with attach_session(live.path, logger.warning) as session:
        answered = asyncio.Event()
        unsubscribe = session.subscribe(lambda _event: answered.set() if not session.pending_questions else None)
        try:
            approver = ConsoleApprover(Style(sys.stderr), untrusted=(live.folder,))
            with answer_questions(session, approver, lambda notice: print(notice, file=sys.stderr)):
                await asyncio.wait(
                    {asyncio.create_task(answered.wait()), asyncio.create_task(session.peer.wait_closed())},
                    return_when=asyncio.FIRST_COMPLETED,
                )
        finally:
            unsubscribe()
    return EXIT_OK


def _print_question(question: PendingQuestion) -> None:
    print(f"{question.question_id}  {sanitize_line(question_title(question.request))}")
    for choice in offered_words(question.request):
        print(f"  {choice.keyword}: {choice.label}")
