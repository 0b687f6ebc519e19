"""How much is done without asking, in words that nobody takes for another mode."""

from tejat.core.words import say


def mode_in_words(mode: str) -> str:
    """Empty for the usual mode. A name that nobody knows comes back as it is."""
    match mode:
        case "default":
            return ""
        case "yolo":
            return say("yolo: asks nothing")
        case "auto_edit":
            return say("auto_edit: edits unasked")
        case "plan":
            return say("plan: changes nothing")
        case _:
            return mode
