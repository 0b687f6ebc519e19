"""`--list-sessions` and `--delete-session`: what can be resumed in this directory."""

import sys
import time

from tejat.app.looking import open_sessions
from tejat.cli.run_options import RunOptions
from tejat.cli.start_failures import explain
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.visible import visible


def run_sessions(options: RunOptions) -> int:
    """Do what was asked for and return the exit code."""
    try:
        sessions = open_sessions(".")
        if options.delete_session is not None:
            deleted = sessions.delete(options.delete_session)
            print(f"Deleted session {visible(deleted.session_id)}.")
            return EXIT_OK
        found = sessions.found()
    except TejatError as error:
        print(f"tejat: {visible(str(error))}", file=sys.stderr)
        return explain(error)[1]
    if not found:
        print("There are no sessions for this project yet.")
        return EXIT_OK
    print(f"Available sessions for this project ({len(found)}):")
    for entry in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.changed))
        print(f"  {entry.number}. {visible(entry.title) or '(no prompt)'} ({when}) [{visible(entry.session_id)}]")
    return EXIT_OK
