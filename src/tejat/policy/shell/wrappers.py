"""Commands that run other commands: `sudo`, `env`, `xargs`, `bash -c`, `find -exec` and others."""

import re
from collections.abc import Callable, Mapping
from itertools import pairwise, zip_longest

from tejat.core.i18n import lazy
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.shell.words import ShellWord, literal_word, word_set
from tejat.policy.shell.wrapper_options import (
    ASSIGNMENT,
    COMMAND_OPTIONS,
    DYNAMIC_LINKER,
    LINKER_SYNTAX,
    NO_OPTIONS,
    SHELLS,
    WRAPPERS,
    ShellWords,
    WrappedCommands,
    WrapperSyntax,
    computed_reason,
)


def command_names(command: ShellCommand) -> tuple[str, ...]:
    """Return the names that a rule may use for the command: as written and, for a path, its base name."""
    name = command.name
    base = base_name(name)
    return (name,) if base == name else (name, base)


def base_name(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2] or name if "/" in name else name


def is_wrapper(name: str) -> bool:
    """Return whether it is known what a program of this name runs."""
    return name in _UNWRAPPERS or name in SHELLS or name in COMMAND_OPTIONS or name in WRAPPERS


def unwrap_command(words: ShellWords) -> WrappedCommands | None:
    """Return what the command runs besides itself, None if it is not known to run anything."""
    if not words or not words[0].is_literal:
        return None
    name = base_name(words[0].value)
    special = _UNWRAPPERS.get(name)
    if special is not None:
        return special(words)
    if name in SHELLS:
        return _unwrap_shell(words)
    if name in COMMAND_OPTIONS:
        return _commands_in_options(words, COMMAND_OPTIONS[name])
    if DYNAMIC_LINKER.match(name):
        return LINKER_SYNTAX.unwrap(words)
    prefix = WRAPPERS.get(name)
    return None if prefix is None else prefix.unwrap(words)


# Stands for words that a program adds itself. It has no text, so it is not shown.
_ADDED = ShellWord(text="", value="", is_literal=False, is_unquoted=False, is_split=True)


_SETTING = re.compile(r"[A-Za-z]+=")
_BEFORE_COMMAND = re.compile(r"\A(?:(?:ProxyCommand|LocalCommand|KnownHostsCommand|exec)[= ]|[|!])\s*", re.IGNORECASE)


def _commands_in_options(words: ShellWords, options: frozenset[str]) -> WrappedCommands:
    lines: list[ShellWord] = []
    for word, following in zip_longest(words[1:], words[2:]):
        name, equals, _ = word.value.partition("=")
        if name in options and equals:
            lines.append(_after_equals(word))
        elif word.value in options and following is not None:
            lines.append(following)
        else:
            short = next((option for option in options if len(option) == 2 and word.value.startswith(option)), None)
            if short and not word.value.startswith("--"):
                lines.append(_drop_characters(word, 2))
    return _wrap_lines(words[0], lines)


def _after_equals(word: ShellWord) -> ShellWord:
    return _drop_characters(word, word.value.find("=") + 1)


def _drop_characters(word: ShellWord, start: int) -> ShellWord:
    """Return the word without its first characters."""
    if word.is_literal:
        return literal_word(word.value[start:])
    return ShellWord(text=word.value[start:], value=word.value[start:], is_literal=False, is_unquoted=False)


def _wrap_lines(name: ShellWord, lines: ShellWords) -> WrappedCommands:
    texts = (_BEFORE_COMMAND.sub("", _readable_text(line), count=1) for line in lines)
    return WrappedCommands(lines=tuple(texts), opaque_reason=computed_reason(name, lines))


def _readable_text(word: ShellWord) -> str:
    """Return the value, or the visible part of a computed string."""
    if not word.is_literal and len(word.text) > 1 and word.text[0] == word.text[-1] == '"':
        return word.text[1:-1]
    return word.value


