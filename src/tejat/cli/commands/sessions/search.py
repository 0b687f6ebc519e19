"""`tejat sessions search`: find words in stored sessions."""

import sys
import time
from argparse import Namespace
from collections.abc import Sequence

from tejat.app.inspection.history.stored_history import StoredHistory
from tejat.app.run_config import RunConfig
from tejat.cli.messages import print_error
from tejat.core.agent.history.matches import SessionMatch, SessionMatches
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _, ngettext, translate
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_line, sanitize_text
from tejat.core.text.time_format import format_age
from tejat.ui.plain.style import Style
from tejat.ui.shared.labels.history import PLACE_LABELS

_MAX_SHOWN = 3
"""Matches of a session that are printed."""


def run(config: RunConfig, words: Sequence[str], options: Namespace) -> int:
    """Print the sessions in which all words occur, and return the exit code. Raises UsageError."""
    # A word of the command line with spaces in it was quoted there.
    text = " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)
    found = StoredHistory(config).search(text, every_project=not options.here)
    if options.json:
        print(dump_json([_to_json(each) for each in found], indent=2))
        return EXIT_OK
    count = 0
    for each in found:
        if each.problem:
            print_error(_("{session}: {problem}", session=sanitize_text(each.session_id), problem=each.problem))
        if each.matches:
            count += 1
            _print_session(each, is_first=count == 1)
    if not count:
        hint = " " + _("Without --here, all projects are searched.") if options.here else ""
        print(_("No session contains all of these words.") + hint)
    return EXIT_OK


def _print_session(found: SessionMatches, *, is_first: bool) -> None:
    style = Style(sys.stdout)
    age = format_age(time.time() - found.modified)
    title = sanitize_line(found.title) or _("(no prompt)")
    heading = "  ".join(filter(None, (sanitize_text(found.session_id), age, sanitize_line(found.root))))
    print(("" if is_first else "\n") + style.bold(heading))
    print(f"  {title}")
    for match in found.matches[:_MAX_SHOWN]:
        print(f"  {_where(match)}: {_highlight(match, style)}")
    more = found.count - min(_MAX_SHOWN, len(found.matches))
    if more:
        print("  " + ngettext("{count} more match", "{count} more matches", more))
    sys.stdout.flush()


def _where(match: SessionMatch) -> str:
    place = _("turn {turn}, {place}", turn=match.turn, place=translate(PLACE_LABELS[match.place]))
    names = [name for name in (match.tool, match.agent) if name]
    return place + (f" ({sanitize_text(', '.join(names))})" if names else "")


def _highlight(match: SessionMatch, style: Style) -> str:
    """The snippet with its words in bold. Each part is sanitized by itself, because that changes positions."""
    pieces, last = list[str](), 0
    for start, end in match.marks:
        pieces += [sanitize_line(match.snippet[last:start]), style.bold(sanitize_line(match.snippet[start:end]))]
        last = end
    return "".join([*pieces, sanitize_line(match.snippet[last:])])


def _to_json(found: SessionMatches) -> JsonObject:
    return {
        "session_id": found.session_id,
        "title": found.title,
        "project": found.root,
        "started": found.started,
        "modified": found.modified,
        "count": found.count,
        "problem": found.problem or None,
        "matches": [
            {
                "turn": match.turn,
                "place": match.place.value,
                "tool": match.tool or None,
                "agent": match.agent or None,
                "snippet": match.snippet,
                "marks": [list(mark) for mark in match.marks],
            }
            for match in found.matches
        ],
    }
