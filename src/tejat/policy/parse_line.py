"""A shell line is taken apart: every command in it, however deep, and whether all of it is to be seen."""

from tejat.core.words import phrase
from tejat.policy.command_line import Command, CommandLine
from tejat.policy.line_reading import LineReading
from tejat.policy.plain_line import REDIRECTS, PlainLine, read_plain_line
from tejat.policy.syntax_tree import LONGEST_LINE
from tejat.policy.wrappers import base_name


def parse_line(text: str) -> CommandLine:
    """What the line is made of. Never raises: what cannot be taken apart is opaque.

    A line that is plain but for redirections to or from files has `REDIRECTS` as its only doubt.
    """
    if len(text) > LONGEST_LINE:
        return _opaque(text, phrase("it is too long to be taken apart"))
    try:
        return _parsed(text)
    except (RecursionError, ValueError, MemoryError) as failure:
        return _opaque(text, phrase("it cannot be taken apart ({kind})", kind=type(failure).__name__))


def _opaque(text: str, doubt: str) -> CommandLine:
    return CommandLine(text, (), (), is_plain=False, is_opaque=True, doubts=(doubt,), roots=())


def _parsed(text: str) -> CommandLine:
    reading = LineReading()
    reading.read(text)
    plain = read_plain_line(text)
    doubts = _doubts(plain, reading)
    return CommandLine(
        text=text,
        commands=tuple(reading.commands),
        redirections=tuple(reading.redirections),
        is_plain=not doubts,
        is_opaque=reading.is_opaque,
        doubts=tuple(dict.fromkeys(doubts)),
        roots=tuple(dict.fromkeys(base_name(command.name) for command in reading.commands if command.name)),
    )


def _doubts(plain: PlainLine | str, reading: LineReading) -> list[str]:
    if isinstance(plain, str):
        return [plain, *reading.doubts]
    if not _agree(plain, reading):
        return [phrase("two ways of reading it disagree"), *reading.doubts]
    return [REDIRECTS, *reading.doubts] if plain.targets else list(reading.doubts)


def _agree(plain: PlainLine, reading: LineReading) -> bool:
    outermost = tuple(command.words for command in reading.commands if _is_outermost(command))
    files = tuple(redirection.target for redirection in reading.redirections if not redirection.is_harmless)
    return outermost == plain.commands and files == plain.targets


def _is_outermost(command: Command) -> bool:
    return not command.via