def _join_words(name: ShellWord, words: ShellWords) -> WrappedCommands:
    if not words:
        return WrappedCommands()
    return WrappedCommands(lines=(_join_texts(words),), opaque_reason=computed_reason(name, words))


def _join_texts(words: ShellWords) -> str:
    return " ".join(map(_readable_text, words))


def _unwrap_shell(words: ShellWords) -> WrappedCommands:
    """Unwrap bash and other shells: `-c LINE` in all spellings, a script, or stdin."""
    takes_line = False
    started: list[ShellWord] = []
    at = 1
    while at < len(words) and words[at].is_literal and words[at].value[:1] in ("-", "+") and words[at].value:
        value = words[at].value
        if value in ("--version", "--help"):
            return WrappedCommands()
        at += 1
        if value in ("--", "-"):
            break
        if value.startswith("--"):
            takes_line = takes_line or value == "--command"
            if value in ("--rcfile", "--init-file"):
                started += words[at : at + 1]
                at += 1
            continue
        takes_line = takes_line or (value[0] == "-" and "c" in value)
        at += value[-1] in "oO"
    if at >= len(words) or not all(map(_is_script, started)):
        return _unwrap_stdin_reader(words)
    start_files = WrappedCommands(tuple((word,) for word in started))
    operand = words[at]
    if takes_line:
        return _merge(start_files, _wrap_lines(words[0], [operand]))
    reads_input = any(re.match(r"-(?!-).*s", word.value, re.DOTALL) for word in words[1:at])
    if reads_input or not _is_script(operand):
        return _unwrap_stdin_reader(words)
    return _merge(start_files, WrappedCommands((tuple(words[at:]),)))


def _is_script(word: ShellWord) -> bool:
    """Return whether a word names a file, and not something computed or read."""
    return word.is_literal and not word.value.startswith(("/dev/", "/proc/"))


def _unwrap_env(words: ShellWords) -> WrappedCommands:
    for index, word in enumerate(words[1:], start=1):
        split = re.match(r"-[A-Za-z0]*?S|--split-string(?:=|\Z)", word.value)
        if split and word.value[: split.end()] not in ("-uS", "-CS"):
            rest = [_drop_characters(word, split.end())] if split.end() < len(word.value) else []
            line = _join_words(words[0], [*rest, *words[index + 1 :]])
            again = "".join(f" {text}" for text in line.lines)
            return WrappedCommands(lines=(f"env{again}",), opaque_reason=line.opaque_reason)
        if word.is_literal and not word.value.startswith("-") and not ASSIGNMENT.match(word.value):
            break
    long, flags = word_set("--unset --chdir"), word_set("--ignore-environment")
    return WrapperSyntax("uC", long_options=long, long_flags=flags, allows_assignments=True).unwrap(words)


def _unwrap_command_builtin(words: ShellWords) -> WrappedCommands | None:
    """Unwrap `command`; `command -v NAME` only looks."""
    if len(words) > 1 and re.fullmatch(r"-p?[vV]+", words[1].value):
        return None
    return NO_OPTIONS.unwrap(words)


def _unwrap_eval(words: ShellWords) -> WrappedCommands:
    return _join_words(words[0], words[2:] if len(words) > 1 and words[1].value == "--" else words[1:])


def _unwrap_trap(words: ShellWords) -> WrappedCommands:
    operands = words[2:] if len(words) > 1 and words[1].value == "--" else words[1:]
    if not operands or operands[0].value in ("-", "-l", "-p", "-P"):
        return WrappedCommands()
    return _wrap_lines(words[0], operands[:1])


