"""Command prefixes for "always" rules: the fewest words that say what each command does."""

from collections.abc import Iterable, Mapping, Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.policy.effects.command import CommandEffects, command_effects
from tejat.policy.effects.project_commands import find_project_command
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.shell.words import word_set

# Programs with subcommands.
_WITH_SUBCOMMAND = word_set(
    """
    apt brew bun bundle cargo conda deno docker dotnet gh git go gradle helm hg just kubectl make mvn npm pip pip3 pnpm
    podman poetry rustup svn systemctl task terraform uv yarn
    """
)
# Subcommands that only name a subject, so that the next word counts too.
_SUBCOMMAND_GROUPS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), frozenset(("run", "config"))),
    **dict.fromkeys(("docker", "podman"), frozenset(("compose", "container", "image", "volume", "network", "system"))),
    "dotnet": frozenset(("tool",)),
    "gh": frozenset(("pr", "issue", "repo", "run", "release", "workflow", "api", "auth")),
    "git": frozenset(("remote", "stash", "worktree", "submodule", "config", "bisect", "notes", "reflog")),
    "kubectl": frozenset(("config", "rollout")),
    "uv": frozenset(("pip", "tool")),
}
_RUNS_WHAT_FOLLOWS = word_set("exec eval x dlx")
# Here `run` runs the project or one of its scripts; with other programs it runs whatever follows.
_RUNS_PROJECT = word_set("npm pnpm yarn bun cargo go")
_MAX_PREFIXES = 5
"""The most rules for one answer: they are all shown."""


class PrefixSuggestion(Frozen):
    """The beginnings of commands for "always" rules, or why there are none."""

    prefixes: tuple[tuple[str, ...], ...] = ()
    refusal: str = ""


def suggest_prefixes(uncovered: Iterable[ShellCommand], call: ShellCall) -> PrefixSuggestion:
    """Return one beginning for each command of the line that no rule covers.

    A command behind a wrapper gets none: the rule for the whole of it, such as `uv run pytest`, covers both.
    """
    if not call.line.is_plain:
        return PrefixSuggestion(refusal=_line_doubt(call))
    prefixes: dict[tuple[str, ...], None] = {}
    for command in uncovered:
        if command.wrappers:
            continue
        prefix = _command_prefix(command, call.effects[command])
        if isinstance(prefix, str):
            return PrefixSuggestion(refusal=prefix)
        prefixes[prefix] = None
    if not prefixes:
        return PrefixSuggestion(refusal=lazy("the command runs through another program"))
    if len(prefixes) > _MAX_PREFIXES:
        return PrefixSuggestion(refusal=lazy("the line contains too many different commands"))
    return PrefixSuggestion(tuple(prefixes))


def prefix_refusal(words: Sequence[str]) -> str | None:
    """Return why no rule is offered for commands that begin with these words, None if one may be."""
    prefix = _command_prefix(ShellCommand(tuple(words), is_plain=True), command_effects(words))
    return prefix if isinstance(prefix, str) else None


def _line_doubt(call: ShellCall) -> str:
    line = call.line
    return line.doubts[0] if line.doubts else lazy("it uses shell syntax beyond plain words")


def _command_prefix(command: ShellCommand, effects: CommandEffects) -> tuple[str, ...] | str:
    """Return the fewest words that say what the command does, or why no rule is offered for it."""
    if effects.destroys:
        return lazy("the command {effect}", effect=effects.destroys[0])
    project = find_project_command(command.words)
    if project is not None:
        return project.prefix
    name = command.name
    if name not in _WITH_SUBCOMMAND:
        return command.words[:1] if not effects.runs_code else lazy("{name} can run any code", name=name)
    subcommand = command.words[1:2]
    if not _RUNS_WHAT_FOLLOWS.isdisjoint(subcommand) or ("run" in subcommand and name not in _RUNS_PROJECT):
        return lazy("{name} can run any program", name=" ".join(command.words[:2]))
    length = 2 if _SUBCOMMAND_GROUPS.get(name, frozenset()).isdisjoint(subcommand) else 3
    prefix = command.words[:length]
    is_complete = len(prefix) == length and not any(word.startswith("-") for word in prefix)
    return prefix if is_complete else lazy("a rule for all of {name} would allow too much", name=name)
