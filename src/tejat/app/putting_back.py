"""What calls changed in files, shown to a person and put back if they want it."""

import time
from collections.abc import Iterable, Sequence

from tejat.app.agent import Succession
from tejat.core.history import Message, user_message
from tejat.core.sheet import Block, Sheet, Table, Tone, Words
from tejat.core.undo import Change, Entry, Remark, Restored, Verb
from tejat.core.value import value
from tejat.core.words import say, say_count
from tejat.engine.undo import UndoJournal
from tejat.workspace.offload import off_loop

_MOST_PATHS = 20
_WIDEST_WHAT = 100


@value
class PutBack:
    """What came of it: the paths that are as they were, and what is told of the rest."""

    paths: tuple[str, ...]
    blocks: tuple[Block, ...]
    is_complete: bool


class PuttingBack:
    """The undo journal of the project that a session works in. Every method raises OSError."""

    def __init__(self, succession: Succession) -> None:
        self._succession = succession

    @property
    def _journal(self) -> UndoJournal:
        """Raises UsageError."""
        return self._succession.workshop.house.undo

    async def standing(self) -> list[Entry]:
        """The calls whose changes were not put back yet, the newest first."""
        entries = await off_loop(lambda _: self._journal.entries())
        return [entry for entry in entries if entry.undone_by is None and entry.undoes is None]

    async def of_calls_in(self, messages: Iterable[Message]) -> list[Entry]:
        """Those of them that were asked for in these messages of the session."""
        session_id = self._succession.session.session_id
        calls = {call.id for message in messages for call in message.calls}
        return [entry for entry in await self.standing() if entry.session == session_id and entry.call in calls]

    async def put_back(self, entries: Sequence[Entry]) -> PutBack:
        """Put back one after the other, in this order, up to the first that cannot be."""
        paths: list[str] = []
        blocks: list[Block] = []
        for entry in entries:
            restored = await off_loop(lambda _, entry=entry: self._journal.restore(entry.id))
            paths += restored.restored
            blocks += _remarks(restored)
            if restored.refused:
                message = say("{what} was not put back. Nothing of it was touched, because:", what=title(entry))
                return PutBack(tuple(paths), (*blocks, Words(message, Tone.BAD), _listed(restored.refused)), False)
        done = say_count("Put back {count} path.", "Put back {count} paths.", len(paths))
        return PutBack(tuple(paths), (Words(done, Tone.GOOD), *blocks), True)

    def tell_model(self, paths: Sequence[str]) -> None:
        """With the next prompt the model gets to know that its changes are gone."""
        if paths:
            named = "\n".join(f"  - {path}" for path in paths[:_MOST_PATHS])
            more = f"\n  - and {len(paths) - _MOST_PATHS} more" if len(paths) > _MOST_PATHS else ""
            text = f"I have taken back what your calls changed. These are as they were before:\n{named}{more}"
            self._succession.session.note(user_message(text), "")


def plan_of(entries: Sequence[Entry]) -> Sheet:
    """What putting these back would do."""
    blocks: list[Block] = []
    for entry in entries:
        blocks.append(Words(title(entry), Tone.STRONG))
        rows = tuple((_way_back(change), change.full_path) for change in entry.changes[:_MOST_PATHS])
        blocks.append(Table(rows))
        if len(entry.changes) > _MOST_PATHS:
            blocks.append(Words(say("… and {count} more", count=f"{len(entry.changes) - _MOST_PATHS:,}"), Tone.QUIET))
        if entry.skipped:
            blocks += [Words(say("This can't be undone:"), Tone.WARNING), _listed(entry.skipped)]
    return Sheet(say("What would be put back"), tuple(blocks))


def list_of(entries: Sequence[Entry], heading: str) -> Sheet:
    rows = tuple((entry.id, _when(entry), entry.tool, _what(entry), _summary(entry)) for entry in entries)
    headings = (say("Id"), say("When"), say("Tool"), say("About"), say("Changes"))
    return Sheet(heading, (Table(rows, headings),))


def title(entry: Entry) -> str:
    return f"{entry.id} {entry.tool}: {_what(entry)}"


def _what(entry: Entry) -> str:
    what = " ".join(entry.what.split())
    return what if len(what) <= _WIDEST_WHAT else f"{what[:_WIDEST_WHAT]}…"


def _when(entry: Entry) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.time))


def _summary(entry: Entry) -> str:
    verbs = [change.verb for change in entry.changes]
    counts = [_counted(verb, verbs.count(verb)) for verb in Verb if verb in verbs]
    return ", ".join(counts) or say("nothing that can be undone")


def _counted(verb: Verb, count: int) -> str:
    match verb:
        case Verb.CREATED:
            return say("{count} created", count=f"{count:,}")
        case Verb.REMOVED:
            return say("{count} removed", count=f"{count:,}")
        case Verb.CHANGED:
            return say("{count} changed", count=f"{count:,}")
        case Verb.PERMISSIONS:
            return say("{count} with other permissions", count=f"{count:,}")


def _way_back(change: Change) -> str:
    match change.verb:
        case Verb.CREATED:
            return say("remove")
        case Verb.REMOVED:
            return say("bring back")
        case Verb.CHANGED:
            return say("put back the old content of")
        case Verb.PERMISSIONS:
            return say("put back the permissions of")


def _remarks(restored: Restored) -> list[Block]:
    return [_listed(restored.left)] if restored.left else []


def _listed(remarks: Sequence[Remark]) -> Block:
    rows = tuple((remark.path, remark.why) for remark in remarks[:_MOST_PATHS])
    more = ((say("… and {count} more", count=f"{len(remarks) - _MOST_PATHS:,}"), ""),)
    return Table(rows + more if len(remarks) > _MOST_PATHS else rows)
