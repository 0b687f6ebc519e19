"""The list of sessions, running and stored ones."""

import argparse
import asyncio
import os
import time

from tejat.app.inspection.stored_sessions import ListedSession, StoredSessions
from tejat.app.run_config import RunConfig
from tejat.config.paths import AppPaths
from tejat.core.exit_codes import EXIT_OK
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.text.time_format import format_age
from tejat.ui.plain.table import print_table
from tejat.ui.remote.directory import LiveSession, LiveState, list_live_sessions
from tejat.ui.remote.question_json import question_to_json
from tejat.ui.shared.labels.session_state import end_label, waiting_label

_ID_LENGTH = 8
"""Characters of an id in the list, if they are enough to tell the sessions apart."""
_CENT = 0.01


class _Entry(Frozen):
    """A session that runs, is stored, or both."""

    session_id: str
    live: LiveSession | None
    stored: ListedSession | None

    @property
    def changed(self) -> float:
        """When it changed last, in seconds since 1970. Running sessions are the most recent ones."""
        if self.live is not None:
            return float("inf")
        return self.stored.summary.modified if self.stored is not None else 0.0

    @property
    def age_from(self) -> float:
        if self.stored is not None:
            return self.stored.summary.modified
        return self.live.started if self.live is not None else 0.0

    @property
    def title(self) -> str:
        return (self.stored.summary.title if self.stored else self.live.title if self.live else "") or _("(no prompt)")

    @property
    def folder(self) -> str:
        return self.live.folder if self.live is not None else self.stored.summary.root if self.stored else ""

    @property
    def cost(self) -> float | None:
        return self.live.cost if self.live is not None else self.stored.cost if self.stored else None


def list_sessions_of_projects(sessions: StoredSessions, config: RunConfig, options: argparse.Namespace) -> int:
    """Print the sessions of all projects, or of this one, and return the exit code."""
    stored = {each.summary.session_id: each for each in sessions.list_sessions(every_project=not options.here)}
    running = {each.session_id: each for each in asyncio.run(list_live_sessions(config.paths.runtime))}
    if options.here:
        root = os.path.realpath(config.roots[0])
        running = {key: each for key, each in running.items() if os.path.realpath(each.folder) == root}
    ids = dict.fromkeys((*stored, *running))
    found = sorted((_Entry(key, running.get(key), stored.get(key)) for key in ids), key=lambda entry: entry.changed)
    if options.json:
        print(dump_json(list(map(_to_json, found)), indent=2))
    elif found:
        _print(found, config.paths, here=options.here)
    else:
        print(_("No sessions in this project yet.") if options.here else _("No sessions yet."))
    return EXIT_OK


def _print(found: list[_Entry], paths: AppPaths, *, here: bool) -> None:
    shorts = _short_ids([entry.session_id for entry in found])
    now = time.time()
    rows = [_row(entry, short, now, paths, here=here) for entry, short in zip(found, shorts, strict=True)]
    headings = (_("AGE"), _("STATE"), _("TURNS"), _("COST"), _("SESSION"))
    if here:
        print_table([(_("NO."), *headings, _("PROMPT")), *rows], numeric=(0, 3, 4))
    else:
        print_table([(*headings, _("PROJECT"), _("PROMPT")), *rows], numeric=(2, 3))


def _row(entry: _Entry, short: str, now: float, paths: AppPaths, *, here: bool) -> tuple[str, ...]:
    turns = str(entry.stored.turns) if entry.stored is not None else "0"
    figures = format_age(now - entry.age_from), _state(entry, now), turns, _format_cost(entry.cost), short
    if here:
        return (str(entry.stored.summary.number) if entry.stored else "", *figures, entry.title)
    return (*figures, paths.abbreviate(entry.folder) or _("unknown"), entry.title)


def _state(entry: _Entry, now: float) -> str:
    live = entry.live
    if live is None:
        return end_label(entry.stored.end if entry.stored is not None else "")
    match live.state:
        case LiveState.WAITING:
            return waiting_label(live.waiting_since or now, now)
        case LiveState.WORKING:
            return _("working")
        case LiveState.IDLE:
            return _("idle")


def _to_json(entry: _Entry) -> JsonObject:
    live, stored = entry.live, entry.stored
    return {
        "session_id": entry.session_id,
        "title": stored.summary.title if stored else live.title if live else "",
        "project": entry.folder,
        "state": live.state.value if live is not None else "ended",
        "end_reason": None if live is not None or stored is None else stored.end or None,
        "cost": entry.cost,
        **(_stored_members(stored) if stored is not None else {}),
        **(_live_members(live) if live is not None else {}),
    }


def _stored_members(stored: ListedSession) -> JsonObject:
    summary = stored.summary
    return {
        "number": summary.number,
        "model": summary.model,
        "started": summary.started,
        "modified": summary.modified,
        "size": summary.size,
        "path": summary.path,
        "turns": stored.turns,
        "tokens": stored.tokens,
    }


def _live_members(live: LiveSession) -> JsonObject:
    questions: list[JsonValue] = [question_to_json(each) for each in live.questions]
    return {
        "pid": live.pid,
        "kind": live.kind,
        "front_ends": live.front_ends,
        "model": live.model,
        "mode": live.mode,
        "tokens": live.tokens,
        "waiting_since": live.waiting_since,
        "questions": questions,
    }


def _format_cost(cost: float | None) -> str:
    if cost is None:
        return "?"
    if not cost:
        return _("free")
    return "<$0.01" if cost < _CENT else f"${cost:.2f}"


def _short_ids(ids: list[str]) -> list[str]:
    """The beginnings of the ids that tell them apart."""
    length = next((size for size in range(_ID_LENGTH, 40) if len({each[:size] for each in ids}) == len({*ids})), None)
    return [each[:length] for each in ids]
