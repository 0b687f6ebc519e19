"""Labels of approval modes."""

from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import _, lazy, translate


def mode_label(mode: str) -> str:
    """Return the label of an approval mode for the status line, empty for the default one.

    Unknown names are returned as they are.
    """
    return translate(_LABELS.get(mode, mode))


def default_mode_label(*, runs_sandboxed: bool) -> str:
    """Return what the default mode asks about. With `runs_sandboxed` some sandboxed commands run without asking."""
    return _("asks before edits and unsandboxed commands") if runs_sandboxed else _("asks before changes")


def mode_description(mode: str, *, runs_sandboxed: bool = False) -> str:
    """Return what an approval mode does, as a sentence. Unknown names are returned as they are."""
    if mode == ApprovalMode.DEFAULT:
        return _("Default mode: {what}.", what=default_mode_label(runs_sandboxed=runs_sandboxed))
    return translate(_DESCRIPTIONS.get(mode, mode))


_LABELS: dict[str, str] = {
    ApprovalMode.DEFAULT: "",
    ApprovalMode.YOLO: lazy("YOLO: no approvals"),
    ApprovalMode.AUTO_EDIT: lazy("auto-edit"),
    ApprovalMode.PLAN: lazy("plan: read-only"),
}
_DESCRIPTIONS: dict[str, str] = {
    ApprovalMode.YOLO: lazy("Everything runs without asking."),
    ApprovalMode.AUTO_EDIT: lazy("Edits run without asking, commands still ask."),
    ApprovalMode.PLAN: lazy("Read-only: nothing is changed."),
}
