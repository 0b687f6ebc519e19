"""Labels of approval modes."""

from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import _


def mode_label(mode: str) -> str:
    """Return the label of an approval mode, empty for the default one. Unknown names are returned as they are."""
    match mode:
        case ApprovalMode.DEFAULT:
            return ""
        case ApprovalMode.YOLO:
            return _("yolo: asks nothing")
        case ApprovalMode.AUTO_EDIT:
            return _("auto_edit: edits unasked")
        case ApprovalMode.PLAN:
            return _("plan: changes nothing")
        case _:
            return mode
