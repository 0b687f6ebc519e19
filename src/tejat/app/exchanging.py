"""From one session to another: a new one, an earlier one, or a conversation that was kept."""

from collections.abc import Iterable, Sequence

from tejat.app.agent import Beginning, Succession, anew, sessions_of, taken_up
from tejat.app.played import new_id
from tejat.core.agent_events import SessionEnd, SessionSource
from tejat.core.history import Message, Role
from tejat.core.sheet import Block, Prose, Sheet, Tone, Words
from tejat.core.types import Text
from tejat.core.words import say
from tejat.engine.at_paths import CONTENT_BEGINS
from tejat.engine.journal_reading import LoadedSession
from tejat.engine.marks import Mark
from tejat.engine.session_files import SessionEntry
from tejat.engine.transcript import shortened

_MOST_SHOWN = 6
_LONGEST_PROMPT = 500
_LONGEST_ANSWER = 2_000


async def begin_anew(succession: Succession) -> None:
    """A session in which nothing was said. Raises UsageError while the present one is busy."""
    beginning = anew(succession.ground, new_id(), model=_kept_model(succession), source=SessionSource.CLEAR)
    await succession.change(beginning, SessionEnd.CLEAR)


async def take_up(succession: Succession, entry: SessionEntry) -> None:
    """Go on with an earlier session. Raises UsageError where it cannot be had."""
    await succession.change(taken_up(sessions_of(succession.ground), entry), SessionEnd.OTHER)


async def take_over(succession: Succession, loaded: LoadedSession) -> None:
    """A new session that begins with a conversation that was kept. Raises UsageError while this one is busy."""
    model, session_id = _kept_model(succession), new_id()
    journal = None
    if model is not None:
        journal = sessions_of(succession.ground).create(session_id=session_id, model=model)
        journal.opening(loaded.messages[: loaded.opening])
        journal.compressed(loaded.messages)
    beginning = Beginning(
        session_id,
        loaded.messages,
        loaded.opening,
        journal,
        source=SessionSource.RESUME,
        repairs=loaded.repairs,
        problems=loaded.problems,
    )
    await succession.change(beginning, SessionEnd.OTHER)


def last_words(messages: Sequence[Message], *, opening: int, marks: Iterable[Mark] = ()) -> Sheet:
    """The end of a conversation, so that the person knows where they are; not much of it.

    Where there are marks, only they tell what the person wrote: the model was told other things too.
    """
    prompts = {_place_of(mark): mark.shown for mark in marks}
    found = [
        _prompt(prompts[index]) if index in prompts else _block(message, with_prompts=not prompts)
        for index, message in enumerate(messages)
        if index >= opening
    ]
    blocks = [block for block in found if block is not None]
    left_out = len(blocks) - _MOST_SHOWN
    if left_out > 0:
        blocks = [Words(say("… {count} earlier messages", count=f"{left_out:,}"), Tone.QUIET), *blocks[left_out:]]
    return Sheet(say("Where you left off"), tuple(blocks))


def _block(message: Message, *, with_prompts: bool) -> Block | None:
    """What was said in a message; calls and their results are left out."""
    if message.role is Role.MODEL:
        text = message.text.strip()
        return Prose(shortened(text, _LONGEST_ANSWER)) if text else None
    if message.responses or not with_prompts:
        return None
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if CONTENT_BEGINS in texts:
        texts = texts[: texts.index(CONTENT_BEGINS)]
    text = "\n".join(texts).strip()
    return _prompt(text) if text else None


def _prompt(text: str) -> Block:
    return Words(f"> {shortened(text, _LONGEST_PROMPT)}", Tone.STRONG)


def _place_of(mark: Mark) -> int:
    """Where the prompt stands: behind what was there, or in the same message where that was the user's too."""
    return mark.length - 1 if mark.last is not None and mark.last.role is Role.USER else mark.length


def _kept_model(succession: Succession) -> str | None:
    """The name that a new journal begins with, None where sessions are not kept."""
    is_kept = succession.options.keeps_session and succession.played.recorded_at is None
    return succession.session.conversation.model.name if is_kept else None
