"""Labels of approval modes."""

from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import lazy, translate


def mode_label(mode: str) -> str:
    """Return the label of an approval mode, empty for the default one. Unknown names are returned as they are."""
    return translate(_LABELS.get(mode, mode))


_LABELS: dict[str, str] = {
    ApprovalMode.DEFAULT: "",
    ApprovalMode.YOLO: lazy("yolo: asks nothing"),
    ApprovalMode.AUTO_EDIT: lazy("auto_edit: edits unasked"),
    ApprovalMode.PLAN: lazy("plan: changes nothing"),
}
