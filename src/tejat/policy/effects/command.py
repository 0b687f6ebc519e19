"""Effects of a command beyond reading, derived from its words."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.policy.effects.git import git_effects
from tejat.policy.effects.tables import (
    CODE_OPTIONS,
    CODE_RUNNERS,
    DESTRUCTIVE_OPTIONS,
    DESTRUCTIVE_PROGRAMS,
    DESTRUCTIVE_SUBCOMMANDS,
    LINK_OPTIONS,
    LINK_PROGRAMS,
    PATTERN_PROGRAMS,
    READ_ONLY_PROGRAMS,
    SINGLE_DASH_PROGRAMS,
    SQL_CLIENTS,
    STOPPING_PROGRAMS,
    TEXT_PROGRAMS,
    TREE_OPTIONS,
    TREE_PROGRAMS,
    WRITE_OPTIONS,
    WRITING_PROGRAMS,
)
from tejat.policy.shell.command_line import CommandLine
from tejat.policy.shell.words import MAX_ROOTED_PARTS, find_rooted_parts
from tejat.policy.shell.wrappers import base_name

_VERSION = re.compile(r"(?:pip|python|pypy|ruby|perl|lua|php|node|clang|gcc|g\+\+)[0-9][0-9.]*\Z")
_AWK = frozenset(("awk", "gawk", "mawk", "nawk"))
_SED = frozenset(("sed", "gsed"))
_AWK_CODE = re.compile(r"system|getline|[>|@]|\bclose\b|fflush|extension|ENVIRON|ARG[VC]")
# Printing, deleting and quitting by line or pattern, and substitution without the flags e and w.
_SED_ADDRESS = r"(?:[0-9]+|\$|/(?:[^/\\\n]|\\.)*/I?)"
_SAFE_SED_SCRIPT = re.compile(
    rf"(?:(?:{_SED_ADDRESS}(?:[,~]\+?{_SED_ADDRESS})?)?\s*!?\s*"
    r"(?:[pdqDPNnhHgGx=]|s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/[gpiI0-9]*|s\|[^|\\\n]*\|[^|\\\n]*\|[gpiI0-9]*)\s*(?:;|\Z)\s*)+\Z"
)
_SED_SCRIPT = re.compile(r"(?:-(?!-)[^e]*e|--e[a-z]*=?)(?P<value>.*)", re.DOTALL)
_MAX_SCRIPT_LENGTH = 200
_MAX_CLUSTER_LENGTH = 8
_MAX_TARGETS = 10
_TARGET_OPTION = re.compile(r"-(?!-).*t|--t")
_SQL_DESTROYS = re.compile(r"\b(?:drop|truncate|delete|flushall|flushdb|dropdatabase|deletemany)\b", re.IGNORECASE)
_DATE_OPTIONS = frozenset(("-d", "--date", "-r", "--reference", "-f", "--file"))
_SCRIPT_OPTION = re.compile(r"-[a-zA-Z]*[ef]|--[efs]")
_PATTERN_OPTION = re.compile(r"-[A-Za-z]*[efg]|--(?:reg|file|type-list)")
# A word in which no part can be another path.
_WHOLE = re.compile(r"[A-Za-z0-9_./-]+\Z")
_ADDRESS = re.compile(r"(?!(?i:file):)[A-Za-z][A-Za-z0-9+.-]*://")


class CommandEffects(Frozen):
    """Effects, each worded to follow "it": `writes a file (-o)`. The same option always gives the same words.

    `is_read_only` holds for vetted commands without options that do more than read and print. `paths` are words and
    parts of words that may be paths; the caller decides. `trees` are directories that it goes through, following the
    links in them. `makes_links` means that it may create links or move some. `follows_links` is False for a command
    that never goes through a link.
    """

    writes: tuple[str, ...] = ()
    destroys: tuple[str, ...] = ()
    runs_code: tuple[str, ...] = ()
    is_read_only: bool = False
    paths: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()
    makes_links: bool = False
    follows_links: bool = True


def command_effects(words: Sequence[str]) -> CommandEffects:
    """Return the effects of a command, given its words. For an unknown program only the paths are known."""
    return _compute_effects(tuple(words)) if words else CommandEffects()


def only_reads_repositories(line: CommandLine) -> bool:
    """Return whether a line runs git, only to read, and no code that might use git for something else."""
    if line.is_opaque:
        return False
    wrapping = {name for command in line.commands for name in command.wrappers}
    names = [base_name(command.name) for command in line.commands]
    for name, command in zip(names, line.commands, strict=True):
        effects = command_effects(command.words)
        if (name == "git" and not effects.is_read_only) or (effects.runs_code and name not in wrapping):
            return False
    return "git" in names


@lru_cache(maxsize=4096)
def _compute_effects(words: tuple[str, ...]) -> CommandEffects:
    """Compute the effects; cached, because every rule needs them for every command."""
    program = _find_program(words[0])
    name = program.name
    # A name with a dash would itself be read as an option.
    runs_script = program.has_script and (words[0].startswith("-") or _runs_its_program(name, words))
    paths = tuple(dict.fromkeys(_paths(name, words[1:], runs_script=runs_script)))
    if name == "git":
        git = git_effects(words)
        return CommandEffects(
            git.writes,
            git.destroys,
            git.runs_code,
            git.is_read_only,
            (*paths, *git.paths),
            makes_links=git.makes_links,
            follows_links=git.follows_links,
        )
    of_options = _NO_OPTION_EFFECTS
    if program.has_options and (options := _possible_options(program, words)):
        of_options = _find_option_effects(program.kind, options)
    writes = program.writes + of_options.writes
    destroys = program.destroys + of_options.destroys
    runs = program.runs_code + of_options.runs_code
    if program.has_special_words:
        deleting = [word for word in words[1:] if word in DESTRUCTIVE_SUBCOMMANDS.get(name, ())]
        destroys += tuple([lazy("deletes ({name} {word})", name=name, word=word) for word in deleting])
        writes += _writing_operands(name, words)
        if name in SQL_CLIENTS and any(_SQL_DESTROYS.search(word) for word in words[1:]):
            destroys += (lazy("deletes from a database ({name})", name=name),)
    if runs_script:
        runs += (lazy("runs or writes what its script says ({name})", name=name),)
    is_quiet = not writes and not destroys and not runs
    return CommandEffects(
        writes,
        destroys,
        runs,
        is_quiet and program.is_vetted and name == words[0],
        paths,
        trees=_trees(name, paths, follows_tree=of_options.follows_tree),
        makes_links=name in LINK_PROGRAMS or of_options.makes_links,
    )


class _Program(Frozen):
    """What is known of a program whatever it is given. `name` is the one in the tables, `kind` that of its options."""

    name: str
    kind: str
    writes: tuple[str, ...]
    destroys: tuple[str, ...]
    runs_code: tuple[str, ...]
    is_vetted: bool
    has_script: bool
    has_options: bool
    has_special_words: bool


@lru_cache(maxsize=1024)
def _find_program(word: str) -> _Program:
    name = _canonical_name(word)
    has_script = is_awk(name) or is_sed(name)
    kind = "awk" if is_awk(name) else "sed" if is_sed(name) else name
    is_destructive = name in DESTRUCTIVE_PROGRAMS or name.startswith("mkfs.")
    return _Program(
        name=name,
        kind=kind,
        writes=(lazy("writes files ({name})", name=name),) if name in WRITING_PROGRAMS else (),
        destroys=(_destruction(name),) if is_destructive else (),
        runs_code=(lazy("runs code ({name})", name=name),) if name in CODE_RUNNERS else (),
        is_vetted=name in READ_ONLY_PROGRAMS or has_script,
        has_script=has_script,
        has_options=any(kind in table for table in _OPTION_TABLES),
        has_special_words=name in DESTRUCTIVE_SUBCOMMANDS or name in SQL_CLIENTS or name in _WRITING_BY_OPERAND,
    )


def _destruction(name: str) -> str:
    if name in STOPPING_PROGRAMS:
        return lazy("stops processes or the machine ({name})", name=name)
    return lazy("deletes or overwrites data ({name})", name=name)


def _canonical_name(word: str) -> str:
    """Return the name used in the tables: without directory and version, in lower case for Windows commands."""
    name = base_name(word)
    if _VERSION.match(name):
        return name.rstrip("0123456789.")
    lowered = name.lower()
    return lowered if lowered in DESTRUCTIVE_PROGRAMS or lowered in WRITING_PROGRAMS else name


class _OptionEffects(Frozen):
    """The effects of the options that a command is given."""

    writes: tuple[str, ...] = ()
    destroys: tuple[str, ...] = ()
    runs_code: tuple[str, ...] = ()
    follows_tree: bool = False
    makes_links: bool = False


_NO_OPTION_EFFECTS = _OptionEffects()
_OPTION_TABLES = (WRITE_OPTIONS, DESTRUCTIVE_OPTIONS, CODE_OPTIONS, TREE_OPTIONS, LINK_OPTIONS)
_WITH_BARE_OPTIONS = frozenset(
    kind for table in _OPTION_TABLES for kind, options in table.items() if not all(each[0] == "-" for each in options)
)


def _possible_options(program: _Program, words: Sequence[str]) -> tuple[str, ...]:
    """Return the words that may be options of the tables: those with a dash, for a few programs all."""
    given = _with_dash(words[1:]) if program.kind == "tar" else words[1:]
    if program.kind in _WITH_BARE_OPTIONS:
        return tuple(given)
    return tuple([word for word in given if word[:1] == "-"])


@lru_cache(maxsize=4096)
def _find_option_effects(kind: str, words: tuple[str, ...]) -> _OptionEffects:
    """Return the effects of options; cached, because the commands of a line often have the same ones."""
    writes, destroys, runs_code = (
        _given_options(kind, words, table) for table in (WRITE_OPTIONS, DESTRUCTIVE_OPTIONS, CODE_OPTIONS)
    )
    return _OptionEffects(
        tuple([lazy("writes a file ({option})", option=each) for each in writes]),
        tuple([lazy("deletes ({option})", option=each) for each in destroys]),
        tuple([lazy("runs code from the command line ({option})", option=each) for each in runs_code]),
        follows_tree=bool(_given_options(kind, words, TREE_OPTIONS)),
        makes_links=bool(_given_options(kind, words, LINK_OPTIONS)),
    )


def _given_options(kind: str, words: Sequence[str], table: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the options of the table that are present: whole, clustered, abbreviated or with a value."""
    options = table.get(kind)
    if not options:
        return []
    dashed = [word for word in words if word.startswith("-")]
    # An option with a dash is never given by a word without one.
    named = options if dashed else [option for option in options if not option.startswith("-")]
    return [
        option
        for option in sorted(named)
        if any(_is_given(option, word, kind) for word in (dashed if option.startswith("-") else words))
    ]


