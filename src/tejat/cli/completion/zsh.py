"""The completion script of zsh."""

from collections.abc import Iterable

from tejat.cli.completion.grammar import CompletedFlag, CompletedWord, Grammar, fill_script, format_values

_SCRIPT = """\
#compdef tejat
# zsh completion for tejat
_tejat() {
    local -a entries flags found
    local count known line target="" values="" current="${words[CURRENT]}" previous="${words[CURRENT-1]}"
    if [[ $current == --*=* ]]; then
        previous="${current%%=*}"
        current="${current#*=}"
        compset -P '*='
    fi
    # The longest known beginning of the line: a command, or a command and its action.
    for count in 2 1; do
        (( CURRENT > count + 1 )) || continue
        known="${(j: :)words[2,count+1]}"
        case "$known" in
%PATHS%        *) continue ;;
        esac
        target="$known"
        break
    done
    if [[ -z $target ]]; then
        flags=(%FLAGS%)
        values=anything
        (( CURRENT == 2 )) && entries=(%COMMANDS%)
    fi
    (( CURRENT > 2 )) || previous=""
    case "$target:$previous" in
%VALUES%    esac
    if [[ $current == -* && $values != "!"* ]]; then
        _describe -o option flags
        return
    fi
    values="${values#!}"
    if (( $#entries )); then
        _describe command entries
        return
    fi
    case "$values" in
        files) _files ;;
        directories) _files -/ ;;
        anything) return 1 ;;
        @*)
            while IFS= read -r line; do
                found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
            done < <("${words[1]/#\\~/$HOME}" __complete "${values#@}" "$current" 2>/dev/null)
            _describe value found ;;
        *)
            found=(${=values})
            _describe value found ;;
    esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _tejat "$@"
else
    compdef _tejat tejat
fi
"""
"""The words in capital letters between percent signs are filled in."""


def zsh_script(grammar: Grammar) -> str:
    paths = [
        f"        {_quote(' '.join(command.path))}) entries=({_entries(command.words)}); "
        f"values={_quote(format_values(command.values))}; flags=({_flag_entries(command.flags)}) ;;\n"
        for command in grammar.commands
    ]
    values = [_value_cases(" ".join(command.path), command.flags) for command in grammar.commands]
    parts = {
        "PATHS": "".join(paths),
        "FLAGS": _flag_entries(grammar.flags),
        "COMMANDS": _entries(grammar.words),
        "VALUES": "".join([_value_cases("", grammar.flags), *values]),
    }
    return fill_script(_SCRIPT, parts)


def _value_cases(path: str, flags: Iterable[CompletedFlag]) -> str:
    """A case for each flag with values. `!` marks a value that is required."""
    cases = [
        f"        {'|'.join(_quote(f'{path}:{name}') for name in flag.names)}) "
        f"entries=(); values={_quote(('' if flag.is_optional else '!') + format_values(flag.values))} ;;\n"
        for flag in flags
        if flag.values is not None
    ]
    return "".join(cases)


def _entries(words: Iterable[CompletedWord]) -> str:
    return " ".join(_quote(f"{word.name}:{word.text}") for word in words)


def _flag_entries(flags: Iterable[CompletedFlag]) -> str:
    return " ".join(_quote(f"{name}:{flag.text}") for flag in flags for name in flag.names)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
