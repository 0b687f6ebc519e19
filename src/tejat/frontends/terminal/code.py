"""Code in colours: only languages that are named, never guessed, and never at the price of the code itself."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from rich.style import Style

from tejat.frontends.terminal.flow import NO_STYLE, Line
from tejat.frontends.terminal.look import Colours, Look, Part

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LONGEST = 16_000
"""Characters that are coloured at once. Patterns of other people's making are not run over more than that."""


def code_lines(lines: Sequence[str], language: str, look: Look, *, before: Sequence[str] = ()) -> list[Line]:
    """The lines, with colours where there are any. `before` are lines above them, which tell how these are meant.

    The text is that of the lines, to the letter. They are not wrapped: whoever copies them wants them as they are.
    """
    lexer = _lexer(language.lower()) if look.colours is not Colours.NONE else None
    text = "\n".join([*before, *lines])
    if lexer is None or len(text) > LONGEST:
        return _plain(lines)
    try:
        coloured = list(_coloured_lines(lexer, text, look))
    except Exception:  # noqa: BLE001 -- a slip in one of some hundred languages costs the colours only
        return _plain(lines)
    ours = coloured[len(before) : len(before) + len(lines)]
    if ["".join(part for part, _ in line) for line in ours] != list(lines):
        return _plain(lines)
    return ours


PIECE = 24
"""Lines that are coloured together."""
_CONTEXT = 5 * PIECE


def context_of(before: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    """What the lines after these need to be coloured right: all from the start of the code, or the end of a lot."""
    every = [*before, *lines]
    if len(every) > _CONTEXT or sum(map(len, every)) > LONGEST // 2:
        every = every[-2 * PIECE :]
        while sum(map(len, every)) > LONGEST // 4:
            every = every[len(every) // 2 + 1 :]
    return tuple(every)


def source_lines(text: str, language: str, look: Look) -> Iterator[Line]:
    """All of a text of any length, which has been made safe."""
    lines = text.removesuffix("\n").split("\n")
    before: tuple[str, ...] = ()
    for start in range(0, len(lines), PIECE):
        piece = lines[start : start + PIECE]
        yield from code_lines(piece, language, look, before=before)
        before = context_of(before, piece)


def _plain(lines: Sequence[str]) -> list[Line]:
    return [[(line, NO_STYLE)] if line else [] for line in lines]


def _coloured_lines(lexer: "Lexer", text: str, look: Look) -> Iterator[Line]:
    line: Line = []
    styles: dict[tuple[str, ...], Style] = {}
    for kind, part in lexer.get_tokens(text):
        style = styles.get(kind)
        if style is None:
            style = styles[kind] = _style(tuple(kind), look)
        first, *others = part.split("\n")
        if line and line[-1][1] is style:
            line[-1] = (line[-1][0] + first, style)  # what joins two characters must not be parted from them
        elif first:
            line.append((first, style))
        for other in others:
            yield line
            line = [(other, style)] if other else []
    yield line


@cache
def _lexer(language: str) -> "Lexer | None":
    name = _OTHER_NAMES.get(language, language)
    if name not in _LANGUAGES:
        return None
    from pygments.lexers import find_lexer_class_by_name

    lexer = find_lexer_class_by_name(name)()
    lexer.stripnl = False
    return lexer


def _style(kind: tuple[str, ...], look: Look) -> Style:
    """That of the nearest kind which has one: `Literal.String.Doc` is a `Literal.String`."""
    while kind:
        name = ".".join(kind)
        if name in _PARTS:
            return look.style(_PARTS[name])
        kind = kind[:-1]
    return NO_STYLE


# Few on purpose: each change of colour is a code in the scrollback, and names and signs need none.
_PARTS = {
    "Comment": Part.QUIET,
    "Comment.Preproc": Part.KEYWORD,
    "Keyword": Part.KEYWORD,
    "Operator.Word": Part.KEYWORD,
    "Literal.String": Part.STRING,
    "Literal.Number": Part.NUMBER,
    "Keyword.Constant": Part.NUMBER,
    "Name.Function": Part.NAME,
    "Name.Class": Part.NAME,
    "Name.Decorator": Part.NAME,
    "Name.Tag": Part.NAME,
    "Generic.Inserted": Part.ADDED,
    "Generic.Deleted": Part.REMOVED,
    "Generic.Subheading": Part.HUNK,
    "Generic.Heading": Part.STRONG,
    "Generic.Prompt": Part.QUIET,
}
_OTHER_NAMES = {"jsonc": "json", "jsonl": "json", "kt": "kotlin", "patch": "diff", "svelte": "html", "svg": "xml"}
_NAMES = (
    "asm awk bash bat c c# c++ clojure cmake console cpp cs csharp css dart diff docker dockerfile elixir elm erlang"
    " f# fish fortran fsharp go golang graphql groovy haskell hcl hs html html+jinja http ini java javascript jinja js"
    " json json5 jsx julia kotlin latex less lisp lua make makefile markdown md matlab nasm nginx nix objective-c"
    " objectivec ocaml perl php pl postgresql powershell prolog properties proto protobuf ps1 py py3 pycon pyi python"
    " python3 r rb rs rst ruby rust sass scala scheme scss sh shell sql sqlite3 swift terraform tex tf toml ts tsx"
    " typescript udiff verilog vhdl vim vue xml yaml yml zig zsh"
)
_LANGUAGES = frozenset(_NAMES.split())
