"""Programming languages by file name, and their lexers."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer


def language_of(file_name: str) -> str:
    """Return the language of a file by its name, empty if it is unknown."""
    name = file_name.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    language = _LANGUAGES_BY_NAME.get(name) or _LANGUAGES_BY_SUFFIX.get(suffix, suffix)
    return language if _LANGUAGE_ALIASES.get(language, language) in _LANGUAGES else ""


@cache
def find_lexer(language: str) -> "Lexer | None":
    """Return the lexer of a language in lower case, None if it is not one of those that are highlighted."""
    name = _LANGUAGE_ALIASES.get(language, language)
    if name not in _LANGUAGES:
        return None
    from pygments.lexers import find_lexer_class_by_name

    lexer = find_lexer_class_by_name(name)()
    lexer.stripnl = False
    return lexer


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
