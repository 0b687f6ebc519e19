"""Access of the commands on sessions to the stored sessions."""

from collections.abc import Callable

from tejat.app.inspection.stored_sessions import StoredSessions
from tejat.app.run_config import RunConfig, load_run_config
from tejat.cli.messages import print_error
from tejat.core.errors import TejatError
from tejat.ui.shared.exit_status import classify_error


def run_with_sessions(work: Callable[[StoredSessions, RunConfig], int]) -> int:
    """Do the work with the stored sessions, and return the exit code."""
    try:
        config = load_run_config(["."], faults=[])
        return work(StoredSessions(config), config)
    except TejatError as error:
        print_error(error)
        return classify_error(error)[1]
