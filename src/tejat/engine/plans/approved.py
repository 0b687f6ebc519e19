"""The approved plan of a session, which outlives summaries and resumes."""

from collections.abc import Mapping

from tejat.core.agent.session_state import SessionState
from tejat.core.approval.modes import ApprovalMode
from tejat.core.approval.plans import Plan
from tejat.core.frozen import frozen
from tejat.core.messages.types import JsonValue

PLAN_KEY = "plan"
MAX_CARRIED_CHARACTERS = 20_000
"""A longer plan is not repeated behind a summary, only named."""


@frozen
class ApprovedPlan:
    """The path of an approved plan, and its text when it was approved, empty if that was too long to be kept."""

    path: str
    text: str


def approved_plan(state: SessionState) -> ApprovedPlan | None:
    """The approved plan of a session."""
    return _parse(state.get(PLAN_KEY))


def remember_plan(state: SessionState, plan: Plan, mode: ApprovalMode) -> None:
    text = plan.text if len(plan.text) <= MAX_CARRIED_CHARACTERS else ""
    state.set(PLAN_KEY, {"path": plan.path, "digest": plan.digest, "mode": mode.value, "text": text})


def render_plan(value: JsonValue) -> str:
    """Return what the model is told behind a summary about the value of `plan`, empty for none."""
    plan = _parse(value)
    if plan is None:
        return ""
    where = f"The user approved the plan in {plan.path}. Follow it strictly."
    if not plan.text:
        return f"{where} Read the file before you continue."
    return f"{where} This is the text that was approved:\n\n<approved_plan>\n{plan.text.strip()}\n</approved_plan>"


def _parse(value: JsonValue) -> ApprovedPlan | None:
    if not isinstance(value, Mapping):
        return None
    path, text = value.get("path"), value.get("text")
    return ApprovedPlan(path, text if isinstance(text, str) else "") if isinstance(path, str) and path else None
