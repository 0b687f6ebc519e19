"""Commands that run other commands: what `sudo`, `env`, `xargs`, `bash -c`, `find -exec` and their like would run."""

import re
from collections.abc import Callable, Mapping
from itertools import pairwise, zip_longest

from tejat.core.words import phrase
from tejat.policy.command_line import Command
from tejat.policy.words import Word, literal, names
from tejat.policy.wrapper_options import (
    ASSIGNMENT,
    COMMAND_OPTIONS,
    PLAIN_PREFIX,
    PREFIXES,
    SHELLS,
    Prefix,
    Words,
    Wrapped,
)


def names_of(command: Command) -> tuple[str, ...]:
    """The names that a rule may mean the command by: the word as given and, for a path, its last part."""
    name = command.name
    base = base_name(name)
    return (name,) if base == name else (name, base)


def base_name(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2] or name


def unwrapped(words: Words) -> Wrapped | None:
    """What the command runs besides itself, None where it is not known to run anything else."""
    if not words or not words[0].is_literal:
        return None
    name = base_name(words[0].value)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words)
    if name in SHELLS:
        return _shell(words)
    if name in COMMAND_OPTIONS:
        return _options_with_commands(words, COMMAND_OPTIONS[name])
    prefix = PREFIXES.get(name)
    return None if prefix is None else prefix.wrapped(words)


# Stands for the words that a program adds by itself. It has no text, so nobody sees it.
_ADDED = Word(text="", value="", is_literal=False, is_bare=False, is_split=True)


_SETTING = re.compile(r"[A-Za-z]+=")
_BEFORE_COMMAND = re.compile(r"\A(?:(?:ProxyCommand|LocalCommand|KnownHostsCommand|exec)[= ]|[|!])\s*", re.IGNORECASE)


def _options_with_commands(words: Words, options: frozenset[str]) -> Wrapped:
    lines: list[Word] = []
    for word, following in zip_longest(words[1:], words[2:]):
        name, equals, _ = word.value.partition("=")
        if name in options and equals:
            lines.append(_after_equals(word))
        elif word.value in options and following is not None:
            lines.append(following)
        else:
            short = next((option for option in options if len(option) == 2 and word.value.startswith(option)), None)
            if short and not word.value.startswith("--"):
                lines.append(_rest(word, 2))
    return _as_lines(words[0], lines)


def _after_equals(word: Word) -> Word:
    return _rest(word, word.value.find("=") + 1)


def _rest(word: Word, start: int) -> Word:
    """The word without its first characters."""
    if word.is_literal:
        return literal(word.value[start:])
    return Word(text=word.value[start:], value=word.value[start:], is_literal=False, is_bare=False)


def _as_lines(name: Word, lines: Words) -> Wrapped:
    is_hidden = any(not line.is_literal for line in lines)
    return Wrapped(
        lines=tuple(_BEFORE_COMMAND.sub("", _shown(line), count=1) for line in lines),
        hidden=phrase("{word} runs something that is computed", word=name.value) if is_hidden else None,
    )


def _shown(word: Word) -> str:
    """The value, or for a computed string what can be seen of it."""
    if not word.is_literal and len(word.text) > 1 and word.text[0] == word.text[-1] == '"':
        return word.text[1:-1]
    return word.value


def _joined(name: Word, words: Words) -> Wrapped:
    if not words:
        return Wrapped()
    is_hidden = any(not word.is_literal for word in words)
    return Wrapped(
        lines=(" ".join(_shown(word) for word in words),),
        hidden=phrase("{word} runs something that is computed", word=name.value) if is_hidden else None,
    )


