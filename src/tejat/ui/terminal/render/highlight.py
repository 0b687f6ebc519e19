"""Syntax highlighting, for named languages only and never changing the code."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from rich.style import Style

from tejat.ui.terminal.render.text_wrap import NO_STYLE, StyledLine
from tejat.ui.terminal.render.theme import ColourDepth, StyleRole, Theme

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MAX_HIGHLIGHT_CHARS = 16_000
"""Longest text that is highlighted at once, a bound for third-party regular expressions."""


def highlight_lines(
    lines: Sequence[str], language: str, theme: Theme, *, before: Sequence[str] = ()
) -> list[StyledLine]:
    """Highlight lines of code without changing or wrapping them. `before` are the lines above, for the lexer."""
    lexer = _lexer(language.lower()) if theme.colour_depth is not ColourDepth.NONE else None
    text = "\n".join([*before, *lines])
    if lexer is None or len(text) > MAX_HIGHLIGHT_CHARS:
        return _plain(lines)
    try:
        coloured = list(_highlighted_lines(lexer, text, theme))
    except Exception:  # noqa: BLE001 -- an error in a lexer costs only the colours
        return _plain(lines)
    ours = coloured[len(before) : len(before) + len(lines)]
    if ["".join(part for part, _ in line) for line in ours] != list(lines):
        return _plain(lines)
    return ours


CHUNK_LINES = 24
"""Lines that are highlighted together."""
_MAX_CONTEXT_LINES = 5 * CHUNK_LINES


def highlight_context(before: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    """Return the context for the lines that follow: everything so far, or the end of it if that is long."""
    every = [*before, *lines]
    if len(every) > _MAX_CONTEXT_LINES or sum(map(len, every)) > MAX_HIGHLIGHT_CHARS // 2:
        every = every[-2 * CHUNK_LINES :]
        while sum(map(len, every)) > MAX_HIGHLIGHT_CHARS // 4:
            every = every[len(every) // 2 + 1 :]
    return tuple(every)


def highlight_source(text: str, language: str, theme: Theme) -> Iterator[StyledLine]:
    """Highlight a sanitized text of any length."""
    lines = text.removesuffix("\n").split("\n")
    before: tuple[str, ...] = ()
    for start in range(0, len(lines), CHUNK_LINES):
        piece = lines[start : start + CHUNK_LINES]
        yield from highlight_lines(piece, language, theme, before=before)
        before = highlight_context(before, piece)


def language_of(file_name: str) -> str:
    """Return the language of a file by its name, empty if it is unknown."""
    name = file_name.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    language = _LANGUAGES_BY_NAME.get(name) or _LANGUAGES_BY_SUFFIX.get(suffix, suffix)
    return language if _LANGUAGE_ALIASES.get(language, language) in _LANGUAGES else ""


def _plain(lines: Sequence[str]) -> list[StyledLine]:
    return [[(line, NO_STYLE)] if line else [] for line in lines]


def _highlighted_lines(lexer: "Lexer", text: str, theme: Theme) -> Iterator[StyledLine]:
    line: StyledLine = []
    styles: dict[tuple[str, ...], Style] = {}
    for kind, part in lexer.get_tokens(text):
        style = styles.get(kind)
        if style is None:
            style = styles[kind] = _style(tuple(kind), theme)
        first, *others = part.split("\n")
        if line and line[-1][1] is style:
            line[-1] = (line[-1][0] + first, style)  # joiners must stay with their characters
        elif first:
            line.append((first, style))
        for other in others:
            yield line
            line = [(other, style)] if other else []
    yield line


@cache
def _lexer(language: str) -> "Lexer | None":
    name = _LANGUAGE_ALIASES.get(language, language)
    if name not in _LANGUAGES:
        return None
    from pygments.lexers import find_lexer_class_by_name

    lexer = find_lexer_class_by_name(name)()
    lexer.stripnl = False
    return lexer


def _style(kind: tuple[str, ...], theme: Theme) -> Style:
    """Return the style of the nearest token type that has one: `Literal.String.Doc` is a `Literal.String`."""
    while kind:
        name = ".".join(kind)
        if name in _ROLES:
            return theme.style(_ROLES[name])
        kind = kind[:-1]
    return NO_STYLE


# Few on purpose: each colour change is a code in the scrollback; names and punctuation need none.
_ROLES = {
    "Comment": StyleRole.COMMENT,
    "Comment.Preproc": StyleRole.KEYWORD,
    "Keyword": StyleRole.KEYWORD,
    "Keyword.Type": StyleRole.TYPE,
    "Operator.Word": StyleRole.KEYWORD,
    "Literal.String": StyleRole.STRING,
    "Literal.Number": StyleRole.NUMBER,
    "Keyword.Constant": StyleRole.NUMBER,
    "Name.Builtin": StyleRole.TYPE,
    "Name.Exception": StyleRole.TYPE,
    "Name.Function": StyleRole.NAME,
    "Name.Class": StyleRole.NAME,
    "Name.Decorator": StyleRole.NAME,
    "Name.Tag": StyleRole.NAME,
    "Generic.Inserted": StyleRole.ADDED,
    "Generic.Deleted": StyleRole.REMOVED,
    "Generic.Subheading": StyleRole.HUNK,
    "Generic.Heading": StyleRole.STRONG,
    "Generic.Prompt": StyleRole.QUIET,
}
_LANGUAGE_ALIASES = {"jsonc": "json", "jsonl": "json", "kt": "kotlin", "patch": "diff", "svelte": "html", "svg": "xml"}
_LANGUAGE_NAMES = (
    "asm awk bash bat c c# c++ clojure cmake console cpp cs csharp css dart diff docker dockerfile elixir elm erlang"
    " f# fish fortran fsharp go golang graphql groovy haskell hcl hs html html+jinja http ini java javascript jinja js"
    " json json5 jsx julia kotlin latex less lisp lua make makefile markdown md matlab nasm nginx nix objective-c"
    " objectivec ocaml perl php pl postgresql powershell prolog properties proto protobuf ps1 py py3 pycon pyi python"
    " python3 r rb rs rst ruby rust sass scala scheme scss sh shell sql sqlite3 swift terraform tex tf toml ts tsx"
    " typescript udiff verilog vhdl vim vue xml yaml yml zig zsh"
)
_LANGUAGES = frozenset(_LANGUAGE_NAMES.split())
_LANGUAGES_BY_NAME = {
    **dict.fromkeys((".bashrc", ".bash_profile", ".profile", ".zshrc", "pkgbuild"), "bash"),
    **dict.fromkeys(("cmakelists.txt",), "cmake"),
    **dict.fromkeys(("gemfile", "rakefile", "vagrantfile", "podfile"), "ruby"),
    **dict.fromkeys((".gitconfig", ".editorconfig", ".npmrc"), "ini"),
    **dict.fromkeys(("dockerfile", "containerfile"), "dockerfile"),
    **dict.fromkeys(("makefile", "gnumakefile"), "makefile"),
    **dict.fromkeys(("pipfile", "uv.lock", "poetry.lock", "cargo.lock"), "toml"),
}
_LANGUAGES_BY_SUFFIX = {
    **dict.fromkeys(("cc", "cxx", "hh", "hpp", "hxx", "ino"), "cpp"),
    **dict.fromkeys(("h",), "c"),
    **dict.fromkeys(("mjs", "cjs"), "js"),
    **dict.fromkeys(("mts", "cts"), "ts"),
    **dict.fromkeys(("pyw", "pyx", "bzl", "star"), "python"),
    **dict.fromkeys(("htm", "xhtml"), "html"),
    **dict.fromkeys(("bash", "ksh", "bats"), "bash"),
    **dict.fromkeys(("cfg", "conf", "service", "desktop"), "ini"),
    **dict.fromkeys(("ex", "exs"), "elixir"),
    **dict.fromkeys(("erl", "hrl"), "erlang"),
    **dict.fromkeys(("clj", "cljs", "cljc", "edn"), "clojure"),
    **dict.fromkeys(("ml", "mli"), "ocaml"),
    **dict.fromkeys(("fs", "fsx"), "fsharp"),
    **dict.fromkeys(("kts",), "kotlin"),
    **dict.fromkeys(("mk",), "makefile"),
    **dict.fromkeys(("gradle",), "groovy"),
    **dict.fromkeys(("jl",), "julia"),
    **dict.fromkeys(("scm",), "scheme"),
    **dict.fromkeys(("el",), "lisp"),
    **dict.fromkeys(("pm",), "perl"),
    **dict.fromkeys(("psm1",), "powershell"),
    **dict.fromkeys(("v", "sv"), "verilog"),
    **dict.fromkeys(("vhd",), "vhdl"),
    **dict.fromkeys(("markdown", "mdx"), "markdown"),
    **dict.fromkeys(("gql",), "graphql"),
    **dict.fromkeys(("tfvars",), "hcl"),
    **dict.fromkeys(("j2", "jinja2"), "html+jinja"),
}
