"""Labels of approval modes."""

from tejat.core.i18n import _


def mode_label(mode: str) -> str:
    """Return the label of an approval mode, empty for the default one. Unknown names are returned as they are."""
    match mode:
        case "default":
            return ""
        case "yolo":
            return _("yolo: asks nothing")
        case "auto_edit":
            return _("auto_edit: edits unasked")
        case "plan":
            return _("plan: changes nothing")
        case _:
            return mode