def _shell(words: Words) -> Wrapped:
    """bash and its like: `-c LINE` in all spellings, a script, or what stands on standard input."""
    takes_line = False
    at = 1
    while at < len(words) and words[at].is_literal and words[at].value[:1] in ("-", "+") and words[at].value:
        value = words[at].value
        if value in ("--version", "--help"):
            return Wrapped()
        at += 1
        if value in ("--", "-"):
            break
        if value.startswith("--"):
            takes_line = takes_line or value == "--command"
            at += value in ("--rcfile", "--init-file")
            continue
        takes_line = takes_line or (value[0] == "-" and "c" in value)
        at += value[-1] in "oO"
    if at >= len(words):
        return Wrapped(hidden=phrase("{word} runs what it reads", word=words[0].value))
    operand = words[at]
    if takes_line:
        return _as_lines(words[0], [operand])
    is_seen = operand.is_literal and not operand.value.startswith(("/dev/", "/proc/"))
    reads_input = any(
        word.value[:1] == "-" and "s" in word.value[1:] and word.value[:2] != "--" for word in words[1:at]
    )
    if reads_input or not is_seen:
        return Wrapped(hidden=phrase("{word} runs what it reads", word=words[0].value))
    return Wrapped((tuple(words[at:]),))


def _env(words: Words) -> Wrapped:
    for index, word in enumerate(words[1:], start=1):
        split = re.match(r"-[A-Za-z0]*?S|--split-string(?:=|\Z)", word.value)
        if split and word.value[: split.end()] not in ("-uS", "-CS"):
            rest = [_rest(word, split.end())] if split.end() < len(word.value) else []
            following = [*rest, *words[index + 1 :]]
            line = _joined(words[0], following)
            again = "".join(f" {text}" for text in line.lines)
            return Wrapped(lines=(f"env{again}",), hidden=line.hidden)
        if word.is_literal and not word.value.startswith("-") and not ASSIGNMENT.match(word.value):
            break
    return Prefix(
        "uC", long=names("--unset --chdir"), flags=names("--ignore-environment"), has_assignments=True
    ).wrapped(words)


def _command(words: Words) -> Wrapped | None:
    """`command -v NAME` only looks."""
    if len(words) > 1 and re.fullmatch(r"-p?[vV]+", words[1].value):
        return None
    return PLAIN_PREFIX.wrapped(words)


def _eval(words: Words) -> Wrapped:
    return _joined(words[0], words[2:] if len(words) > 1 and words[1].value == "--" else words[1:])


def _source(words: Words) -> Wrapped:
    """A file that is run in place; without a slash it is looked for where commands are."""
    return PLAIN_PREFIX.wrapped(words)


def _trap(words: Words) -> Wrapped:
    operands = words[2:] if len(words) > 1 and words[1].value == "--" else words[1:]
    if not operands or operands[0].value in ("-", "-l", "-p", "-P"):
        return Wrapped()
    return _as_lines(words[0], operands[:1])


def _xargs(words: Words) -> Wrapped:
    long = names("--arg-file --delimiter --max-args --max-lines --max-procs --max-chars --process-slot-var")
    flags = names("--null --no-run-if-empty --interactive --verbose --exit --open-tty --replace --eof")
    inner = Prefix("adEILnPsJRS", long=long, flags=flags).wrapped(words)
    replaced = re.search(r"(?:-[0A-Za-z]*[IiJ]|--replace=)[\0 ]*([^\0]*)", "\0".join(word.value for word in words))
    return _given_more(inner, (replaced[1] if replaced else "") or "{}")


def _given_more(inner: Wrapped, replaced: str) -> Wrapped:
    """The wrapped commands with words added that are not known yet, at the end or in place of `replaced`."""
    commands = tuple((*(_computed(word, replaced) for word in command), _ADDED) for command in inner.commands)
    return Wrapped(commands, inner.lines, inner.hidden)


def _computed(word: Word, replaced: str) -> Word:
    if replaced not in word.value:
        return word
    return Word(text=word.text, value=word.value, is_literal=False, is_bare=False)


