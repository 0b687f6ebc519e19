"""Command prefix for an "always" rule: the fewest words that say what the command does."""

from collections.abc import Iterable, Mapping

from tejat.policy.effects.command import CommandEffects
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


def suggest_prefix(uncovered: Iterable[ShellCommand], call: ShellCall) -> tuple[str, ...] | None:
    """Return the common prefix of the uncovered commands, None if they differ or it would say too little."""
    if not call.line.is_plain:
        return None
    prefixes = {_command_prefix(command, call.effects[command]) for command in uncovered}
    return prefixes.pop() if len(prefixes) == 1 else None


def _command_prefix(command: ShellCommand, effects: CommandEffects) -> tuple[str, ...] | None:
    if command.wrappers or effects.destroys:
        return None
    if command.name not in _WITH_SUBCOMMAND:
        return None if effects.runs_code else command.words[:1]
    subcommand = command.words[1:2]
    if not _RUNS_WHAT_FOLLOWS.isdisjoint(subcommand) or ("run" in subcommand and command.name not in _RUNS_PROJECT):
        return None
    length = 2 if _SUBCOMMAND_GROUPS.get(command.name, frozenset()).isdisjoint(subcommand) else 3
    prefix = command.words[:length]
    is_complete = len(prefix) == length and not any(word.startswith("-") for word in prefix)
    return prefix if is_complete else None
