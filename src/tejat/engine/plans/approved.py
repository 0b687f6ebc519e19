"""The approved plan of a session, which outlives summaries and resumes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tejat.core.agent.session_state import PLAN_KEY, SessionState
from tejat.core.approval.modes import ApprovalMode
from tejat.core.approval.plans import parse_approved_plan
from tejat.core.messages.types import JsonValue

if TYPE_CHECKING:
    from tejat.core.approval.plans import ApprovedPlan, Plan

MAX_CARRIED_CHARACTERS = 20_000
"""A longer plan is not repeated behind a summary, only named."""


def approved_plan(state: SessionState) -> ApprovedPlan | None:
    """The approved plan of a session."""
    return parse_approved_plan(state.get(PLAN_KEY))


def remember_plan(state: SessionState, plan: Plan, mode: ApprovalMode) -> None:
    text = plan.text if len(plan.text) <= MAX_CARRIED_CHARACTERS else ""
    state.set(PLAN_KEY, {"path": plan.path, "digest": plan.digest, "mode": mode.value, "text": text})


def render_plan(value: JsonValue) -> str:
    """Return what the model is told behind a summary about the value of `plan`, empty for none."""
    plan = parse_approved_plan(value)
    if plan is None:
        return ""
    where = f"The user approved the plan in {plan.path}. Follow it strictly."
    if not plan.text:
        return f"{where} Read the file before you continue."
    return f"{where} This is the text that was approved:\n\n<approved_plan>\n{plan.text.strip()}\n</approved_plan>"