def _unwrap_xargs(words: ShellWords) -> WrappedCommands:
    long = word_set("--arg-file --delimiter --max-args --max-lines --max-procs --max-chars --process-slot-var")
    flags = word_set("--null --no-run-if-empty --interactive --verbose --exit --open-tty --replace --eof")
    inner = WrapperSyntax("adEILnPsJRS", long_options=long, long_flags=flags).unwrap(words)
    replaced = re.search(r"(?:-[0A-Za-z]*[IiJ]|--replace=)[\0 ]*([^\0]*)", "\0".join(word.value for word in words))
    return _with_added_words(inner, (replaced[1] if replaced else "") or "{}")


def _with_added_words(inner: WrappedCommands, replaced: str) -> WrappedCommands:
    """Add unknown words to the wrapped commands, at the end or in place of `replaced`."""
    commands = tuple((*(_mark_computed(word, replaced) for word in command), _ADDED) for command in inner.commands)
    return WrappedCommands(commands, inner.lines, inner.opaque_reason)


def _mark_computed(word: ShellWord, replaced: str) -> ShellWord:
    if replaced not in word.value:
        return word
    return ShellWord(text=word.text, value=word.value, is_literal=False, is_unquoted=False)


def _unwrap_parallel(words: ShellWords) -> WrappedCommands:
    end = next((index for index, word in enumerate(words) if word.value.startswith(":::")), len(words))
    long = word_set("--jobs --arg-file --colsep --delay --joblog --results --timeout --sshlogin")
    inner = _with_added_words(WrapperSyntax("jaNnSILsdDXmk", long_options=long).unwrap(words[:end]), "{")
    lines = tuple(_join_texts([word for word in command if word.text]) for command in inner.commands)
    reason = None if lines else lazy("{word} runs its input", word="parallel")
    return WrappedCommands(inner.commands, lines, inner.opaque_reason or reason)


def _unwrap_find(words: ShellWords) -> WrappedCommands:
    commands: list[tuple[ShellWord, ...]] = []
    for index, word in enumerate(words):
        if word.value in ("-exec", "-execdir", "-ok", "-okdir"):
            rest = words[index + 1 :]
            length = next((at for at, end in enumerate(rest) if end.value in (";", "+")), len(rest))
            commands.append(tuple(_mark_computed(part, "{}") for part in rest[:length]))
    is_hidden = any(word.is_split and not word.is_literal and word.text.startswith(("$", "`")) for word in words[1:])
    reason = lazy("{word} may run something that is computed", word="find") if is_hidden else None
    return WrappedCommands(tuple(commands), opaque_reason=reason)


def _unwrap_fd(words: ShellWords) -> WrappedCommands:
    for index, word in enumerate(words):
        if word.value in ("-x", "-X", "--exec", "--exec-batch"):
            return _with_added_words(WrappedCommands((tuple(words[index + 1 :]),)), "{")
    return WrappedCommands()


def _unwrap_ssh(words: ShellWords) -> WrappedCommands:
    remote = WrapperSyntax("BbcDEeFIiJLlmOopQRSWw", operand_count=1).unwrap(words)
    lines = [_join_texts(command) for command in remote.commands]
    settings = _commands_in_options(words, word_set("-o"))
    lines += [line for line in settings.lines if not _SETTING.match(line)]
    return WrappedCommands(lines=tuple(lines), opaque_reason=remote.opaque_reason or settings.opaque_reason)


def _unwrap_line_option(words: ShellWords) -> WrappedCommands:
    """Unwrap su, script, runuser and flock: `-c LINE` or `--command LINE`, for some also a command as words."""
    name = base_name(words[0].value)
    line = _line_in_option(words)
    syntax = _COMMAND_OR_LINE.get(name)
    if syntax is not None:
        # The option may belong to the command.
        return _merge(line or WrappedCommands(), syntax.unwrap(words))
    return line or WrappedCommands(opaque_reason=lazy("{word} runs its input", word=name))


_COMMAND_OR_LINE: Mapping[str, WrapperSyntax] = {
    "flock": WrapperSyntax("wE", long_options=word_set("--timeout --wait --conflict-exit-code"), operand_count=1),
    "runuser": WrapperSyntax("ugG", long_options=word_set("--user --group")),
}


