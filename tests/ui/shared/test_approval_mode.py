"""What is said about approval modes is true."""

from tejat.ui.shared.approval_mode import default_mode_label, mode_description, mode_label


def test_the_default_mode_says_what_it_asks_about() -> None:
    assert mode_label("default") == ""
    assert default_mode_label(runs_sandboxed=False) == "asks before changes"
    assert mode_description("default") == "Default mode: asks before changes."
    expected = "Default mode: asks before edits and unsandboxed commands."
    assert mode_description("default", runs_sandboxed=True) == expected


def test_other_modes() -> None:
    assert mode_description("plan", runs_sandboxed=True) == "Read-only: nothing is changed."
    assert (mode_label("plan"), mode_label("yolo")) == ("plan: read-only", "YOLO: no approvals")
    assert mode_label("unheard-of") == "unheard-of"