def _parallel(words: Words) -> Wrapped:
    end = next((index for index, word in enumerate(words) if word.value.startswith(":::")), len(words))
    valued = Prefix(
        "jaNnSILsdDXmk", long=names("--jobs --arg-file --colsep --delay --joblog --results --timeout --sshlogin")
    )
    inner = _given_more(valued.wrapped(words[:end]), "{")
    lines = tuple(" ".join(_shown(word) for word in command if word.text) for command in inner.commands)
    return Wrapped(
        inner.commands, lines, inner.hidden or (None if lines else phrase("{word} runs what it reads", word="parallel"))
    )


def _find(words: Words) -> Wrapped:
    commands: list[tuple[Word, ...]] = []
    for index, word in enumerate(words):
        if word.value in ("-exec", "-execdir", "-ok", "-okdir"):
            rest = words[index + 1 :]
            length = next((at for at, end in enumerate(rest) if end.value in (";", "+")), len(rest))
            commands.append(tuple(_computed(part, "{}") for part in rest[:length]))
    is_hidden = any(word.is_split and not word.is_literal and word.text.startswith(("$", "`")) for word in words[1:])
    return Wrapped(
        tuple(commands), hidden=phrase("{word} may run something that is computed", word="find") if is_hidden else None
    )


def _fd(words: Words) -> Wrapped:
    for index, word in enumerate(words):
        if word.value in ("-x", "-X", "--exec", "--exec-batch"):
            return _given_more(Wrapped((tuple(words[index + 1 :]),)), "{")
    return Wrapped()


def _ssh(words: Words) -> Wrapped:
    remote = Prefix("BbcDEeFIiJLlmOopQRSWw", operands=1).wrapped(words)
    lines = [" ".join(_shown(word) for word in command) for command in remote.commands]
    settings = _options_with_commands(words, names("-o"))
    lines += [line for line in settings.lines if not _SETTING.match(line)]
    return Wrapped(lines=tuple(lines), hidden=remote.hidden or settings.hidden)


def _with_line_option(words: Words) -> Wrapped:
    """su, script, runuser, flock: `-c LINE` or `--command LINE`, and for some of them a command as words."""
    for index, word in enumerate(words):
        value = word.value
        if value.startswith(("--command=", "--session-command=")):
            return _as_lines(words[0], [_after_equals(word)])
        if value in ("--command", "--session-command") or re.fullmatch(r"-[A-Za-z]*c", value):
            return _as_lines(words[0], words[index + 1 : index + 2])
        attached = re.match(r"-c(?=[^c])", value)
        if attached:
            return _as_lines(words[0], [_rest(word, 2)])
    name = base_name(words[0].value)
    if name == "flock":
        return Prefix("wE", long=names("--timeout --wait --conflict-exit-code"), operands=1).wrapped(words)
    if name == "runuser":
        return Prefix("ugG", long=names("--user --group")).wrapped(words)
    return Wrapped(hidden=phrase("{word} runs what it reads", word=name))


def _watch(words: Words) -> Wrapped:
    inner = Prefix("nq", long=names("--interval"), flags=names("--differences --exec --color --no-title")).wrapped(
        words
    )
    return Wrapped(
        lines=tuple(" ".join(_shown(word) for word in command) for command in inner.commands), hidden=inner.hidden
    )


def _container(words: Words) -> Wrapped | None:
    """What docker, podman and kubectl run inside, where it is told apart from their own options."""
    at = next(
        (at for at, word in enumerate(words) if at and (word.value == "--" or base_name(word.value) in SHELLS)), None
    )
    if at is None:
        return None
    return Wrapped((tuple(words[at + 1 if words[at].value == "--" else at :]),))


def _bwrap(words: Words) -> Wrapped:
    """Its options take no, one or two values: every word that may begin the command is given."""
    starts = [
        index
        for index, word in enumerate(words)
        if index and not word.value.startswith(("-", "/", ".")) and word.is_literal
    ]
    paths = [index for index, word in enumerate(words) if index and word.value.startswith(("/", "."))]
    return Wrapped(tuple(tuple(words[start:]) for start in sorted(starts + paths)))