def _line_in_option(words: ShellWords) -> WrappedCommands | None:
    for index, word in enumerate(words):
        value = word.value
        if value.startswith(("--command=", "--session-command=")):
            return _wrap_lines(words[0], [_after_equals(word)])
        if value in ("--command", "--session-command") or re.fullmatch(r"-[A-Za-z]*c", value):
            return _wrap_lines(words[0], words[index + 1 : index + 2])
        if re.match(r"-c(?=[^c])", value):
            return _wrap_lines(words[0], [_drop_characters(word, 2)])
    return None


def _unwrap_group_shell(words: ShellWords) -> WrappedCommands:
    """Unwrap `sg GROUP -c LINE`."""
    lines = [word for word in words[2:] if word.value != "-c"]
    return _wrap_lines(words[0], lines) if lines else _unwrap_stdin_reader(words)


def _unwrap_lines(words: ShellWords) -> WrappedCommands:
    """Unwrap programs whose operands are lines."""
    lines = _wrap_lines(words[0], [word for word in words[1:] if not word.value.startswith("-")])
    return _merge(lines, _commands_in_options(words, COMMAND_OPTIONS.get(base_name(words[0].value), frozenset())))


def _unwrap_watch(words: ShellWords) -> WrappedCommands:
    flags = word_set("--differences --exec --color --no-title")
    inner = WrapperSyntax("nq", long_options=word_set("--interval"), long_flags=flags).unwrap(words)
    return WrappedCommands(lines=tuple(map(_join_texts, inner.commands)), opaque_reason=inner.opaque_reason)


def _unwrap_container(words: ShellWords) -> WrappedCommands | None:
    """Unwrap docker, podman and kubectl, if the command can be told from their own options."""
    for at, word in enumerate(words):
        if at and (word.value == "--" or base_name(word.value) in SHELLS):
            return WrappedCommands((tuple(words[at + 1 if word.value == "--" else at :]),))
    return None


def _unwrap_bwrap(words: ShellWords) -> WrappedCommands:
    """Unwrap bwrap, whose options take up to two values: every word that may begin the command is included."""
    return WrappedCommands(
        tuple(
            tuple(words[start:])
            for start, word in enumerate(words)
            if start and (word.value.startswith(("/", ".")) or (word.is_literal and not word.value.startswith("-")))
        )
    )


def _unwrap_stdin_reader(words: ShellWords) -> WrappedCommands:
    return WrappedCommands(opaque_reason=lazy("{word} runs its input", word=words[0].value))


def _unwrap_runner(words: ShellWords) -> WrappedCommands | None:
    """Unwrap `uv run X`, `poetry run X`, `bundle exec X`, `npm exec X`, `direnv exec DIR X`, `conda run X`."""
    # `npm run` takes the name of a script, not a command.
    name = base_name(words[0].value)
    verbs = ("exec", "x", "dlx") if name in ("npm", "pnpm", "yarn") else ("run", "exec")
    at = next((index for index, word in enumerate(words) if word.value in verbs), 0)
    if not at or at + 1 >= len(words):
        return None
    if name in ("npm", "pnpm"):
        return _unwrap_npx(words[at:])
    # Some give a single word to a shell; these two never do.
    is_line = " " in words[-1].value and name not in ("uv", "poetry")
    lines = _wrap_lines(words[0], words[-1:]) if is_line else WrappedCommands()
    return _merge(NO_OPTIONS.unwrap(words[at:]), lines)


def _unwrap_npx(words: ShellWords) -> WrappedCommands:
    """Unwrap npx and `npm exec`: a command as words, or a line in `-c` or `--call`."""
    syntax = WrapperSyntax("pcw", long_options=word_set("--package --call --workspace"))
    return _merge(syntax.unwrap(words), _commands_in_options(words, word_set("-c --call")))


