"""The difference between `/undo`, `/restore` and `/rewind`, one line each."""

from tejat.core.i18n import lazy, translate

_WAYS_BACK = {
    "undo": lazy("/undo reverts file changes and keeps the conversation."),
    "restore": lazy("/restore returns files and conversation to before a tool call."),
    "rewind": lazy("/rewind returns the conversation to before a prompt, and files if you like."),
}


def ways_back(*, besides: str = "") -> str:
    """A line for each command that goes back, without the named one."""
    return "\n".join(translate(line) for name, line in _WAYS_BACK.items() if name != besides)
