"""Policy types: rules, facts about a call, and the verdict."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import field, frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import Params
from tejat.core.tools.base import Kind
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
    WORKSPACE = 2
    USER = 3
    ADMIN = 4


@frozen
class PolicyRule:
    """One rule. A field that is None matches everything.

    `tool` is a canonical tool name or `*`. `command` are the first words of a shell command. `arguments` is a
    linear-time regular expression, searched in the arguments as JSON with sorted keys and no spaces. `path` is a glob,
    absolute or relative to a root, for the real paths that the call touches. `project` limits the rule to a root
    directory. `source` names the file and line, or the flag, that it came from.
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

    @property
    def is_restricted(self) -> bool:
        """Whether it depends on more than the tool."""
        return any(field is not None for field in (self.command, self.arguments, self.path))


@frozen
class CallFacts:
    """Everything known about a call when it is evaluated. All paths are absolute and real.

    `tool` is the server's own name for it if `server` is set. `definition_changed` means that it is no longer the tool
    that was last allowed. `may_change_files` means that it runs on this machine. `line` is the parsed shell line and
    `directory` where it would run. `programs` maps bare command names of the line to the files they would start, where
    known. `lookup` follows the links in the paths of the line.
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


@frozen
class PolicyVerdict:
    """The decision, the rule behind it (None if no rule matched) and the reason.

    With `always_ask` the user is asked in every mode. `suggested_rule` is the rule that an "always" would save, None if
    no rule could cover the call.
    """

    decision: Decision
    rule: PolicyRule | None
    reason: str
    always_ask: bool = False
    suggested_rule: PolicyRule | None = None

    @property
    def source(self) -> str:
        return self.rule.source if self.rule else lazy("no rule")
