"""The difference between `/undo`, `/restore` and `/rewind`, one line each."""

from tejat.core.i18n import lazy, translate

_WAYS_BACK = {
    "undo": lazy("/undo takes back file changes; the conversation stays."),
    "restore": lazy("/restore takes files and conversation back to before a tool call."),
    "rewind": lazy("/rewind takes the conversation back to before a prompt; files if you like."),
}


def ways_back(*, besides: str = "") -> str:
    """A line for each command that goes back, without the named one."""
    return "\n".join(translate(line) for name, line in _WAYS_BACK.items() if name != besides)
