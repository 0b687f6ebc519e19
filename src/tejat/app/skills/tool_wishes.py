"""The tools that a skill asks for (`allowed-tools`), as rules that the user may add for a session."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from tejat.config.skills.content import SkillContent
from tejat.config.skills.skill import Skill
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.tool_names import ASK_USER, WRITE_TODOS
from tejat.core.tools.claude_names import CLAUDE_TOOL_NAMES
from tejat.policy.evaluation.skill_scripts import is_script_interpreter
from tejat.policy.evaluation.suggestion import prefix_refusal
from tejat.policy.rules.command_prefix import InvalidPrefix, parse_prefix
from tejat.policy.rules.defaults import default_rules
from tejat.policy.rules.patterns import InvalidPattern, validate_glob
from tejat.policy.tool_names import CANONICAL_NAMES, SHELL, TOOL_ALIASES, parse_tool_name
from tejat.policy.types import Decision, PolicyRule, Tier

MAX_RULES = 8
"""The most rules for one answer: they are all shown."""

_ENTRY = re.compile(r"(?P<name>[^\s(),]+)\s*(?:\((?P<argument>.*)\))?", re.DOTALL)
_EVERYTHING_AFTER = re.compile(r"(?::\*|\s+\*)\Z")
_SKILL_DIRECTORY = re.compile(r"\$\{?(?:CLAUDE_)?SKILL_DIR\}?|\{baseDir\}")
_OTHER_NAMES: Mapping[str, str] = {
    **{other: name for name, other in CLAUDE_TOOL_NAMES.items()},
    "MultiEdit": "replace",
    "TodoWrite": WRITE_TODOS,
    "AskUserQuestion": ASK_USER,
    "Task": "invoke_agent",
    "Agent": "invoke_agent",
    "Skill": "activate_skill",
}
_WITH_PATHS = frozenset({"replace", "write_file"})
_ALLOWED_TOOLS = frozenset(rule.tool for rule in default_rules() if rule.decision is Decision.ALLOW)


class ToolWishes(Frozen):
    """What can be done about `allowed-tools`.

    `rules` are those that the user may add. `needless` are entries that need no approval anyway, `refused` those that
    no rule is offered for, each with the reason.
    """

    rules: tuple[PolicyRule, ...] = ()
    needless: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


class _Refused(Exception):
    """No rule is offered for an entry. The text says why."""


def map_wishes(skill: Skill, content: SkillContent) -> ToolWishes:
    """Map the entries of `allowed-tools` to rules, no wider than the entries and no wider than an "always" would be."""
    rules: dict[PolicyRule, None] = {}
    needless: list[str] = []
    refused: list[tuple[str, str]] = []
    for entry in dict.fromkeys(content.fields.allowed_tools):
        try:
            rule = _map_entry(entry, skill, content)
            if rule is not None and rule not in rules and len(rules) == MAX_RULES:
                raise _Refused(lazy("one answer adds at most {most} rules", most=MAX_RULES))
        except _Refused as refusal:
            refused.append((entry, str(refusal)))
        else:
            if rule is None:
                needless.append(entry)
            else:
                rules[rule] = None
    return ToolWishes(tuple(rules), tuple(needless), tuple(refused))


def _map_entry(entry: str, skill: Skill, content: SkillContent) -> PolicyRule | None:
    """Return the rule for an entry, None if its tool needs no approval. Raises _Refused."""
    found = _ENTRY.fullmatch(entry.strip())
    if found is None:
        raise _Refused(lazy("it is neither a tool nor of the form Bash(git log:*)"))
    written, argument = found["name"], found["argument"]
    name = _OTHER_NAMES.get(written, CANONICAL_NAMES.get(written, written))
    if name == SHELL:
        return _shell_rule(argument, skill, content)
    tool, server = parse_tool_name(name)
    if server is None and tool in _ALLOWED_TOOLS:
        return None
    if server == "*" or (server is None and "*" in tool):
        raise _Refused(lazy("it would allow the tools of every server"))
    if server is None and tool not in TOOL_ALIASES:
        raise _Refused(lazy("there is no tool of this name"))
    if tool == "activate_skill":
        raise _Refused(lazy("each skill is asked about by itself"))
    if argument is None:
        return PolicyRule(Decision.ALLOW, Tier.USER, skill.path, tool, server)
    if server is not None or tool not in _WITH_PATHS:
        raise _Refused(lazy("no rule can be limited to {argument}", argument=argument))
    return PolicyRule(Decision.ALLOW, Tier.USER, skill.path, tool, path=_check_glob(argument))


def _shell_rule(argument: str | None, skill: Skill, content: SkillContent) -> PolicyRule:
    """Raises _Refused."""
    pattern = "" if argument is None else argument.strip()
    command = _EVERYTHING_AFTER.sub("", pattern)
    if not command or command == "*":
        raise _Refused(lazy("a rule for every command would allow too much"))
    if _names_script(command, skill, content):
        return PolicyRule(Decision.ALLOW, Tier.USER, skill.path, SHELL, skill=skill.qualified_name)
    try:
        words = parse_prefix(command)
    except InvalidPrefix as error:
        raise _Refused(str(error)) from None
    if any("/" in word for word in words):
        raise _Refused(lazy("it names a path that is no file of the skill"))
    refusal = prefix_refusal(words)
    if refusal is not None:
        raise _Refused(refusal)
    return PolicyRule(Decision.ALLOW, Tier.USER, skill.path, SHELL, command=words)


def _names_script(command: str, skill: Skill, content: SkillContent) -> bool:
    """Whether a command starts a file of the skill, or any of those in one of its directories."""
    words = _SKILL_DIRECTORY.sub(skill.directory, command).split()
    if len(words) > 1 and is_script_interpreter(words[0]):
        del words[0]
    path = os.path.normpath(os.path.join(skill.directory, words[0]))
    relative = os.path.relpath(path, skill.directory)
    if relative.startswith("..") or "/" not in words[0]:
        return False
    directory, _slash, name = relative.rpartition("/")
    if "*" in name:
        return any(_parents(file, directory) for file in content.files)
    return relative in content.files


def _parents(file: str, directory: str) -> bool:
    return bool(directory) and file.startswith(f"{directory}/")


def _check_glob(path: str) -> str:
    """Raises _Refused for a path that is not relative to the project."""
    if path.startswith(("/", "~")) or {".", ".."} & set(path.removeprefix("./").split("/")):
        raise _Refused(lazy("only paths in the project can be allowed"))
    try:
        validate_glob(path)
    except InvalidPattern as error:
        raise _Refused(str(error)) from None
    return path


def describe_wishes(names: Sequence[str], wishes: ToolWishes) -> Iterator[str]:
    """The lines of a question about the tools that a skill asks for."""
    yield lazy("It asks for the tools {names}. Activating it allows none of them.", names=", ".join(names))
    if wishes.needless:
        yield lazy("Without approval anyway: {names}", names=", ".join(wishes.needless))
    for entry, why in wishes.refused:
        yield lazy("Not offered: {entry}: {why}.", entry=entry, why=why)
