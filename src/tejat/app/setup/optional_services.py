"""Services of a session that few runs need, each imported when it is used."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.core.agent.events import AgentEvent, Noticed, Severity
from tejat.core.messages.history import Message
from tejat.engine.sessions.event_bus import EventBus

if TYPE_CHECKING:
    from tejat.app.session.job_watch import JobWatch
    from tejat.app.session.manager import SessionManager


def log_events(events: EventBus[AgentEvent]) -> None:
    """Log the events of a session."""
    from tejat.app.diagnostics.log_file import log_event

    events.subscribe(log_event)


def start_telemetry(run_config: RunConfig, events: EventBus[AgentEvent]) -> tuple[str, ...]:
    """See `telemetry.start_telemetry`."""
    is_wanted = run_config.settings.telemetry or any(
        name.startswith("GEMINI_TELEMETRY_") for name in run_config.environment
    )
    if not is_wanted:
        return ()
    from tejat.app.diagnostics import telemetry

    return telemetry.start_telemetry(run_config, events)


def place_warnings(run_config: RunConfig) -> tuple[str, ...]:
    """See `place_warnings.place_warnings`."""
    from tejat.app.setup import place_warnings as warnings

    return warnings.place_warnings(run_config)


def write_system_prompt(run_config: RunConfig, build: Callable[[], str]) -> None:
    """See `system_prompt_file.write_system_prompt`."""
    if run_config.environment.get("GEMINI_WRITE_SYSTEM_MD"):
        from tejat.app.onboarding import system_prompt_file

        system_prompt_file.write_system_prompt(run_config, build)


def watch_jobs(manager: "SessionManager") -> "JobWatch":
    """Report the ends of background commands as the settings say."""
    from tejat.app.session.job_watch import JobWatch

    def inject(message: Message, text: str) -> None:
        manager.session.add_note(message, text)

    watch = JobWatch(
        lambda line: manager.events.emit(Noticed(line, Severity.NOTE)),
        inject if manager.run_config.settings.background_completion.value == "inject" else None,
    )
    manager.toolset.services.on_background = watch.watch
    return watch