def _with_dash(words: Sequence[str]) -> Sequence[str]:
    """Add the optional dash to tar's first word, a cluster of options."""
    return words if not words or words[0].startswith("-") else (f"-{words[0]}", *words[1:])


def _is_given(option: str, word: str, name: str) -> bool:
    start = word.partition("=")[0]
    if word == option or start == option:
        return True
    if option.startswith("--"):
        return len(start) > len("--") and start.startswith("--") and option.startswith(start)
    if len(option) > 2 or not option.startswith("-") or name in SINGLE_DASH_PROGRAMS:
        return len(option) > 2 and name not in SINGLE_DASH_PROGRAMS and word.startswith(option)
    return word[:1] == "-" and word[:2] != "--" and option[1] in word


def _operands(words: Sequence[str]) -> list[str]:
    """Return the words that are no options: those without a dash, and all after `--`."""
    end = words.index("--") if "--" in words else len(words)
    return [word for word in words[:end] if word == "-" or not word.startswith("-")] + list(words[end + 1 :])


_WRITING_BY_OPERAND = frozenset(("uniq", "xxd", "date", "curl"))


def _writing_operands(name: str, words: Sequence[str]) -> tuple[str, ...]:
    operands = _operands(words[1:])
    if name in ("uniq", "xxd") and len(operands) > 1:
        return (lazy("writes to its second argument ({name})", name=name),)
    is_given_date = not _DATE_OPTIONS.isdisjoint(words)
    if name == "date" and any(not word.startswith("+") for word in operands) and not is_given_date:
        return (lazy("sets the clock (date)"),)
    if name == "curl" and any("%output{" in word for word in words):
        return (lazy("writes a file (%output)"),)
    return ()


