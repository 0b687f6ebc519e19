"""The completion script of bash."""

from collections.abc import Iterable

from tejat.cli.completion.grammar import CompletedFlag, CompletedWord, Grammar, fill_script, format_values

_SCRIPT = """\
# bash completion for tejat
_tejat() {
    local IFS=$' \\t\\n' line="${COMP_LINE:0:COMP_POINT}"
    local path="" words="" values="" flags="" previous current known count
    local -a typed
    # Words of the line, because bash would split them at the colons of model names.
    read -ra typed <<< "$line"
    [[ $line == *[[:space:]] ]] && typed+=("")
    local last=$(( ${#typed[@]} - 1 ))
    current="${typed[last]}"
    (( last > 1 )) && previous="${typed[last-1]}"
    if [[ $current == --*=* ]]; then
        previous="${current%%=*}"
        current="${current#*=}"
    fi
    # The longest known beginning of the line: a command, or a command and its action.
    for count in 2 1; do
        (( last > count )) || continue
        known="${typed[*]:1:count}"
        case "$known" in
%PATHS%        *) continue ;;
        esac
        path="$known"
        break
    done
    if [[ -z $path ]]; then
        flags="%FLAGS%"
        values=anything
        (( last == 1 )) && words="%COMMANDS%"
    fi
    case "$path:$previous" in
%VALUES%    esac
    if [[ $current == -* && $values != "!"* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$current"))
        return
    fi
    values="${values#!}"
    if [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
        return
    fi
    case "$values" in
        files) COMPREPLY=($(compgen -f -- "$current")) ;;
        directories) COMPREPLY=($(compgen -d -- "$current")) ;;
        anything) ;;
        @*)
            words="$("${typed[0]/#\\~/$HOME}" __complete "${values#@}" "$current" 2>/dev/null | cut -f1)"
            COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
        *) COMPREPLY=($(compgen -W "$values" -- "$current")) ;;
    esac
    if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}")
    fi
}
complete -o default -F _tejat tejat
"""
"""The words in capital letters between percent signs are filled in."""


def bash_script(grammar: Grammar) -> str:
    paths = [
        f'        "{" ".join(command.path)}") words="{_names(command.words)}"; '
        f'values="{format_values(command.values)}"; flags="{_spellings(command.flags)}" ;;\n'
        for command in grammar.commands
    ]
    values = [_value_cases(" ".join(command.path), command.flags) for command in grammar.commands]
    parts = {
        "PATHS": "".join(paths),
        "FLAGS": _spellings(grammar.flags),
        "COMMANDS": _names(grammar.words),
        "VALUES": "".join([_value_cases("", grammar.flags), *values]),
    }
    return fill_script(_SCRIPT, parts)


def _value_cases(path: str, flags: Iterable[CompletedFlag]) -> str:
    """A case for each flag with values. `!` marks a value that is required."""
    cases = [
        f"        {'|'.join(_quote(f'{path}:{name}') for name in flag.names)}) "
        f'words=""; values="{"" if flag.is_optional else "!"}{format_values(flag.values)}" ;;\n'
        for flag in flags
        if flag.values is not None
    ]
    return "".join(cases)


def _quote(text: str) -> str:
    return f'"{text}"'


def _spellings(flags: Iterable[CompletedFlag]) -> str:
    return " ".join(sorted(name for flag in flags for name in flag.names))


def _names(words: Iterable[CompletedWord]) -> str:
    return " ".join(word.name for word in words)