def _reads_commands(words: Words) -> Wrapped:
    return Wrapped(hidden=phrase("{word} runs what it reads", word=words[0].value))


def _runner(words: Words) -> Wrapped | None:
    """`uv run X`, `poetry run X`, `bundle exec X`, `npm exec X`, `direnv exec DIR X`, `conda run X`."""
    # What `npm run` and its like are given is the name of a script, not a command.
    verbs = ("exec", "x", "dlx") if base_name(words[0].value) in ("npm", "pnpm", "yarn") else ("run", "exec")
    at = next((index for index, word in enumerate(words) if word.value in verbs), 0)
    if not at or at + 1 >= len(words):
        return None
    return PLAIN_PREFIX.wrapped(words[at:])


def _git(words: Words) -> Wrapped:
    """`-c alias.x=!LINE` and other settings that are run, and the subcommands that are given a command."""
    settings = [
        _after_equals(following)
        for word, following in pairwise(words)
        if word.value in ("-c", "--config") and not _HARMLESS_SETTING.match(following.value)
    ]
    lines = _as_lines(words[0], settings)
    values = [word.value for word in words]
    commands: tuple[tuple[Word, ...], ...] = ()
    if "foreach" in values:
        lines = _merged(lines, _joined(words[0], words[values.index("foreach") + 1 :]))
    if "bisect" in values and "run" in values:
        commands = (tuple(words[values.index("run") + 1 :]),)
    given = _options_with_commands(words, _GIT_COMMAND_OPTIONS) if _GIT_RUNNERS & set(values) else Wrapped()
    merged = _merged(lines, given)
    return Wrapped(commands, merged.lines, merged.hidden)


_HARMLESS_SETTING = re.compile(r"(?:color|user|advice|init|log|column|commit|i18n|pull|push|safe)\.", re.IGNORECASE)
_GIT_RUNNERS = names("grep rebase filter-branch difftool mergetool clone fetch pull push ls-remote archive")
_GIT_COMMAND_OPTIONS = names(
    """
    -x --exec --extcmd -O --open-files-in-pager --tree-filter --index-filter --msg-filter --env-filter --parent-filter
    --commit-filter --tag-name-filter --upload-pack -u --receive-pack
    """
)


def _merged(first: Wrapped, second: Wrapped) -> Wrapped:
    return Wrapped(first.commands + second.commands, first.lines + second.lines, first.hidden or second.hidden)


def _windows_shell(words: Words) -> Wrapped | None:
    for index, word in enumerate(words[1:], start=1):
        if word.value.lower() in ("/c", "/k", "-c", "-command", "/command"):
            return _joined(words[0], words[index + 1 :])
        if re.match(r"[-/]e(?:c|nc\w*)?\Z", word.value.lower()):
            return Wrapped(hidden=phrase("{word} runs something encoded", word=words[0].value))
    return None


_SPECIAL: Mapping[str, Callable[[Words], Wrapped | None]] = {
    "env": _env,
    "git": _git,
    "command": _command,
    "eval": _eval,
    "trap": _trap,
    "source": _source,
    ".": _source,
    "xargs": _xargs,
    "parallel": _parallel,
    "find": _find,
    "gfind": _find,
    "fd": _fd,
    "fdfind": _fd,
    "ssh": _ssh,
    "su": _with_line_option,
    "runuser": _with_line_option,
    "script": _with_line_option,
    "flock": _with_line_option,
    "watch": _watch,
    "bwrap": _bwrap,
    **dict.fromkeys(("docker", "podman", "kubectl", "docker-compose", "nerdctl"), _container),
    "at": _reads_commands,
    "batch": _reads_commands,
    "crontab": _reads_commands,
    **dict.fromkeys(
        ("uv", "uvx", "poetry", "pipenv", "bundle", "npm", "pnpm", "yarn", "conda", "direnv", "rye"), _runner
    ),
    **dict.fromkeys(("cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh"), _windows_shell),
}