def _runs_its_program(name: str, words: Sequence[str]) -> bool:
    """Return whether an awk or sed program can do more than print."""
    if is_awk(name):
        return any(_AWK_CODE.search(word) for word in words[1:] if not word.startswith("-F"))
    return is_sed(name) and not all(map(_is_safe_sed_script, sed_scripts(words)))


@lru_cache(maxsize=256)
def _is_safe_sed_script(script: str) -> bool:
    """Return whether a script only prints and edits; cached, because the commands of a line often share one."""
    return len(script) < _MAX_SCRIPT_LENGTH and _SAFE_SED_SCRIPT.match(script) is not None


def is_awk(name: str) -> bool:
    return name in _AWK


def is_sed(name: str) -> bool:
    return name in _SED


def sed_scripts(words: Sequence[str], *, has_files: bool = False) -> list[str]:
    """Return all scripts given by options, in any spelling, else the first operand unless scripts are in files."""
    scripts: list[str] = []
    for at, word in enumerate(words):
        if word[:1] == "-" and (option := _SED_SCRIPT.match(word)):
            scripts.append(option["value"] or (words[at + 1] if at + 1 < len(words) else ""))
    return scripts if scripts or has_files else _operands(words[1:])[:1]


def _paths(name: str, words: Sequence[str], *, runs_script: bool) -> list[str]:
    if name in TEXT_PROGRAMS:
        return []
    found: list[str] = []
    skips_first = _first_operand_is_pattern(name, words, runs_script=runs_script)
    has_options = True
    for word in words:
        if has_options and word[:1] == "-" and len(word) > 1:
            has_options = word != "--"
            found += _paths_in_option(word)
        elif skips_first:
            skips_first = False
        elif _WHOLE.match(word):
            found.append(word)
        elif word and not _ADDRESS.match(word):
            found += [word, *_path_candidates(word)]
    if name in ("cp", "ln"):
        found += _paths_in_targets(words)
    return found


