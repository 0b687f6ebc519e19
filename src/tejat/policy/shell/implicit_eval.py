"""Implicit evaluation in bash: builtins and variables that run strings as code."""

import re
from collections.abc import Callable, Mapping, Sequence

from tejat.core.i18n import lazy
from tejat.policy.shell.words import ShellWord, word_set

# Values that are run as commands, or decide which program or library is loaded.
_COMMAND_VARIABLE = re.compile(
    r"(?:PROMPT_COMMAND|PS[0-4]|BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|BASH_ALIASES.*|BASH_CMDS.*|BASH_LOADABLES_PATH"
    r"|PATH|CDPATH|IFS|FCEDIT|SHELL|MAKEFLAGS|LD_.*|DYLD_.*|GCONV_PATH"
    r"|.*(?:PAGER|EDITOR|VISUAL|BROWSER|ASKPASS|LESSOPEN|LESSCLOSE)|LESS|GIT_.*|(?:PYTHON|PERL|RUBY|NODE|JAVA).*|RSYNC_RSH"
    r"|CVS_RSH|TAR_OPTIONS|MANOPT|RIPGREP_CONFIG_PATH|GREP_OPTIONS|ZDOTDIR|HOME|TMPDIR|XDG_.*)\Z",
    re.DOTALL,
)
_HARMLESS_SET = re.compile(r"[-+][euxvfE]*o?\Z")
_HARMLESS_SET_NAMES = word_set("pipefail errexit nounset xtrace noglob errtrace verbose")
_HARMLESS_SHOPT = word_set("nullglob globstar dotglob nocaseglob failglob inherit_errexit lastpipe nocasematch")
_ALWAYS_EVALUATING = word_set("let compgen complete compopt bind enable fc alias unalias")
_ATTRIBUTES = re.compile(r"[-+][aAfFgIlprtux]+\Z")
_ARRAY_OPTION = frozenset("aA")
_PLAIN_VALUE = re.compile(r"[^$`]*\Z")
_NUMBERS = word_set('$! "$!" $? "$?" $$ "$$" $#')
_SUBSCRIPT = re.compile(r"(?:[0-9]+|[@*]|-[0-9]+)\Z")
# Whatever is assigned to these is evaluated as arithmetic.
_INTEGER_VARIABLES = word_set(
    "BASHPID BASH_SUBSHELL EPOCHREALTIME EPOCHSECONDS EUID HISTCMD LINENO OPTIND PPID RANDOM SECONDS SRANDOM UID"
)
_ARRAY_VARIABLES = re.compile(r"BASH_\w+|COMP_WORDS|COMPREPLY|COPROC|DIRSTACK|FUNCNAME|GROUPS|MAPFILE|PIPESTATUS")
_NUMBER = re.compile(r"-?[0-9]+\Z")

Reason = str | None


def is_command_variable(name: str) -> bool:
    """Return whether the value of this variable may be run, or decide what is run."""
    return _COMMAND_VARIABLE.match(name) is not None


def is_evaluated_variable(name: str, value: str | None = None) -> bool:
    """Return whether assigning this value, None if it is not known, makes bash evaluate it."""
    return name in _INTEGER_VARIABLES and (value is None or _NUMBER.match(value) is None)


def is_harmless_subscript(text: str) -> bool:
    """Return whether a subscript is a number, `@` or `*`; all others may be evaluated."""
    return _SUBSCRIPT.match(text) is not None


def may_evaluate(name: str) -> bool:
    """Return whether commands of this name may run code that is not visible in them."""
    return name in _ALWAYS_EVALUATING or name in _CHECKS


def find_implicit_eval(words: Sequence[ShellWord]) -> Reason:
    """Return why a command may run code that is not visible in it, None if it does not."""
    if not words:
        return None
    name = words[0]
    if not name.is_literal:
        return lazy("the name of a command is computed")
    if name.value in _ALWAYS_EVALUATING and len(words) > 1:
        return lazy("{word} evaluates what it is given", word=name.value)
    check = _CHECKS.get(name.value)
    return check(words) if check else None


def _check_variable_names(words: Sequence[ShellWord]) -> Reason:
    """Check builtins whose operands are variable names."""
    for word in words[1:]:
        if word.text not in _NUMBERS and (not word.is_literal or "[" in word.value):
            return lazy("{word} may evaluate a subscript", word=words[0].value)
        if is_evaluated_variable(word.value.removeprefix("-v")) and words[0].value != "unset":
            return lazy("{word} assigns to {name}, which is evaluated", word=words[0].value, name=word.value)
    return None


