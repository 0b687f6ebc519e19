"""Risks of a call to show in an approval prompt: deletion, running a download, leaving the roots."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from tejat.core.approval.confirmation import Risk
from tejat.core.frozen import replace
from tejat.core.messages.declaration import READ_ONLY_KINDS
from tejat.core.text.paths import is_beneath_any
from tejat.policy.effects.command import command_effects
from tejat.policy.effects.git import git_subcommand, rewrites_history
from tejat.policy.evaluation.call import Call
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.paths import is_ambiguous, resolve_path
from tejat.policy.shell.command_line import CommandLine, ShellCommand
from tejat.policy.shell.words import word_set
from tejat.policy.shell.wrapper_options import SHELLS
from tejat.policy.shell.wrappers import base_name
from tejat.policy.tool_names import MEMORY
from tejat.policy.types import CallFacts

_PRIVILEGE_PROGRAMS = word_set("sudo doas su pkexec runuser run0 gsudo kdesu gksudo sudoedit visudo setcap")
_DOWNLOADERS = word_set("curl wget aria2c fetch http https xh lwp-request iwr irm invoke-webrequest invoke-restmethod")
_NETWORK_PROGRAMS = _DOWNLOADERS | word_set("nc ncat netcat telnet ftp sftp scp ssh socat rsync")
_GIT_NETWORK_SUBCOMMANDS = word_set("push pull fetch clone ls-remote")
_EVALUATORS = word_set("eval source . iex invoke-expression")
_INTERPRETERS = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|bun|deno|php|lua|luajit|tclsh|pwsh|powershell|osascript|Rscript)[0-9.]*\Z"
)
# Options followed by code or a module name, and options that contain the code.
_WITH_CODE = re.compile(r"-[A-Za-z]*[cemEpr]\Z|--(?:eval|print|command)\Z")
_CODE_ITSELF = re.compile(r"-[cem][^A-Za-z]|--(?:eval|print|command)=")
_OUTPUT_OPTIONS = word_set("-o -O --output --output-document --remote-name")
_HARMLESS_DEVICES = re.compile(r"/dev/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd/[0-9]+)\Z")
_HOME = re.compile(r"\$(?:HOME|\{HOME\})(?=/|\Z)")
_SETUID_MODE = re.compile(r"(?:[ugoa]*[+=][rwxXt]*s[rwxXst]*|0?[2467][0-7]{3})\Z")
_FILE_REDIRECTS = (">", ">|", "&>", ">&")


def find_risks(facts: CallFacts, *, is_file: Callable[[str], bool]) -> tuple[Risk, ...]:
    """Return the risks of a call in the order of `Risk`. Never raises.

    An opaque line is only known to hide code. `is_file` tells whether a path is an existing file, which a redirection
    would overwrite.
    """
    found = set(_call_risks(facts) if facts.line is None else _line_risks(facts, facts.line, is_file))
    if facts.wants_network:
        found.add(Risk.USES_NETWORK)
    return tuple(risk for risk in Risk if risk in found)


def _call_risks(facts: CallFacts) -> Iterator[Risk]:
    """Yield the risks of a built-in tool. Claims of servers are not reliable, and memory has its own location."""
    if facts.server is not None or facts.kind in READ_ONLY_KINDS or facts.tool == MEMORY:
        return
    if not all(is_beneath_any(path, facts.roots) for path in facts.paths):
        yield Risk.OUTSIDE_ROOTS
    if Call(facts).control_file_warning() is not None:
        yield Risk.CONTROL_FILE


def _line_risks(facts: CallFacts, line: CommandLine, is_file: Callable[[str], bool]) -> Iterator[Risk]:
    call = ShellCall(replace(facts, paths=(*facts.paths, *_written_home_paths(facts, line))), line)
    if line.is_opaque:
        yield Risk.HIDES_CODE
    if call.control_file_warning() is not None:
        yield Risk.CONTROL_FILE
    if _runs_download(line):
        yield Risk.RUNS_DOWNLOAD
    if _leaves_roots(call):
        yield Risk.OUTSIDE_ROOTS
    if _overwrites_file(call, is_file):
        yield Risk.DELETES
    for command in line.commands:
        yield from _command_risks(command)


def _command_risks(command: ShellCommand) -> Iterator[Risk]:
    name = base_name(command.name)
    if name in _PRIVILEGE_PROGRAMS or (name == "chmod" and any(map(_SETUID_MODE.match, command.words[1:]))):
        yield Risk.ELEVATED
    if name in _NETWORK_PROGRAMS:
        yield Risk.USES_NETWORK
    if name != "git":
        if command_effects(command.words).destroys:
            yield Risk.DELETES
        return
    subcommand, after = git_subcommand(command.words)
    if subcommand in _GIT_NETWORK_SUBCOMMANDS:
        yield Risk.USES_NETWORK
    if rewrites_history(command.words):
        yield Risk.REWRITES_HISTORY
    if command_effects(command.words).destroys and not _only_switches_branch(subcommand, after):
        yield Risk.DELETES


def _only_switches_branch(subcommand: str, after: Sequence[str]) -> bool:
    """Return whether `git checkout NAME` most likely names a branch; it may name a file."""
    return subcommand == "checkout" and len(after) == 1 and re.fullmatch(r"[\w./-]*\w", after[0]) is not None


def _overwrites_file(call: ShellCall, is_file: Callable[[str], bool]) -> bool:
    """Return whether a redirection truncates an existing file."""
    targets = [
        each.target
        for each in call.line.redirections
        if each.writes and not each.is_harmless and each.operator in _FILE_REDIRECTS and each.target is not None
    ]
    return any("\0" not in target and is_file(call.resolve(target)) for target in targets)


def _leaves_roots(call: ShellCall) -> bool:
    facts = call.facts
    paths = [path for path in call.paths if not _HARMLESS_DEVICES.match(path)]
    if any(not is_beneath_any(path, facts.roots) for path in paths):
        return True
    words = [word for effects in call.effects.values() for word in effects.paths]
    if any(not is_beneath_any(path, facts.roots) for path in _home_paths(facts, words)):
        return True
    return any(is_ambiguous(word) and word.startswith("~") for word in words)


def _written_home_paths(facts: CallFacts, line: CommandLine) -> list[str]:
    """Return written paths below the home directory whose names the shell has yet to expand."""
    words = [each.text for each in line.redirections if each.writes and each.target is None]
    for command in line.commands:
        effects = command_effects(command.words)
        words += effects.paths if effects.writes or effects.destroys else ()
    return _home_paths(facts, words)


def _home_paths(facts: CallFacts, words: Iterable[str]) -> list[str]:
    expanded = [_HOME.sub("~", word.strip('"')) for word in words]
    below = [word for word in expanded if word == "~" or word.startswith("~/")]
    return [resolve_path(word, directory="/", home=facts.home) for word in below]


def _runs_download(line: CommandLine) -> bool:
    """Return whether something downloaded is run, judging by names and words."""
    if not any(base_name(command.name).lower() in _DOWNLOADERS for command in line.commands):
        return False
    saved = set(_download_targets(line))
    return any(_runs_hidden_code(command) or _runs_file(command, saved) for command in line.commands)


def _runs_hidden_code(command: ShellCommand) -> bool:
    """Return whether it runs its input or something computed."""
    name = base_name(command.name).lower()
    if name in _EVALUATORS:
        return any(_is_computed(word) for word in command.words[1:]) or name in ("iex", "invoke-expression")
    if name not in SHELLS and not _INTERPRETERS.match(name):
        return False
    words = command.words[1:]
    if any(_is_computed(word) for word in words):
        return True
    if any(_WITH_CODE.match(word) for word in words[:-1]) or any(_CODE_ITSELF.match(word) for word in words):
        return False
    return all(word.startswith("-") or word == "/dev/stdin" for word in words)


def _is_computed(word: str) -> bool:
    return "$(" in word or "`" in word or "<(" in word


def _runs_file(command: ShellCommand, saved: set[str]) -> bool:
    """Return whether it is one of the saved files, or an interpreter that is given one."""
    name = base_name(command.name)
    if "/" in command.name and name in saved:
        return True
    runs_files = name in SHELLS or name in _EVALUATORS or _INTERPRETERS.match(name)
    return bool(runs_files and any(base_name(word) in saved for word in command.words[1:]))


def _download_targets(line: CommandLine) -> Iterator[str]:
    """Yield the names of files that downloads may be saved as."""
    for command in line.commands:
        if base_name(command.name).lower() in _DOWNLOADERS:
            words = command.words
            yield from (base_name(value) for option, value in pairwise(words) if option in _OUTPUT_OPTIONS)
            yield from (base_name(word.partition("?")[0]) for word in words if "://" in word)
    yield from (base_name(each.target) for each in line.redirections if each.writes and each.target)
