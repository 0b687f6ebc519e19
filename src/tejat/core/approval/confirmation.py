"""What a person is asked before a call runs, and what they may answer."""

from enum import StrEnum
from typing import Protocol, TypeAlias

from tejat.core.frozen import field, frozen
from tejat.core.messages.types import JsonObject
from tejat.core.tools.display import DiffStat
from tejat.core.undo import PathChange


class Outcome(StrEnum):
    PROCEED_ONCE = "proceed_once"
    PROCEED_ALWAYS = "proceed_always"
    PROCEED_ALWAYS_AND_SAVE = "proceed_always_and_save"
    PROCEED_ALWAYS_SERVER = "proceed_always_server"
    PROCEED_ALWAYS_TOOL = "proceed_always_tool"
    MODIFY_WITH_EDITOR = "modify_with_editor"
    CANCEL = "cancel"
    STOP = "stop"
    """A no that ends the turn: whatever else the model wanted is not done either."""
    TRY_IN_COPY = "try_in_copy"
    """Not yet: first it is to be run in a copy of the files, and what that changed is to be shown."""
    RUN_FOR_REAL = "run_for_real"
    """What was tried in a copy is thrown away, and the command runs as if it had never been tried."""


class Scope(StrEnum):
    """For how long an "always" counts."""

    SESSION = "session"
    PROJECT = "project"
    USER = "user"


@frozen
class EditConfirmation:
    """A file would be changed. `proposal` belongs to the tool: it is what runs if the answer is yes.

    The contents are given only while they are small; `original_content` is None for a new file too. `digest` is the
    hash of what would be written and where; the tool checks it before it writes.
    """

    title: str
    file_name: str
    file_path: str
    file_diff: str
    original_content: str | None
    new_content: str | None
    diff_stat: DiffStat | None = None
    digest: str = ""
    proposal: object = field(default=None, repr=False, compare=False)
    type: str = field(default="edit", init=False)


@frozen
class ExecConfirmation:
    """A shell line would be run, exactly as it stands in `command`.

    `root_commands` are the names of all programs in it, and words such as `redirection (>)` for what else it does.
    `notes` tell what is not in the line itself: that it stays in the background, that it may use the network.
    """

    title: str
    command: str
    directory: str
    root_commands: tuple[str, ...] = ()
    description: str = ""
    notes: tuple[str, ...] = ()
    digest: str = ""
    proposal: object = field(default=None, repr=False, compare=False)
    type: str = field(default="exec", init=False)

    @property
    def root_command(self) -> str:
        return ", ".join(self.root_commands)


@frozen
class TrialConfirmation:
    """A shell line was run in a copy of the files. What it did there would count, and it is not run again.

    `changes` are all that it did to files and `diff` shows them as far as they are text. `exit_code` is below 0 for the
    signal that ended it, and None where it did not come to its end. `output` is what it printed. With `obstacles`,
    which are in words, nothing of it can be kept. `digest` is the hash of what was shown.
    """

    title: str
    command: str
    directory: str
    changes: tuple[PathChange, ...]
    diff: str
    output: str
    exit_code: int | None
    obstacles: tuple[str, ...] = ()
    digest: str = ""
    proposal: object = field(default=None, repr=False, compare=False)
    type: str = field(default="trial", init=False)


@frozen
class McpConfirmation:
    """A tool of somebody else's server would be called."""

    title: str
    server_name: str
    tool_name: str
    tool_display_name: str
    tool_args: JsonObject | None = None
    tool_description: str | None = None
    tool_parameter_schema: JsonObject | None = None
    digest: str = ""
    proposal: object = field(default=None, repr=False, compare=False)
    type: str = field(default="mcp", init=False)


@frozen
class InfoConfirmation:
    """Something would be done that is best told in words."""

    title: str
    prompt: str
    urls: tuple[str, ...] = ()
    digest: str = ""
    proposal: object = field(default=None, repr=False, compare=False)
    type: str = field(default="info", init=False)


@frozen
class ElicitationConfirmation:
    """A server wants to know something of the person. What they answer goes to that server and nowhere else.

    `fields` is a JSON Schema of an object with plain members, which `Answer.answers` fills in; None where the person is
    to visit `url` instead, and says with empty answers that they will. Without answers nothing was agreed to.
    """

    title: str
    server_name: str
    message: str
    fields: JsonObject | None = None
    url: str | None = None
    type: str = field(default="elicitation", init=False)


Confirmation: TypeAlias = EditConfirmation | ExecConfirmation | TrialConfirmation | McpConfirmation | InfoConfirmation
ApprovalSubject: TypeAlias = Confirmation | ElicitationConfirmation
"""What a person may be asked: whether a call may run, or what a server wants to know."""


class ToolOriginKind(StrEnum):
    """Who brought the tool along."""

    BUILT_IN = "built_in"
    DISCOVERED = "discovered"
    SERVER = "server"
    PLUGIN = "plugin"


@frozen
class ToolOrigin:
    """Whose tool asks. `name` is the server, the discovery command or the plug-in, empty for our own."""

    kind: ToolOriginKind = ToolOriginKind.BUILT_IN
    name: str = ""


class Risk(StrEnum):
    """What a person should see before anything else. With any of these the first choice is no."""

    DELETES = "deletes"
    RUNS_DOWNLOAD = "runs_download"
    OUTSIDE_ROOTS = "outside_roots"
    ELEVATED = "elevated"
    CONTROL_FILE = "control_file"
    HIDES_CODE = "hides_code"
    REWRITES_HISTORY = "rewrites_history"
    USES_NETWORK = "uses_network"


@frozen
class ApprovalRequest:
    """What the person is shown.

    `reason` says why they are asked. `always` is the very rule that an "always" would remember, None where none can be
    offered, and `scopes` says where it may be kept; `always_server` is the one for all tools of its server. `note` is
    for what changed since they were last asked. `directory` is where the session works. `can_try` says that the command
    can be run in a copy of the files first.
    """

    confirmation: ApprovalSubject
    tool_name: str
    reason: str = ""
    always: str | None = None
    scopes: tuple[Scope, ...] = ()
    can_modify: bool = False
    note: str = ""
    origin: ToolOrigin = ToolOrigin()
    risks: tuple[Risk, ...] = ()
    directory: str = ""
    can_try: bool = False
    always_server: str | None = None


@frozen
class ApprovalReply:
    """`new_content` is the proposal as the person rewrote it; it is shown again before it runs.

    `feedback` is a word to the model that goes with a no. `answers` are the members of an elicitation. `scope` says
    where an "always" is kept: without it `PROCEED_ALWAYS` lasts for the session and `PROCEED_ALWAYS_AND_SAVE` for the
    user.
    """

    outcome: Outcome
    new_content: str | None = None
    feedback: str | None = None
    scope: Scope | None = None
    answers: JsonObject | None = None


class Approver(Protocol):
    """Whoever can answer for the person. A run where nobody can answer has no approver at all."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply: ...
