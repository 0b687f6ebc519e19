"""The transcript of a run: its conversation as Markdown, with secrets masked."""

from tejat.app.inspection.session_export import export_session
from tejat.app.inspection.stored_sessions import StoredSessions
from tejat.app.run_config import RunConfig
from tejat.batch.runner.records import write_plain_file
from tejat.core.errors import UsageError
from tejat.core.log import report_unexpected
from tejat.ui.shared.text.sanitizer import make_terminal_safe


def write_transcript(run_config: RunConfig, path: str) -> None:
    """Write the conversation of the last session. Without a session nothing is written. Raises nothing."""
    try:
        text = _render(run_config)
        if text:
            write_plain_file(path, text)
    except (OSError, UsageError):
        return
    except Exception as error:  # noqa: BLE001 -- the result of the run must not depend on it
        report_unexpected(error, "a transcript")


def _render(run_config: RunConfig) -> str:
    """Raises UsageError."""
    sessions = StoredSessions(run_config)
    found = sessions.own_sessions()
    if not found:
        return ""
    summary = found[-1]
    exported = export_session(sessions.with_figures(summary), sessions.load(summary), run_config.named_secrets)
    # Tabs are part of code.
    return "\t".join(map(make_terminal_safe, exported.to_markdown().split("\t")))
