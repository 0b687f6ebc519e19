"""How much is done without asking, in words that nobody takes for another mode."""

from tejat.core.i18n import _


def mode_label(mode: str) -> str:
    """Empty for the usual mode. A name that nobody knows comes back as it is."""
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