def _check_mapfile(words: Sequence[ShellWord]) -> Reason:
    if any(word.value.startswith(("-C", "-c")) for word in words[1:]):
        return lazy("{word} -C runs what it is given", word=words[0].value)
    return _check_variable_names(words)


def _check_printf(words: Sequence[ShellWord]) -> Reason:
    if len(words) > 1 and (words[1].value.startswith("-v") or words[1].is_split):
        return _check_variable_names(words[:3])
    return None


def _check_declare(words: Sequence[ShellWord]) -> Reason:
    makes_arrays = any(word.value[:1] == "-" and not _ARRAY_OPTION.isdisjoint(word.value) for word in words[1:])
    for word in words[1:]:
        name, _, value = word.text.partition("=")
        if word.text[:1] in ("-", "+"):
            if not _ATTRIBUTES.match(word.value):
                return lazy(
                    "{word} {option} changes how a variable is evaluated", word=words[0].value, option=word.value
                )
        elif not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\+?", name):
            return lazy("{word} may evaluate a subscript", word=words[0].value)
        elif is_command_variable(name.removesuffix("+")):
            return lazy("{name} may be run as a command", name=name.removesuffix("+"))
        elif value and is_evaluated_variable(name.removesuffix("+"), value):
            return lazy("{word} assigns to {name}, which is evaluated", word=words[0].value, name=name)
        elif (makes_arrays or _ARRAY_VARIABLES.match(name)) and may_hold_subscripts(word):
            return lazy("{word} may evaluate a subscript", word=words[0].value)
    return None


def may_hold_subscripts(word: ShellWord) -> bool:
    """Return whether `name=value` may assign `([subscript]=value)`, also after an expansion or out of a string."""
    _, _, value = word.text.partition("=")
    if value.startswith("(") and "[" not in value:
        return False  # its expansions give elements, not subscripts
    return "[" in value or "(" in value or not _PLAIN_VALUE.match(value)


def _check_set(words: Sequence[ShellWord]) -> Reason:
    for word in words[1:]:
        if not word.is_literal:
            return lazy("set may change how the shell evaluates")
        if word.value in ("--", "-"):
            return None
        if not _HARMLESS_SET.match(word.value) and word.value not in _HARMLESS_SET_NAMES:
            return lazy("set {word} changes how the shell evaluates", word=word.value)
    return None


def _check_shopt(words: Sequence[ShellWord]) -> Reason:
    for word in words[1:]:
        if not word.is_literal or (word.value not in _HARMLESS_SHOPT and word.value not in ("-s", "-u", "-q", "-p")):
            return lazy("shopt {word} changes how the shell evaluates", word=word.value)
    return None


def _check_hash(words: Sequence[ShellWord]) -> Reason:
    is_harmless = all(word.is_literal and (word.value == "-r" or word.value[:1] != "-") for word in words[1:])
    return None if is_harmless else lazy("hash may change which program a name runs")


def _check_test(words: Sequence[ShellWord]) -> Reason:
    operands = [word for word in words[1:] if word.value != "]" or word is not words[-1]]
    if any(word.is_split and not word.is_literal for word in operands):
        return lazy("test may be given -v, which evaluates a subscript")
    tests_variable = any(word.value in ("-v", "-R") for word in operands)
    if tests_variable and any("[" in word.value for word in operands):
        return lazy("test -v evaluates a subscript")
    # The number of words decides which one is the operator.
    deciding = {0: [], 1: [], 2: operands[:1], 3: operands[1:2]}.get(len(operands), operands)
    if any(not word.is_literal for word in (operands if tests_variable else deciding)):
        return lazy("test may be given -v, which evaluates a subscript")
    return None


def _check_source(words: Sequence[ShellWord]) -> Reason:
    if len(words) > 1 and words[1].is_literal and not words[1].value.startswith(("/dev/", "/proc/", "-")):
        return None
    return lazy("{word} runs something that is computed", word=words[0].value)


_CHECKS: Mapping[str, Callable[[Sequence[ShellWord]], Reason]] = {
    **dict.fromkeys(("read", "unset", "getopts", "wait"), _check_variable_names),
    **dict.fromkeys(("mapfile", "readarray"), _check_mapfile),
    "printf": _check_printf,
    **dict.fromkeys(("declare", "typeset", "local", "export", "readonly"), _check_declare),
    "set": _check_set,
    "shopt": _check_shopt,
    "hash": _check_hash,
    **dict.fromkeys(("test", "["), _check_test),
    **dict.fromkeys(("source", "."), _check_source),
}
