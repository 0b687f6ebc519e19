"""Lines that would be plain if they did not write to a file."""

import re

from tejat.policy.command_line import CommandLine, Redirection
from tejat.policy.plain_line import read_plain_line

_QUOTED_OR_REDIRECTION = re.compile(
    r"""(?P<quoted> '[^']*' | "[^"]*" )
    | (?P<redirection> (?<![^ \t]) (?:[12]?>>?|&>>?) [ \t]* (?P<target>[A-Za-z0-9_./+-]+) (?=[ \t\n;|&]|\Z) )""",
    re.VERBOSE,
)


def written_targets(line: CommandLine) -> tuple[str, ...] | None:
    """The files that the line writes to by redirection, None where there is more about it that is not plain."""
    targets: list[str] = []

    def harmless(found: re.Match[str]) -> str:
        if found["redirection"] is None or found["target"] == "/dev/null":
            return found[0]
        targets.append(found["target"])
        return ">/dev/null"

    plain = read_plain_line(_QUOTED_OR_REDIRECTION.sub(harmless, line.text))
    if isinstance(plain, str) or line.is_opaque:
        return None
    # The grammar has to see the same: the same commands, and no other file read or written.
    if [command.words for command in line.commands if not command.via] != list(plain.commands):
        return None
    others = [redirection for redirection in line.redirections if not redirection.is_harmless]
    return tuple(targets) if sorted(map(_written, others)) == sorted(targets) else None


def _written(redirection: Redirection) -> str:
    return (redirection.target or "") if redirection.writes else ""
