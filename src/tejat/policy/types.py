"""The values that the policy is made of: rules, the facts of a call, and the verdict."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import field, frozen
from tejat.core.i18n import gettext_lazy
from tejat.core.messages.types import Params
from tejat.core.tools.base import Kind
from tejat.policy.shell.command_line import CommandLine


class Decision(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        return ("allow", "ask", "deny").index(self.value)


class Tier(IntEnum):
    """Who wrote a rule. A higher tier has the say; a lower one can only make it stricter."""

    DEFAULT = 1
    WORKSPACE = 2
    USER = 3
    ADMIN = 4


@frozen
class PolicyRule:
    """One line of the policy. A field that is None matches everything.

    `tool` is a canonical tool name or `*`. `command` are the first words of a shell command. `arguments` is a
    linear-time regular expression, searched in the arguments as JSON with sorted keys and no spaces. `path` is a glob,
    absolute or from a root, for what the call touches once links are followed. `project` is the root directory that the
    rule is for. `source` names file and line, or the flag, that it came from.
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
        """Whether it depends on more than which tool is called."""
        return any(field is not None for field in (self.command, self.arguments, self.path))


@frozen
class CallFacts:
    """What is known of one call when it is judged. All paths are absolute with links followed.

    `tool` is the name that its server knows it by, where it is a server's. `has_changed`: it is another tool now than
    the one that was last allowed. `may_change_files`: it works on this machine.
    `line` is the parsed shell line and `directory` where it would run, for tools that run one. `programs` tells which
    file each bare command name of the line would start, where that is known.
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
    wants_network: bool = False
    definition_changed: bool = False
    may_change_files: bool = True


@frozen
class PolicyVerdict:
    """The decision, the rule that made it (None: no rule matched) and why, in words.

    With `always_ask` the user is asked in every mode. `suggested_rule` is the rule that an "always" would save, None
    where no rule could cover the call.
    """

    decision: Decision
    rule: PolicyRule | None
    reason: str
    always_ask: bool = False
    suggested_rule: PolicyRule | None = None

    @property
    def source(self) -> str:
        return self.rule.source if self.rule else gettext_lazy("no rule")
