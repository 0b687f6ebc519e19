"""`--list-sessions` and `--delete-session`."""

from tejat.app.inspection import open_sessions
from tejat.cli.args import RunOptions
from tejat.cli.messages import print_error
from tejat.core.errors import TejatError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text
from tejat.core.text.time_format import format_time
from tejat.ui.shared.exit_status import classify_error


def run_sessions(options: RunOptions) -> int:
    """List or delete sessions and return the exit code."""
    try:
        sessions = open_sessions(".")
        if options.delete_session is not None:
            deleted = sessions.delete(options.delete_session)
            print(_("Deleted session {session}.", session=sanitize_text(deleted.session_id)))
            return EXIT_OK
        found = sessions.list_sessions()
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]
    if not found:
        print(_("There are no sessions for this project yet."))
        return EXIT_OK
    print(_("Available sessions for this project ({count}):", count=len(found)))
    for entry in found:
        when = format_time(entry.modified)
        title = sanitize_text(entry.title) or _("(no prompt)")
        print(f"  {entry.number}. {title} ({when}) [{sanitize_text(entry.session_id)}]")
    return EXIT_OK
