"""Redirection targets of otherwise plain lines."""

from tejat.policy.shell.command_line import CommandLine
from tejat.policy.shell.plain import REDIRECTS


def written_targets(line: CommandLine) -> tuple[str, ...] | None:
    """Return the files that the line writes to by redirection, None if something else is not plain."""
    if line.is_plain:
        return ()
    if line.is_opaque or line.doubts != (REDIRECTS,):
        return None
    others = [redirection for redirection in line.redirections if not redirection.is_harmless]
    targets = [redirection.target for redirection in others if redirection.writes and redirection.target is not None]
    return tuple(targets) if len(targets) == len(others) else None
