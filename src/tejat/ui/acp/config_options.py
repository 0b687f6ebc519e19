"""Modes and configuration options of a session, in the form of the protocol."""

from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_summary
from tejat.core.ui.client_session import ModelOption, ModeOption
from tejat.ui.acp.contract import AcpSession

MODE_OPTION = "mode"
MODEL_OPTION = "model"


def session_modes(session: AcpSession) -> JsonObject:
    """The value of `modes`: the current approval mode and those that may be chosen."""
    modes: list[JsonValue] = [
        {"id": each.mode, "name": each.name, "description": each.description} for each in _modes(session)
    ]
    return {"currentModeId": session.status.mode, "availableModes": modes}


def config_options(session: AcpSession, *, model: str | None = None) -> list[JsonValue]:
    """The value of `configOptions`. `model` is the one that the user chose for the next prompt."""
    modes: list[JsonValue] = [
        {"value": each.mode, "name": each.name, "description": each.description} for each in _modes(session)
    ]
    current = model or session.model_name
    models = [each for each in session.models() if each.name != current]
    known = [_model_value(each) for each in (ModelOption(current, _("current")), *models)]
    return [
        {
            "id": MODE_OPTION,
            "name": _("Approval mode"),
            "description": _("What runs without asking you"),
            "category": "mode",
            "type": "select",
            "currentValue": session.status.mode,
            "options": modes,
        },
        {
            "id": MODEL_OPTION,
            "name": _("Model"),
            "category": "model",
            "type": "select",
            "currentValue": current,
            "options": known,
        },
    ]


def _modes(session: AcpSession) -> list[ModeOption]:
    """The modes that may be chosen, and the current one, which a flag may have chosen."""
    modes, current = list(session.modes()), session.status.mode
    if all(each.mode != current for each in modes):
        modes.append(ModeOption(current, current, ""))
    return modes


def _model_value(model: ModelOption) -> JsonObject:
    value: JsonObject = {"value": model.name, "name": sanitize_summary(model.name)}
    return {**value, "description": sanitize_summary(model.description)} if model.description else value
