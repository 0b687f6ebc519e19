"""The rule that an "always" would remember: the narrowest one that covers a call."""

from collections.abc import Iterable, Mapping

from tejat.policy.command_line import Command
from tejat.policy.matching import Call
from tejat.policy.rules import Decision, Rule, Tier
from tejat.policy.words import names

_SOURCE = "your answer"

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


def offered_rule(call: Call, uncovered: Iterable[Command]) -> Rule | None:
    """A rule that would cover what no rule covers yet, None where it would allow more than a person can oversee."""
    facts = call.facts
    if facts.line is None:
        return Rule(Decision.ALLOW, Tier.USER, _SOURCE, facts.tool, facts.server, network=facts.wants_network)
    if not facts.line.is_plain:
        return None
    prefixes = {_prefix(command, call) for command in uncovered}
    if len(prefixes) != 1:
        return None
    prefix = prefixes.pop()
    if prefix is None:
        return None
    return Rule(Decision.ALLOW, Tier.USER, _SOURCE, facts.tool, command=prefix, network=facts.wants_network)


def _prefix(command: Command, call: Call) -> tuple[str, ...] | None:
    """The first words of the command that say what it does, None where those would say too little."""
    effects = call.effects[command]
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
