"""The model of a run: live, recorded or replayed."""

import os
import time
from collections.abc import Callable
from typing import NamedTuple

from tejat.app.run_config import RunConfig
from tejat.core.agent.options import AgentOptions
from tejat.core.model import ModelClient
from tejat.models import ModelOptions, open_model
from tejat.models.names import with_provider

DEFAULT_MODEL = "gemini-2.5-pro"


class RunModel(NamedTuple):
    """A model with the session id of its run, which is the recorded one for a replay."""

    model: ModelClient
    session_id: str
    recorded_at: float | None = None
    recording_problem: Callable[[], str | None] = lambda: None


def open_run_model(options: AgentOptions, run_config: RunConfig) -> RunModel:
    """Open the model for the options. Raises UsageError, and ModelFailure without a key for the model."""
    session_id = options.session_id or new_session_id()
    placeholders = {run_config.roots[0]: "${root}", run_config.paths.state: "${state}", current_date(): "${date}"}
    if options.replay is not None:
        from tejat.models.recording.replay import open_replay

        replay = open_replay(options.replay, placeholders=placeholders, secrets=run_config.secrets)
        began = replay.header.get("began")
        return RunModel(replay, str(replay.header.get("session")), began if isinstance(began, int | float) else 0.0)
    model = open_named_model(options.model, run_config)
    if options.record is not None:
        from tejat.models.recording.recorder import RecordingModel

        header = {"session": session_id, "began": round(time.time(), 3)}
        recording = RecordingModel(
            model, options.record, placeholders=placeholders, secrets=run_config.secrets, header=header
        )
        return RunModel(recording, session_id, recording_problem=lambda: recording.problem)
    return RunModel(model, session_id)


def open_named_model(name: str | None, run_config: RunConfig) -> ModelClient:
    """Open the model of this name, or the configured one. Raises UsageError and ModelFailure."""
    settings = run_config.settings
    if name is None:
        default = with_provider(DEFAULT_MODEL, run_config.environment)
        name = default if settings.model_name is None else settings.model_name.value
    return open_model(
        name,
        ModelOptions(
            run_config.environment,
            max_attempts=settings.max_attempts.value,
            base_url=None if settings.base_url is None else settings.base_url.value,
            root=run_config.roots[0],
        ),
    )


def new_session_id() -> str:
    """A random UUID, without the slow import of `uuid`."""
    digits = bytearray(os.urandom(16))
    digits[6] = digits[6] & 0x0F | 0x40
    digits[8] = digits[8] & 0x3F | 0x80
    text = digits.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def current_date() -> str:
    """The date in the user's time zone."""
    return time.strftime("%A, %B %d, %Y")
