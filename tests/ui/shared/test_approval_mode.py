"""What is said about approval modes is true."""

from tejat.ui.shared.approval_mode import default_mode_label, mode_description, mode_label


def test_the_default_mode_says_what_it_asks_about() -> None:
    assert mode_label("default") == ""
    assert default_mode_label(runs_sandboxed=False) == "asks before changes"
    assert mode_description("default") == "default: asks before changes"
    assert mode_description("default", runs_sandboxed=True) == "default: asks before edits and unsandboxed commands"


def test_other_modes() -> None:
    assert mode_description("plan", runs_sandboxed=True) == "plan: read-only"
    assert mode_label("yolo") == mode_description("yolo") == "YOLO: no approvals"
    assert mode_label("unheard-of") == "unheard-of"
