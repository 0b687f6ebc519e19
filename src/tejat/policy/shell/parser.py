"""Parser for shell command lines."""

from tejat.core.i18n import lazy
from tejat.policy.shell.command_line import CommandLine
from tejat.policy.shell.grammar import MAX_LINE_BYTES
from tejat.policy.shell.plain import REDIRECTS, PlainLine, parse_plain_line
from tejat.policy.shell.walker import LineAnalysis
from tejat.policy.shell.wrappers import base_name


def parse_command_line(text: str) -> CommandLine:
    """Parse a line. Never raises: a line that cannot be parsed is opaque.

    A line that is plain apart from redirections to or from files has `REDIRECTS` as its only doubt.
    """
    if len(text) > MAX_LINE_BYTES:
        return _opaque_line(text, lazy("it is too long to parse"))
    try:
        return _parse(text)
    except (RecursionError, ValueError, MemoryError) as failure:
        return _opaque_line(text, lazy("it cannot be analysed ({kind})", kind=type(failure).__name__))


def _opaque_line(text: str, doubt: str) -> CommandLine:
    return CommandLine(text, (), (), is_plain=False, is_opaque=True, doubts=(doubt,), program_names=())


def _parse(text: str) -> CommandLine:
    analysis = LineAnalysis()
    analysis.analyze(text)
    plain = parse_plain_line(text)
    doubts = _collect_doubts(plain, analysis)
    return CommandLine(
        text=text,
        commands=tuple(analysis.commands),
        redirections=tuple(analysis.redirections),
        is_plain=not doubts,
        is_opaque=analysis.is_opaque,
        doubts=tuple(dict.fromkeys(doubts)),
        program_names=tuple(dict.fromkeys(base_name(command.name) for command in analysis.commands if command.name)),
    )


def _collect_doubts(plain: PlainLine | str, analysis: LineAnalysis) -> list[str]:
    if isinstance(plain, str):
        return [plain, *analysis.doubts]
    if not _parsers_agree(plain, analysis):
        return [lazy("it can be parsed in two ways"), *analysis.doubts]
    return [REDIRECTS, *analysis.doubts] if plain.targets else list(analysis.doubts)


def _parsers_agree(plain: PlainLine, analysis: LineAnalysis) -> bool:
    outermost = tuple(command.words for command in analysis.commands if not command.wrappers)
    files = tuple(redirection.target for redirection in analysis.redirections if not redirection.is_harmless)
    return outermost == plain.commands and files == plain.targets
