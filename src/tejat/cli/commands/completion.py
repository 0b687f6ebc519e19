"""`tejat completion`: scripts that let a shell complete commands, flags and values."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from io import StringIO

from tejat.cli.args import FORMATS
from tejat.cli.flags import FLAGS, LISTS, OPTIONAL_VALUES, SANDBOX_WORDS, SHORT_FLAGS, SINGLE_VALUES, TEXTS
from tejat.cli.messages import print_bad_usage
from tejat.cli.subcommands import ACTIONS, ALIASES, MODULES, NAMES
from tejat.core.approval.modes import ApprovalMode
from tejat.core.exit_codes import EXIT_OK
from tejat.core.frozen import frozen
from tejat.core.i18n import _

FLAG_VALUES: Mapping[str, tuple[str, ...]] = {
    "--output-format": FORMATS,
    "--approval-mode": tuple(mode.value for mode in ApprovalMode),
    "--sandbox": SANDBOX_WORDS,
    "--resume": ("latest",),
    "--extensions": ("none",),
}
FILE_FLAGS = ("--policy", "--admin-policy", "--session-file", "--record", "--replay")
DIRECTORY_FLAGS = ("--include-directories",)


def run(words: list[str]) -> int:
    """Run `tejat completion` and return the exit code."""
    match words:
        case _ if "-h" in words or "--help" in words:
            print(help_text(), end="")
        case [("bash" | "zsh" | "fish") as shell]:
            print(_WRITERS[shell](), end="")
        case _:
            return print_bad_usage(_("`tejat completion` takes bash, zsh or fish."), help_text())
    return EXIT_OK


def help_text() -> str:
    return _("""\
usage: tejat completion bash|zsh|fish

Print a script that completes the commands and flags of tejat in your shell.

  bash  tejat completion bash > ~/.local/share/bash-completion/completions/tejat
  zsh   tejat completion zsh > "${fpath[1]}/_tejat"
  fish  tejat completion fish > ~/.config/fish/completions/tejat.fish

Or load it for this shell only: source <(tejat completion bash)

options:
  -h, --help     show this help
  -v, --version  show the version
""")


@frozen
class _Command:
    """A subcommand: the words that may follow it, and the flags that its help names."""

    actions: tuple[str, ...]
    flags: tuple[str, ...]


def _commands() -> dict[str, _Command]:
    """All subcommands; the aliases complete like the names they stand for."""
    found = {name: _Command(ACTIONS.get(name, ()), tuple(_command_flags(name))) for name in NAMES}
    return found | {alias: found[name] for alias, name in ALIASES.items()}


def _command_flags(command: str) -> Iterator[str]:
    """The flags in the help of a subcommand and of its actions."""
    module, _unused, function = MODULES.get(command, "").partition(":")
    if not module or function or command == "completion":
        return
    execute: Callable[[list[str]], int] = import_module(module).run
    actions = [[], *([each] for each in ACTIONS.get(command, ()))]
    texts = [_without_examples(_output(execute, [*action, "--help"])) for action in actions]
    yield from sorted({flag for text in texts for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*\b", text)})


def _output(execute: Callable[[list[str]], int], words: list[str]) -> str:
    output = StringIO()
    with redirect_stdout(output), redirect_stderr(StringIO()), suppress(SystemExit):
        execute(words)
    return output.getvalue()


def _without_examples(text: str) -> str:
    """Help without the command lines that it mentions."""
    return re.sub("`[^`]*`", "", text)


def _run_flags() -> list[str]:
    return sorted({*FLAGS, *(f"-{letter}" for letter in SHORT_FLAGS)})


def _spellings(flag: str) -> list[str]:
    """A flag and its letters."""
    return [flag, *(f"-{letter}" for letter, name in SHORT_FLAGS.items() if name == flag)]


def _pattern(flags: Sequence[str]) -> str:
    """The flags as alternatives of a shell pattern."""
    return "|".join(spelling for flag in flags for spelling in _spellings(flag))


def _bash() -> str:
    values = "".join(
        f'        {_pattern([flag])}) COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$current")); return ;;\n'
        for flag, words in FLAG_VALUES.items()
        if flag not in OPTIONAL_VALUES
    )
    optional = "".join(
        f'        {_pattern([flag])}) words="{" ".join(FLAG_VALUES[flag])}" ;;\n'
        for flag in OPTIONAL_VALUES
        if flag in FLAG_VALUES
    )
    others = sorted((SINGLE_VALUES | TEXTS | LISTS) - {*FLAG_VALUES, *FILE_FLAGS, *DIRECTORY_FLAGS})
    commands = "".join(
        f'        {name}) words="{" ".join(command.actions)}"; flags="{" ".join(command.flags)}" ;;\n'
        for name, command in _commands().items()
    )
    return f"""\
