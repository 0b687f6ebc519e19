"""Telemetry: the events of a run as JSON lines in a file. Nothing is ever sent."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from tejat.app.run_config import RunConfig
from tejat.config.paths import SourceTier
from tejat.config.settings.types import TELEMETRY_WORDS, Setting, Settings
from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    Compressed,
    Noticed,
    Prompted,
    RequestFailed,
    Retrying,
    RunEnded,
    SessionStarted,
)
from tejat.core.agent.subagent_events import AgentActivity
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.text.secret_mask import mask_tokens
from tejat.core.text.switches import parse_switch
from tejat.core.tools.call_events import CallFinished, CallState
from tejat.engine.calls.secret_mask import SecretMask
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.sessions.statistics import call_decision
from tejat.workspace.files.private_files import open_private_file

_SWITCH_VARIABLES = {"enabled": "GEMINI_TELEMETRY_ENABLED", "logPrompts": "GEMINI_TELEMETRY_LOG_PROMPTS"}
_TEXT_VARIABLES = {
    "target": ("GEMINI_TELEMETRY_TARGET",),
    "otlpProtocol": ("GEMINI_TELEMETRY_OTLP_PROTOCOL",),
    "otlpEndpoint": ("GEMINI_TELEMETRY_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
    "outfile": ("GEMINI_TELEMETRY_OUTFILE",),
}


class TelemetryOptions(NamedTuple):
    """What the settings and variables ask for. `outfile` is an absolute path, None for none.

    `export` says who asks for events to be sent to a service, which is not done; None if nobody does.
    """

    outfile: str | None = None
    logs_prompts: bool = False
    export: Setting[str] | None = None


def start_telemetry(run_config: RunConfig, events: EventBus[AgentEvent]) -> tuple[str, ...]:
    """Start writing events if the settings ask for it, and return notes for the user. Raises ConfigurationError."""
    options = telemetry_options(run_config.settings, run_config.environment, run_config.roots[0])
    if options.outfile is not None:
        log = TelemetryLog(
            options.outfile,
            logs_prompts=options.logs_prompts,
            secrets=run_config.named_secrets,
            on_failure=lambda message: events.emit(Noticed(message)),
        )
        events.subscribe(log.write)
    return telemetry_notes(options)


def telemetry_options(settings: Settings, environment: Mapping[str, str], root: str) -> TelemetryOptions:
    """Resolve the settings and the variables, which take precedence. Raises ConfigurationError for a wrong variable.

    `root` is what a relative path is relative to.
    """
    values: dict[str, Setting[JsonValue]] = {}
    for given in settings.telemetry:
        values |= {name: Setting(value, given.source, given.tier) for name, value in given.value.items()}
    values |= _from_environment(environment)
    enabled = values.get("enabled")
    if enabled is None or not enabled.value:
        return TelemetryOptions()
    outfile = values.get("outfile")
    export, is_for_gcp = None, _value(values, "target") == "gcp"
    if outfile is None or is_for_gcp:
        export = _asked_by(values, "enabled", "otlpEndpoint", *(["target"] if is_for_gcp else []))
    path = None if outfile is None else os.path.join(root, os.path.expanduser(str(outfile.value)))
    return TelemetryOptions(path, logs_prompts=_value(values, "logPrompts") is True, export=export)


def telemetry_notes(options: TelemetryOptions) -> tuple[str, ...]:
    """The note for the user if an administrator asks for events to be sent."""
    if options.export is None or options.export.tier is not SourceTier.ADMIN:
        return ()
    return (_("{source} turns telemetry on, but Tejat sends none.", source=options.export.source),)


def _from_environment(environment: Mapping[str, str]) -> dict[str, Setting[JsonValue]]:
    found: dict[str, Setting[JsonValue]] = {}
    for member, name in _SWITCH_VARIABLES.items():
        switch = parse_switch(environment.get(name))
        if switch is not None:
            found[member] = Setting(switch, name, SourceTier.USER)
    for member, names in _TEXT_VARIABLES.items():
        for name in names:
            text = environment.get(name, "").strip()
            if text and member not in found:
                _check_word(name, text, TELEMETRY_WORDS.get(member))
                found[member] = Setting(text, name, SourceTier.USER)
    return found


def _check_word(name: str, text: str, words: tuple[str, ...] | None) -> None:
    if words is not None and text not in words:
        wanted = _(" or ").join(words)
        raise ConfigurationError(
            _("The environment variable {name} must be {wanted}, not {text!r}.", name=name, wanted=wanted, text=text),
            fix=("unset", name),
        )


def _value(values: Mapping[str, Setting[JsonValue]], name: str) -> JsonValue:
    found = values.get(name)
    return None if found is None else found.value


def _asked_by(values: Mapping[str, Setting[JsonValue]], *names: str) -> Setting[str] | None:
    """The source of these members, of an administrator if one of them is."""
    given = [values[name] for name in names if name in values]
    given.sort(key=lambda each: each.tier is not SourceTier.ADMIN)
    return next((Setting("", each.source, each.tier) for each in given), None)


class TelemetryLog:
    """A listener that appends a line for each event, with the names of Gemini CLI. Call `write` with every event.

    Neither arguments nor results of tools are written, and prompts only if `logs_prompts`; secrets never. `on_failure`
    gets one message if the file cannot be written; then no more is written.
    """

    def __init__(
        self,
        path: str,
        *,
        logs_prompts: bool,
        secrets: Mapping[str, str],
        on_failure: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._logs_prompts = logs_prompts
        self._mask = SecretMask(secrets)
        self._on_failure = on_failure
        self._clock = clock
        self._session_id = ""
        self._model = ""
        self._has_failed = False

    def write(self, event: AgentEvent) -> None:
        if self._has_failed:
            return
        if isinstance(event, SessionStarted):
            self._session_id, self._model = event.session_id, event.model
        described = self._describe(event)
        if described is None:
            return
        name, attributes = described
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now := self._clock())) + f".{int(now % 1 * 1000):03}Z"
        head = {"event.name": f"gemini_cli.{name}", "event.timestamp": stamp, "session.id": self._session_id}
        try:
            self._append(dump_json({**head, **attributes}) + "\n")
        except OSError as error:
            self._has_failed = True
            self._on_failure(
                _("Could not write telemetry to {path}: {why}.", path=self._path, why=error.strerror or error)
            )

    def _append(self, line: str) -> None:
        """Raises OSError."""
        descriptor = open_private_file(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, line.encode(errors="backslashreplace"))
        finally:
            with suppress(OSError):
                os.close(descriptor)

    def _describe(self, event: AgentEvent) -> tuple[str, JsonObject] | None:
        match event:
            case AgentActivity(agent_id, _, inner):
                described = self._describe(inner)
                return None if described is None else (described[0], {**described[1], "agent_id": agent_id})
            case SessionStarted(model=model):
                return "config", {"model": model}
            case Prompted(display_text=text):
                shown: JsonObject = {"prompt": self._masked(text)} if self._logs_prompts else {}
                return "user_prompt", {"prompt_length": len(text), **shown}
            case Answered():
                return "api_response", self._response(event)
            case Retrying(kind=kind, attempt=attempt, max_attempts=limit):
                return "network_retry_attempt", {
                    "model": self._model,
                    "attempt": attempt,
                    "max_attempts": limit,
                    "error_type": str(kind),
                }
            case RequestFailed(kind=kind, message=message, seconds=seconds):
                return "api_error", {
                    "model": self._model,
                    "error_type": str(kind),
                    "error": self._masked(message),
                    "duration_ms": _milliseconds(seconds),
                }
            case CallFinished():
                return "tool_call", _call(event)
            case Compressed(before=before, after=after, status=status):
                return "chat_compression", {"tokens_before": before, "tokens_after": after, "status": str(status)}
            case RunEnded(reason=reason, turns=turns, seconds=seconds):
                return "conversation_finished", {
                    "outcome": str(reason),
                    "turn_count": turns,
                    "duration_ms": _milliseconds(seconds),
                }
            case _:
                return None

    def _response(self, event: Answered) -> JsonObject:
        usage = event.answer.usage
        return {
            "model": event.answer.model or self._model,
            "purpose": event.purpose,
            "duration_ms": _milliseconds(event.seconds),
            "input_token_count": usage.prompt,
            "output_token_count": usage.output,
            "cached_content_token_count": usage.cached,
            "thoughts_token_count": usage.thoughts,
            "tool_token_count": usage.tool,
            "total_token_count": usage.total,
        }

    def _masked(self, text: str) -> str:
        return mask_tokens(self._mask.mask_text(str(text)))


def _call(event: CallFinished) -> JsonObject:
    error = event.result.error
    return {
        "function_name": event.call.name,
        "duration_ms": _milliseconds(event.seconds),
        "success": event.state is CallState.SUCCESS,
        "status": str(event.state),
        "decision": call_decision(event) or None,
        "error_type": None if error is None else str(error.type),
    }


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
