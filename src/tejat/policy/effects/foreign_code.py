"""Code in other languages that a command is given in an option, or reads from its input.

No rule can see which programs such code runs. Programs in files are out of reach as well, and are not reported here.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.policy.effects.command import is_awk, is_sed, sed_scripts
from tejat.policy.shell.words import word_set
from tejat.policy.shell.wrappers import base_name

_INPUT = re.compile(r"-\Z|/dev/|/proc/")
_COMPUTED = re.compile(r"[$`*?\[{]|[<>]\(")
_INFORMATION = word_set("--version --help -V -h -version -help")
_VERSIONED = re.compile(
    r"(python|pypy|ipython|perl|ruby|irb|node|php|lua|luajit|tclsh|wish|guile|julia|octave|gdb)[0-9.-]*\Z"
)
_PERL_MODULE = re.compile(r"-[mM]-?[\w:]+(?:=[\w,:]*)?\Z")
_PYTHON_MODULE = re.compile(r"-[a-zA-Z]*m(.*)", re.DOTALL)
_CODE_MODULES = word_set("asyncio code idlelib pdb timeit")
_SQL_ESCAPE = re.compile(r"^\s*\.|\\", re.MULTILINE)
_AWK_RUNS = re.compile(r"system|extension|@|\|")
_SED_ADDRESS = r"(?:[0-9]+(?:~[0-9]+)?|\$|/(?:\\.|[^/\\\n])*/[IM]*)"
_SED_COMMAND = re.compile(
    rf"""
    [\s;]* (?:{_SED_ADDRESS} (?:\s*,\s*[+~]?{_SED_ADDRESS})?)? \s*!*\s*
    (?: [=dDgGhHnNpPxzF{{}}] | [qQlL]\s*[0-9]* | [btT:]\s*[^;\n}}]* | [aicrRwW][^\n]* | \#[^\n]*
      | (?P<kind>[sy])(?P<mark>[^\\\n\w\s])(?P<body>(?:\\.|(?!(?P=mark))[^\\\n])*(?P=mark)(?:\\.|(?!(?P=mark))[^\\\n])*)
        (?P=mark)[gpiImM0-9]*(?:w[^\n]*)?
    ) \s* (?=[;\n}}]|\Z|(?<=[{{}}]))
    """,
    re.VERBOSE,
)
_MAX_SCRIPT_LENGTH = 2_000


_Check = Callable[[Sequence[str], Sequence[str]], bool]


class _Interpreter(Frozen):
    """The options with which an interpreter still runs a file: letters without a value, and names with and without."""

    letters: str = ""
    values: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


_JAVASCRIPT = _Interpreter(
    values=word_set("-r --require -C --conditions --env-file --title"),
    names=word_set("-c --check --enable-source-maps --expose-gc --harmony --inspect --no-warnings --test --watch"),
)
_INTERPRETERS: Mapping[str, _Interpreter] = {
    **dict.fromkeys(("python", "pypy", "ipython", "bpython"), _Interpreter("bBdEIOPqRsSuvx", word_set("-W -X"))),
    "perl": _Interpreter("wWtTUXacnpsSl", word_set("-I")),
    "ruby": _Interpreter("wvnpasl", word_set("-I -r -C")),
    **dict.fromkeys(("node", "nodejs", "bun", "tsx", "ts-node", "qjs"), _JAVASCRIPT),
    "php": _Interpreter("nqCfl", word_set("-c")),
    **dict.fromkeys(("lua", "luajit"), _Interpreter("vE", word_set("-l"))),
    **dict.fromkeys(
        word_set(
            """
            R Rscript clisp dc elixir emacs erl expect ghc ghci gnuplot groovy guile iex irb jshell julia m4 maxima
            ocaml octave osascript qjs racket runghc sage sbcl scala swift tclsh wish
            """
        ),
        _Interpreter(),
    ),
}
# They take commands from their input whatever else they are given.
_COMMAND_READERS = word_set("ed ex ftp gdb lldb mail mailx sftp telnet vi vim nvim view vimdiff rvim gvim emacsclient")
_FILE_OPTIONS = word_set("-f -E -i -l -P --exec --file --include --load --makefile")


def find_foreign_code(words: Sequence[str], *, is_plain: bool) -> str | None:
    """Return why a command runs code that no rule can see, None if it does not.

    With `is_plain` no word is expanded by the shell.
    """
    name, check = _find_check(words[0] if words else "")
    if check is None or (len(words) == 2 and words[1] in _INFORMATION):
        return None
    computed = [] if is_plain else [word for word in words[1:] if _COMPUTED.search(word)]
    if check(words, computed):
        return lazy("{name} runs code from its arguments or its input", name=name)
    return None


@lru_cache(maxsize=1024)
def _find_check(word: str) -> tuple[str, _Check | None]:
    """Return the name of a program, and the check of its words if it may run such code."""
    name = _canonical_name(word)
    return name, _CHECKS.get(name, _check_script if is_awk(name) or is_sed(name) else None)


def _canonical_name(word: str) -> str:
    name = base_name(word)
    versioned = _VERSIONED.match(name)
    return versioned[1] if versioned else name


def _always(_words: Sequence[str], _computed: Sequence[str]) -> bool:
    return True


def _check_interpreter(words: Sequence[str], computed: Sequence[str]) -> bool:
    """Check that the first word besides known options is a file, or a module of python."""
    name = _canonical_name(words[0])
    interpreter = _INTERPRETERS[name]
    at = 1
    while at < len(words):
        word = words[at]
        module = _PYTHON_MODULE.match(word) if name in ("python", "pypy") else None
        if module:
            return (module[1] or "".join(words[at + 1 : at + 2])) in ("", *_CODE_MODULES)
        if not word.startswith("-") or word == "-":
            return word in computed or _INPUT.match(word) is not None
        step = _option_length(interpreter, word, name)
        if step is None:
            return True
        at += step
    return True


def _option_length(interpreter: _Interpreter, word: str, name: str) -> int | None:
    """Return how many words a known option takes, None if it is not known."""
    if word in interpreter.values:
        return 2
    option, equals, _ = word.partition("=")
    if (equals and option in interpreter.values) or word[:2] in interpreter.values:
        return 1
    is_known = option in interpreter.names or (name == "perl" and _PERL_MODULE.match(word))
    is_cluster = not word.startswith("--") and all(letter in interpreter.letters for letter in word[1:])
    return 1 if is_known or is_cluster else None


def _check_deno(words: Sequence[str], computed: Sequence[str]) -> bool:
    return len(words) == 1 or bool(computed) or not {"eval", "repl", "-"}.isdisjoint(words)


def _check_sql_client(words: Sequence[str], computed: Sequence[str]) -> bool:
    """Check for statements that are read, and for those that begin with the sign of a command of the client."""
    is_given = any(" " in word or word.startswith(("-e", "--execute", "-c", "--command", "-l")) for word in words[1:])
    return not is_given or bool(computed) or any(_SQL_ESCAPE.search(word) for word in words[1:])


def _check_make(words: Sequence[str], computed: Sequence[str]) -> bool:
    """Check for a makefile that is read from the input."""
    return any(file in computed or _INPUT.match(file) for file in _program_files(words))


def _check_script(words: Sequence[str], computed: Sequence[str]) -> bool:
    """Check awk and sed: a program that is computed or read, or that runs something itself."""
    files = _program_files(words)
    if computed or any(map(_INPUT.match, files)):
        return True
    if is_awk(base_name(words[0])):
        return any(_AWK_RUNS.search(word.replace("||", "")) for word in words[1:])
    return not all(map(_is_harmless_sed_script, sed_scripts(words, has_files=bool(files))))


def _program_files(words: Sequence[str]) -> list[str]:
    """Return the files with programs that options name. One that is missing was `-`, which the parser may drop."""
    files: list[str] = []
    for word, following in pairwise((*words, "")):
        option, equals, value = word.partition("=")
        if option in _FILE_OPTIONS:
            files.append((value if equals else following) or "-")
        elif word[:2] in _FILE_OPTIONS:
            files.append(word[2:])
    return files


def _is_harmless_sed_script(script: str) -> bool:
    """Return whether a sed script runs nothing: it has neither the command `e` nor a substitution with that flag."""
    at = 0
    while len(script) <= _MAX_SCRIPT_LENGTH:
        if not script[at:].strip(" \t\n;}"):
            return True
        command = _SED_COMMAND.match(script, at)
        if command is None or command.end() == at:
            return False
        # Sed versions differ about a delimiter in brackets.
        if command["mark"] and re.search(rf"\[[^\]]*{re.escape(command['mark'])}", command["body"]):
            return False
        at = command.end()
    return False


_CHECKS: Mapping[str, _Check] = {
    **dict.fromkeys(_INTERPRETERS, _check_interpreter),
    **dict.fromkeys((*_COMMAND_READERS, "run-parts"), _always),
    "deno": _check_deno,
    **dict.fromkeys(("sqlite3", "psql", "mysql", "mariadb", "duckdb"), _check_sql_client),
    **dict.fromkeys(("make", "gmake", "cmake"), _check_make),
}