# bash completion for tejat
_tejat() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="" words="" flags="" command="${{COMP_WORDS[1]}}"
    (( COMP_CWORD > 0 )) && previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    # Bash splits --flag=value into three words.
    [[ $previous == "=" ]] && previous="${{COMP_WORDS[COMP_CWORD-2]}}"
    [[ $current == "=" ]] && current=""
    case "$command" in
{commands}        *) command="" ;;
    esac
    if [[ -n $command && $COMP_CWORD -gt 1 ]]; then
        if [[ $current == -* ]]; then
            COMPREPLY=($(compgen -W "$flags" -- "$current"))
        elif (( COMP_CWORD == 2 )) && [[ -n $words ]]; then
            COMPREPLY=($(compgen -W "$words" -- "$current"))
        else
            COMPREPLY=($(compgen -f -- "$current"))
        fi
        return
    fi
    words=""
    case "$previous" in
{values}        {_pattern(FILE_FLAGS)}) COMPREPLY=($(compgen -f -- "$current")); return ;;
        {_pattern(DIRECTORY_FLAGS)}) COMPREPLY=($(compgen -d -- "$current")); return ;;
        {_pattern(others)}) return ;;
{optional}    esac
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "{" ".join(_run_flags())}" -- "$current"))
        return
    fi
    (( COMP_CWORD == 1 )) && words="{" ".join(NAMES)}"
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _tejat tejat
"""


def _zsh() -> str:
    commands = "".join(
        f"        {name}) actions=({' '.join(command.actions)}); flags=({' '.join(command.flags)}) ;;\n"
        for name, command in _commands().items()
    )
    values = "".join(
        f"        {_pattern([flag])}) compadd -- {' '.join(words)}; {'' if flag in OPTIONAL_VALUES else 'return '};;\n"
        for flag, words in FLAG_VALUES.items()
    )
    others = sorted((SINGLE_VALUES | TEXTS | LISTS) - {*FLAG_VALUES, *FILE_FLAGS, *DIRECTORY_FLAGS})
    return f"""\
#compdef tejat
# zsh completion for tejat
_tejat() {{
    local -a actions flags
    local command="${{words[2]}}" current="${{words[CURRENT]}}" previous="${{words[CURRENT-1]}}"
    case "$command" in
{commands}        *) command="" ;;
    esac
    if [[ -n $command && $CURRENT -gt 2 ]]; then
        if [[ $current == -* ]]; then
            compadd -- $flags
        elif (( CURRENT == 3 && $#actions )); then
            compadd -- $actions
        else
            _files
        fi
        return
    fi
    case "$previous" in
{values}        {_pattern(FILE_FLAGS)}) _files; return ;;
        {_pattern(DIRECTORY_FLAGS)}) _files -/; return ;;
        {_pattern(others)}) return ;;
    esac
    if [[ $current == -* ]]; then
        compadd -- {" ".join(_run_flags())}
    elif (( CURRENT == 2 )); then
        compadd -- {" ".join(NAMES)}
    else
        _files
    fi
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _tejat "$@"
else
    compdef _tejat tejat
fi
"""


def _fish() -> str:
    names = " ".join(dict.fromkeys([*NAMES, *ALIASES]))
    lines = [
        "# fish completion for tejat",
        "function __tejat_command",
        "    set -l words (commandline -opc)",
        f"    test (count $words) -gt 1; and contains -- $words[2] {names}; and echo $words[2]",
        "end",
        "function __tejat_using",
        "    contains -- $argv[1] (__tejat_command)",
        "end",
        f"complete -c tejat -n 'test (count (commandline -opc)) -eq 1' -f -a '{' '.join(NAMES)}'",
    ]
    lines += [_fish_flag(flag) for flag in sorted(FLAGS)]
    for name, command in _commands().items():
        condition = f"-n '__tejat_using {name}'"
        if command.actions:
            position = "-n 'test (count (commandline -opc)) -eq 2'"
            lines.append(f"complete -c tejat {condition} {position} -f -a '{' '.join(command.actions)}'")
        lines += [f"complete -c tejat {condition} -l {flag[2:]}" for flag in command.flags]
    return "\n".join(lines) + "\n"


def _fish_flag(flag: str) -> str:
    """The line for a flag of a run."""
    letters = [f"-s {spelling[1:]}" for spelling in _spellings(flag) if not spelling.startswith("--")]
    words = [f"-l {flag[2:]}", *letters]
    if flag in FLAG_VALUES:
        words.append(f"-{'f' if flag in OPTIONAL_VALUES else 'x'} -a '{' '.join(FLAG_VALUES[flag])}'")
    elif flag in FILE_FLAGS:
        words.append("-r -F")
    elif flag in DIRECTORY_FLAGS:
        words.append("-x -a '(__fish_complete_directories)'")
    elif flag in SINGLE_VALUES | TEXTS | LISTS:
        words.append("-x")
    return f"complete -c tejat -n 'test -z (__tejat_command)' {' '.join(words)}"


_WRITERS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
