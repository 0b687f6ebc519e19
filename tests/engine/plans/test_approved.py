from tejat.core.agent.session_state import PLAN_KEY, SessionState
from tejat.core.approval.modes import ApprovalMode
from tejat.core.approval.plans import Plan
from tejat.engine.plans.approved import MAX_CARRIED_CHARACTERS, approved_plan, remember_plan, render_plan


def test_the_text_that_was_approved_is_repeated() -> None:
    state = SessionState()
    remember_plan(state, Plan("/p/plan.md", "# Plan\n"), ApprovalMode.DEFAULT)
    kept = approved_plan(state)
    assert kept is not None
    assert (kept.path, kept.text) == ("/p/plan.md", "# Plan\n")
    text = render_plan(state.get(PLAN_KEY))
    assert "/p/plan.md" in text
    assert "<approved_plan>\n# Plan\n</approved_plan>" in text


def test_a_long_plan_is_only_named() -> None:
    state = SessionState()
    remember_plan(state, Plan("/p/plan.md", "x" * (MAX_CARRIED_CHARACTERS + 1)), ApprovalMode.DEFAULT)
    text = render_plan(state.get(PLAN_KEY))
    assert text == "The user approved the plan in /p/plan.md. Follow it strictly. Read the file before you continue."


def test_values_that_are_no_plan() -> None:
    assert [render_plan(value) for value in (None, "x", {}, {"path": 1}, {"path": ""})] == [""] * 5
