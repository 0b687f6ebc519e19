"""Policy types: rules, facts about a call, and the verdict."""

from collections.abc import Callable, Mapping
from enum import IntEnum

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import Frozen, field
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import Params
from tejat.core.text.str_enum import StrEnum
from tejat.policy.paths import NO_LINKS, PathLookup
from tejat.policy.shell.command_line import CommandLine


class Decision(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        return ("allow", "ask", "deny").index(self.value)


class Tier(IntEnum):
    """Origin of a rule. A higher tier has precedence; a lower one can only be stricter."""

    DEFAULT = 1
    EXTENSION = 2
    WORKSPACE = 3
    USER = 4
    ADMIN = 5

    @property
    def only_restricts(self) -> bool:
        """Whether its rules that allow do not count."""
        return self in (Tier.EXTENSION, Tier.WORKSPACE)


class PolicyRule(Frozen):
    """One rule. A field that is None matches everything.

    `tool` is a canonical tool name or `*`. `command` are the first words of a shell command. `arguments` is a
    linear-time regular expression, searched in the arguments as JSON with sorted keys and no spaces. `path` is a glob,
    absolute or relative to a root, for the real paths that the call touches. `project` limits the rule to a root
    directory. `source` names the file and line, or the flag, that it came from.

    `command_pattern` is a regular expression for the beginning of a shell command; only rules that deny or ask have
    one. `hints` are annotations that an MCP tool must have. `interactive` limits the rule to sessions with a user, or
    to those without. `spares_reading` leaves out tools that only read, `spares_plans` calls that write a plan file.
    `passed_over` is the reason why the rule does not count, `note` says how it differs from what its file says.
    `subagent` limits the rule to calls of a sub-agent, by its name or its qualified name. `skill` limits it to commands
    that run a script of a skill, named in the same ways. `name` and `description` are shown to people.
    """

    decision: Decision
    tier: Tier
    source: str
    tool: str = "*"
    server: str | None = None
    command: tuple[str, ...] | None = None
    arguments: str | None = None
    path: str | None = None
    project: str | None = None
    modes: frozenset[ApprovalMode] | None = None
    allows_redirection: bool = False
    allows_network: bool = False
    message: str | None = None
    priority: int = 0
    command_pattern: str | None = None
    hints: tuple[tuple[str, object], ...] | None = None
    interactive: bool | None = None
    spares_reading: bool = False
    spares_plans: bool = False
    note: str | None = None
    passed_over: str | None = None
    subagent: str | None = None
    skill: str | None = None
    name: str | None = None
    description: str | None = None

    @property
    def is_restricted(self) -> bool:
        """Whether it depends on more than the tool."""
        parts = (self.command, self.arguments, self.path, self.command_pattern, self.hints, self.skill)
        return self.spares_reading or any(part is not None for part in parts)


class Enclosure(IntEnum):
    """What the sandbox keeps a command from, as tried on this system.

    With `FILES_AND_NETWORK` a command changes no file outside the workspace and reaches no network. With `EVERYTHING`
    it changes no control file and reads none of the user's secrets either, so it may run code of the project.
    """

    NONE = 0
    FILES_AND_NETWORK = 1
    EVERYTHING = 2


class SandboxedCommands(Frozen):
    """The setting that lets sandboxed commands run without asking.

    It is on with a `source`, which names the file and line. `refusal` says why it has no effect in this run although it
    is set. With `can_offer` a question may offer to switch it on.
    """

    source: str = ""
    refusal: str = ""
    can_offer: bool = False


NOT_SANDBOXED = SandboxedCommands()
"""The setting is off."""


class ScriptState(StrEnum):
    """A script of a skill compared with the moment when the skill was activated."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    INACTIVE = "inactive"
    """The skill is not active."""


class SkillScript(Frozen):
    """A file of a skill that a command may run. All paths are absolute.

    `skill` is the name that the skill is called by, `path` the real path of the file. `directories` are the spellings
    of the skill's directory, its real path among them. `find_doubt` gets the name of the interpreter that starts it,
    empty if it starts by itself, and says why no rule may allow that. None means that all files of the skill are what
    the user agreed to, and that the interpreter is not a file of the workspace.
    """

    skill: str
    qualified_name: str
    path: str
    directories: tuple[str, ...]
    state: ScriptState
    find_doubt: Callable[[str], str | None] = field(compare=False, repr=False)


class CallFacts(Frozen):
    """Everything known about a call when it is evaluated. All paths are absolute and real.

    `tool` is the server's own name for it if `server` is set. `definition_changed` means that it is no longer the tool
    that was last allowed. `may_change_files` means that it runs on this machine. `line` is the parsed shell line and
    `directory` where it would run. `programs` maps bare command names of the line to the files they would start, where
    known. `lookup` follows the links in the paths of the line. `hints` are the annotations that an MCP server gave its
    tool, by their names in the protocol. `enclosure` tells how far the sandbox encloses this command. `subagent` is the
    qualified name of the sub-agent that makes the call, empty for the session itself. `rule_names` are further names by
    which rules may refer to the call, `skill_scripts` the files of skills that it may run.
    `plan_file` is the plan file that the call would write, if it writes nothing
    else, and `plan_directory` where plan files can be written; both are empty without plan files.
    """

    tool: str
    kind: Kind
    arguments: Params
    roots: tuple[str, ...]
    home: str
    server: str | None = None
    paths: tuple[str, ...] = ()
    line: CommandLine | None = None
    directory: str | None = None
    programs: Mapping[str, str] = field(default_factory=dict[str, str])
    lookup: PathLookup = field(default=NO_LINKS, compare=False)
    wants_network: bool = False
    definition_changed: bool = False
    may_change_files: bool = True
    hints: Mapping[str, object] = field(default_factory=dict[str, object])
    enclosure: Callable[[], Enclosure] = field(default=lambda: Enclosure.NONE, compare=False)
    subagent: str = ""
    rule_names: tuple[str, ...] = ()
    skill_scripts: tuple[SkillScript, ...] = ()
    plan_file: str = ""
    plan_directory: str = ""


class PolicyVerdict(Frozen):
    """The decision, the rule behind it (None if no rule matched) and the reason.

    With `always_ask` the user is asked in every mode. `suggested_rules` are the rules that an "always" would save; if
    there are none, `always_refusal` says why. `setting` is the source of a setting that decided instead of a rule. With
    `is_routine` the reason is only that no rule allows the call.
    """

    decision: Decision
    rule: PolicyRule | None
    reason: str
    always_ask: bool = False
    suggested_rules: tuple[PolicyRule, ...] = ()
    always_refusal: str = ""
    setting: str = ""
    is_routine: bool = field(default=False, compare=False)

    @property
    def source(self) -> str:
        return self.setting or (self.rule.source if self.rule else lazy("no rule"))