def _trees(name: str, paths: tuple[str, ...], *, follows_tree: bool) -> tuple[str, ...]:
    if name in TREE_PROGRAMS:
        return (".", *paths)
    if not follows_tree:
        return ()
    return (".", *paths) if name in ("curl", "tar") else paths or (".",)


def _paths_in_targets(words: Sequence[str]) -> list[str]:
    """Return the names that copies get in a directory: one of them may be a link already."""
    operands = _operands(words)
    options = [at for at, word in enumerate(words) if word[:1] == "-" and _TARGET_OPTION.match(word)]
    targets = [words[at + 1] for at in options if at + 1 < len(words)]
    targets += [value for at in options for value in _paths_in_option(words[at])]
    names = dict.fromkeys(map(base_name, operands))
    return [f"{target}/{name}" for target in (*targets[:_MAX_TARGETS], *operands[-1:]) for name in names]


def _first_operand_is_pattern(name: str, words: Sequence[str], *, runs_script: bool) -> bool:
    """Return whether the first operand is a pattern or program instead of a path."""
    if is_awk(name) or is_sed(name):
        return not runs_script and not any(map(_SCRIPT_OPTION.match, words))
    return name in PATTERN_PROGRAMS and not any(map(_PATTERN_OPTION.match, words))


def _paths_in_option(word: str) -> list[str]:
    """Return path candidates in an option's attached value: after `=` or after its letter."""
    _, equals, value = word.partition("=")
    if equals:
        return [value, *_path_candidates(value)] if value else []
    if word.startswith("--"):
        return []
    # Any letter of a cluster may be the option whose value is the rest: a relative name, or a link of that name.
    values = [word[at:] for at in range(2, min(len(word), _MAX_CLUSTER_LENGTH))]
    place = re.search(r"[/~]|\.\.", word)
    return [*values, word[place.start() :], *_path_candidates(word[2:])] if place else values


def _path_candidates(word: str) -> list[str]:
    """Return the parts between `=`, `:`, `,` and `@`, and those that start at the root or home directory."""
    pieces = [piece for piece in re.split(r"[=:,@]", word) if piece]
    rooted = [word[start:] for start in find_rooted_parts(word)[:MAX_ROOTED_PARTS]]
    return [*rooted, *pieces] if pieces != [word] else rooted
