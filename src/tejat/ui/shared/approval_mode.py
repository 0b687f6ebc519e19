"""Labels of approval modes."""

from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import lazy, translate


def mode_label(mode: str) -> str:
    """Return the label of an approval mode for the status line, empty for the default one.

    Unknown names are returned as they are.
    """
    return translate(_LABELS.get(mode, mode))


def mode_description(mode: str) -> str:
    """Return what an approval mode does, with its name. Unknown names are returned as they are."""
    return translate(_DESCRIPTIONS.get(mode, mode))


_LABELS: dict[str, str] = {
    ApprovalMode.DEFAULT: "",
    ApprovalMode.YOLO: lazy("YOLO: no approvals"),
    ApprovalMode.AUTO_EDIT: lazy("auto-edit"),
    ApprovalMode.PLAN: lazy("plan: read-only"),
}
_DESCRIPTIONS: dict[str, str] = {
    ApprovalMode.DEFAULT: lazy("default: asks before changes"),
    ApprovalMode.YOLO: lazy("YOLO: no approvals"),
    ApprovalMode.AUTO_EDIT: lazy("auto-edit: edits files without asking"),
    ApprovalMode.PLAN: lazy("plan: read-only"),
}
