"""Which words of a command an "always" would remember: the fewest that say what it does."""

from collections.abc import Iterable, Mapping

from tejat.policy.command_line import Command
from tejat.policy.effects import Effects
from tejat.policy.shell_call import ShellCall
from tejat.policy.words import names

# Programs whose first word says what they do.
_WITH_SUBCOMMAND = names(
    """
    apt brew bun bundle cargo conda deno docker dotnet gh git go gradle helm hg just kubectl make mvn npm pip pip3 pnpm
    podman poetry rustup svn systemctl task terraform uv yarn
    """
)
# And where that word only says what it is about, so that the second one counts too.
_SUBJECTS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), frozenset(("run", "config"))),
    **dict.fromkeys(("docker", "podman"), frozenset(("compose", "container", "image", "volume", "network", "system"))),
    "dotnet": frozenset(("tool",)),
    "gh": frozenset(("pr", "issue", "repo", "run", "release", "workflow", "api", "auth")),
    "git": frozenset(("remote", "stash", "worktree", "submodule", "config", "bisect", "notes", "reflog")),
    "kubectl": frozenset(("config", "rollout")),
    "uv": frozenset(("pip", "tool")),
}
_RUNS_WHAT_FOLLOWS = names("exec eval x dlx")
# For these `run` names a script of the project or the project itself; for the others it runs whatever follows.
_RUNS_PROJECT = names("npm pnpm yarn bun cargo go")


def offered_prefix(uncovered: Iterable[Command], call: ShellCall) -> tuple[str, ...] | None:
    """The first words of the commands that no rule covers, None where those differ or would say too little."""
    if not call.line.is_plain:
        return None
    prefixes = {_prefix(command, call.effects[command]) for command in uncovered}
    return prefixes.pop() if len(prefixes) == 1 else None


def _prefix(command: Command, effects: Effects) -> tuple[str, ...] | None:
    if command.via or effects.destroys:
        return None
    if command.name not in _WITH_SUBCOMMAND:
        return None if effects.runs_code else command.words[:1]
    subcommand = command.words[1:2]
    if not _RUNS_WHAT_FOLLOWS.isdisjoint(subcommand) or ("run" in subcommand and command.name not in _RUNS_PROJECT):
        return None
    length = 2 if _SUBJECTS.get(command.name, frozenset()).isdisjoint(subcommand) else 3
    prefix = command.words[:length]
    is_complete = len(prefix) == length and not any(word.startswith("-") for word in prefix)
    return prefix if is_complete else None