def _unwrap_git(words: ShellWords) -> WrappedCommands:
    """Unwrap settings that are run (`-c alias.x=!LINE`) and subcommands that take a command."""
    settings = [
        _after_equals(following)
        for word, following in pairwise(words)
        if word.value in ("-c", "--config") and not _HARMLESS_SETTING.match(following.value)
    ]
    lines = _wrap_lines(words[0], settings)
    values = [word.value for word in words]
    commands: tuple[tuple[ShellWord, ...], ...] = ()
    if "foreach" in values:
        lines = _merge(lines, _join_words(words[0], words[values.index("foreach") + 1 :]))
    if "bisect" in values and "run" in values:
        commands = (tuple(words[values.index("run") + 1 :]),)
    given = _commands_in_options(words, _GIT_COMMAND_OPTIONS) if _GIT_RUNNERS & set(values) else WrappedCommands()
    merged = _merge(lines, given)
    return WrappedCommands(commands, merged.lines, merged.opaque_reason)


_HARMLESS_SETTING = re.compile(r"(?:color|user|advice|init|log|column|commit|i18n|pull|push|safe)\.", re.IGNORECASE)
_GIT_RUNNERS = word_set("grep rebase filter-branch difftool mergetool clone fetch pull push ls-remote archive")
_GIT_COMMAND_OPTIONS = word_set(
    """
    -x --exec --extcmd -O --open-files-in-pager --tree-filter --index-filter --msg-filter --env-filter --parent-filter
    --commit-filter --tag-name-filter --upload-pack -u --receive-pack
    """
)


def _merge(first: WrappedCommands, second: WrappedCommands) -> WrappedCommands:
    return WrappedCommands(
        first.commands + second.commands, first.lines + second.lines, first.opaque_reason or second.opaque_reason
    )


def _unwrap_windows_shell(words: ShellWords) -> WrappedCommands | None:
    for index, word in enumerate(words[1:], start=1):
        if word.value.lower() in ("/c", "/k", "-c", "-command", "/command"):
            return _join_words(words[0], words[index + 1 :])
        if re.match(r"[-/]e(?:c|nc\w*)?\Z", word.value.lower()):
            return WrappedCommands(opaque_reason=lazy("{word} runs something encoded", word=words[0].value))
    return None


_UNWRAPPERS: Mapping[str, Callable[[ShellWords], WrappedCommands | None]] = {
    "env": _unwrap_env,
    "git": _unwrap_git,
    "command": _unwrap_command_builtin,
    "eval": _unwrap_eval,
    "trap": _unwrap_trap,
    **dict.fromkeys(("source", "."), NO_OPTIONS.unwrap),  # a name without a slash is looked up on PATH
    "xargs": _unwrap_xargs,
    **dict.fromkeys(("parallel", "sem"), _unwrap_parallel),
    **dict.fromkeys(("find", "gfind"), _unwrap_find),
    **dict.fromkeys(("fd", "fdfind"), _unwrap_fd),
    "ssh": _unwrap_ssh,
    **dict.fromkeys(("su", "runuser", "script", "flock"), _unwrap_line_option),
    "sg": _unwrap_group_shell,
    **dict.fromkeys(("pee", "mispipe", "hyperfine", "concurrently"), _unwrap_lines),
    "npx": _unwrap_npx,
    "watch": _unwrap_watch,
    "bwrap": _unwrap_bwrap,
    **dict.fromkeys(("docker", "podman", "kubectl", "docker-compose", "nerdctl"), _unwrap_container),
    **dict.fromkeys(("at", "batch", "crontab", "newgrp"), _unwrap_stdin_reader),
    **dict.fromkeys(
        ("uv", "poetry", "pipenv", "bundle", "npm", "pnpm", "yarn", "conda", "direnv", "rye", "asdf"), _unwrap_runner
    ),
    **dict.fromkeys(("cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh"), _unwrap_windows_shell),
}
