"""`--list-sessions` and `--delete-session`: what can be resumed in this directory."""

import sys
import time

from tejat.app.looking import open_sessions
from tejat.cli.run_options import RunOptions
from tejat.cli.start_failures import explain
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.visible import visible
from tejat.core.words import say, translated


def run_sessions(options: RunOptions) -> int:
    """Do what was asked for and return the exit code."""
    try:
        sessions = open_sessions(".")
        if options.delete_session is not None:
            deleted = sessions.delete(options.delete_session)
            print(say("Deleted session {session}.", session=visible(deleted.session_id)))
            return EXIT_OK
        found = sessions.found()
    except TejatError as error:
        print(f"tejat: {visible(translated(error))}", file=sys.stderr)
        return explain(error)[1]
    if not found:
        print(say("There are no sessions for this project yet."))
        return EXIT_OK
    print(say("Available sessions for this project ({count}):", count=len(found)))
    for entry in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.changed))
        title = visible(entry.title) or say("(no prompt)")
        print(f"  {entry.number}. {title} ({when}) [{visible(entry.session_id)}]")
    return EXIT_OK
