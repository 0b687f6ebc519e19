"""The completion script of fish."""

from collections.abc import Iterator

from tejat.cli.completion.grammar import CompletedCommand, CompletedFlag, Grammar, ValueKind, Values

_FUNCTIONS = """\
# fish completion for tejat
function __tejat_at
    # Whether the line begins with these words, followed by at least one more.
    set -l words (commandline -opc)
    set -e words[1]
    set -l length (count $argv)
    test (count $words) -ge $length; and test "$words[1..$length]" = "$argv"
end
function __tejat_first
    test (count (commandline -opc)) -eq (math $argv[1] + 1)
end
function __tejat_values
    tejat __complete $argv[1] (commandline -ct | string replace -r '^--[a-z-]*=' '') 2>/dev/null
end
complete -c tejat -f
"""


def fish_script(grammar: Grammar) -> str:
    names = " ".join(dict.fromkeys(command.path[0] for command in grammar.commands))
    is_run = _quote(f"not contains -- (commandline -opc)[2] {names}")
    lines = [
        f"complete -c tejat -n '__tejat_first 0' -a {_quote(word.name)} -d {_quote(word.text)}"
        for word in grammar.words
    ]
    lines += [f"complete -c tejat -n {is_run} {_flag(flag)}" for flag in grammar.flags]
    return (
        _FUNCTIONS + "\n".join([*lines, *(line for command in grammar.commands for line in _command(command))]) + "\n"
    )


def _command(command: CompletedCommand) -> Iterator[str]:
    here = f"__tejat_at {' '.join(command.path)}"
    for word in command.words:
        condition = _quote(f"{here}; and __tejat_first 1")
        yield f"complete -c tejat -n {condition} -a {_quote(word.name)} -d {_quote(word.text)}"
    if not command.words:
        yield f"complete -c tejat -n {_quote(here)} {_value_options(command.values)}"
    # The flags of an action are its own.
    actions = " ".join(word.name for word in command.words)
    condition = f"{here}; and not contains -- (commandline -opc)[3] {actions}" if actions else here
    yield from (f"complete -c tejat -n {_quote(condition)} {_flag(flag)}" for flag in command.flags)


def _flag(flag: CompletedFlag) -> str:
    words = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names]
    words.append(f"-d {_quote(flag.text)}")
    if flag.values is not None:
        words.append(("" if flag.is_optional else "-r ") + _value_options(flag.values))
    return " ".join(words)


def _value_options(values: Values) -> str:
    if not isinstance(values, ValueKind):
        return f"-f -a {_quote(' '.join(values))}"
    if values.is_dynamic:
        return f"-f -a '(__tejat_values {values})'"
    return {
        ValueKind.FILES: "-F",
        ValueKind.DIRECTORIES: "-f -a '(__fish_complete_directories)'",
    }.get(values, "-f")


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
