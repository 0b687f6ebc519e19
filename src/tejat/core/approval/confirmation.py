"""Approval requests for tool calls, and their replies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol, TypeAlias

from tejat.core.frozen import Value, field
from tejat.core.messages.types import JsonObject
from tejat.core.provenance import ToolSource
from tejat.core.text.one_or_many import keep_as_tuple
from tejat.core.text.str_enum import StrEnum
from tejat.core.tools.display import DiffStat
from tejat.core.ui.rich_value import RichValue

if TYPE_CHECKING:
    from tejat.core.approval.user_question import UserQuestion
    from tejat.core.tools.display import DiffStat
    from tejat.core.undo import PathChange


class Outcome(StrEnum):
    """The answer to an approval request."""

    PROCEED_ONCE = "proceed_once"
    PROCEED_AUTO_EDIT = "proceed_auto_edit"
    """Approve a plan, and carry it out in the mode `auto_edit`."""
    PROCEED_ALWAYS = "proceed_always"
    PROCEED_ALWAYS_AND_SAVE = "proceed_always_and_save"
    PROCEED_ALWAYS_SERVER = "proceed_always_server"
    PROCEED_ALWAYS_TOOL = "proceed_always_tool"
    PROCEED_ALWAYS_SANDBOXED = "proceed_always_sandboxed"
    """Run the command, and run sandboxed commands without asking from now on. Saved in the user's settings."""
    PROCEED_WITH_TOOLS = "proceed_with_tools"
    """Activate a skill, and allow the tools that the question lists as long as the scope of the reply says."""
    MODIFY_WITH_EDITOR = "modify_with_editor"
    CANCEL = "cancel"
    """A no to this call only. The other calls and the turn continue."""
    STOP = "stop"
    """A no that ends the turn and cancels the other calls."""
    STOP_AGENT = "stop_agent"
    """A no that ends the sub-agent which asks. The turn continues."""
    TRY_IN_COPY = "try_in_copy"
    """Run it in a copy of the files first, and show the changes."""
    TRY_AGAIN = "try_again"
    """Ask the same model again instead of another one."""
    RUN_FOR_REAL = "run_for_real"
    """Discard the trial and run the command on the real files."""


class Scope(StrEnum):
    """How long an "always" lasts. `RUN` is for questions of sub-agents: until the sub-agent ends."""

    RUN = "run"
    SESSION = "session"
    PROJECT = "project"
    USER = "user"


class EditConfirmation(Value):
    """A file change that needs approval. `proposal` belongs to the tool and is what runs after approval.

    The contents are given only if they are small; `original_content` is None for a new file too. `digest` is a hash of
    the path and the new content, which the tool checks before it writes.
    """

    title: str
    file_name: str
    file_path: str
    file_diff: str
    original_content: str | None
    new_content: str | None
    diff_stat: DiffStat | None = None
    digest: str = ""
    proposal: object = field(default=None, repr=False, compare=False, is_local=True)
    type: str = field(default="edit", init=False)

    @property
    def is_new_file(self) -> bool:
        """Whether the file does not exist yet: by the content while it is small, else by the first hunk."""
        if self.original_content is not None:
            return False
        first = re.search(_FIRST_HUNK, self.file_diff)
        return self.new_content is not None if first is None else first[1] == "0,0"


_FIRST_HUNK = r"(?m)^@@ -(\d+(?:,\d+)?) \+\d"


class ExecConfirmation(Value):
    """A shell command that needs approval. It runs exactly as `command` says.

    `root_commands` are the names of all programs in it, and words such as `redirection (>)` for its other effects.
    `notes` add what the command line does not show: that it runs in the background, that it may use the network.
    """

    title: str
    command: str
    directory: str
    root_commands: tuple[str, ...] = ()
    description: str = ""
    notes: tuple[str, ...] = ()
    digest: str = ""
    proposal: object = field(default=None, repr=False, compare=False, is_local=True)
    type: str = field(default="exec", init=False)

    def __post_init__(self) -> None:
        keep_as_tuple(self, "root_commands")
        keep_as_tuple(self, "notes")

    @property
    def root_command(self) -> str:
        return ", ".join(self.root_commands)


class TrialConfirmation(Value):
    """A shell command that was tried in a copy of the files. Approval applies its changes without running it again.

    `changes` are all file changes, and `diff` shows those in text files. `exit_code` is negative for the signal that
    ended the command, and None if it did not end. With `obstacles` the changes cannot be applied. `digest` is a hash of
    what was shown. If `agent` is set, it is the run of a sub-agent that worked in the copy: `command` is its task, and
    `output` its result.
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
    agent: str = ""
    proposal: object = field(default=None, repr=False, compare=False, is_local=True)
    type: str = field(default="trial", init=False)


class McpConfirmation(Value):
    """A call of an MCP tool that needs approval."""

    title: str
    server_name: str
    tool_name: str
    tool_display_name: str
    tool_args: JsonObject | None = None
    tool_description: str | None = None
    tool_parameter_schema: JsonObject | None = None
    digest: str = ""
    proposal: object = field(default=None, repr=False, compare=False, is_local=True)
    type: str = field(default="mcp", init=False)


class InfoConfirmation(Value):
    """An action that needs approval and is described in words."""

    title: str
    prompt: str
    urls: tuple[str, ...] = ()
    digest: str = ""
    proposal: object = field(default=None, repr=False, compare=False, is_local=True)
    type: str = field(default="info", init=False)

    def __post_init__(self) -> None:
        keep_as_tuple(self, "urls")


class ModelChangeConfirmation(Value):
    """A switch to another model, after the current one failed for the given reason.

    `PROCEED_ONCE` switches for the session, `TRY_AGAIN` retries the current model, anything else ends the turn.
    """

    title: str
    before: str
    after: str
    reason: str
    type: str = field(default="model_change", init=False)


class PlanConfirmation(Value):
    """A plan that needs approval: the whole text of a plan file.

    `PROCEED_ONCE` continues in the mode `default`, and `PROCEED_AUTO_EDIT` in `auto_edit` if `can_auto_edit`. A reply
    with `new_content` changes the plan, which is shown again. `digest` is a hash of what was shown.
    """

    title: str
    file_path: str
    text: str
    can_auto_edit: bool = True
    digest: str = ""
    note: str = ""
    """What changed since the last question."""
    type: str = field(default="exit_plan_mode", init=False)


class ElicitationConfirmation(Value):
    """A question from an MCP server to the user. The answers go to that server only.

    `fields` is a JSON Schema of an object with plain members, which `ApprovalReply.answers` fills in; None if the user
    is asked to visit `url` instead, and agrees with empty answers. A reply without `answers` declines.
    """

    title: str
    server_name: str
    message: str
    fields: JsonObject | None = None
    url: str | None = None
    type: str = field(default="elicitation", init=False)


class AskUserConfirmation(Value):
    """Questions of the model to the user (`ask_user`). The answers go to the model and permit nothing.

    `ApprovalReply.answers` has an answer for each position, as text: `{"0": "SQLite", "2": "Yes"}`. Questions without
    an answer are left out; a reply without `answers` dismisses all of them. An approver without a user to ask
    raises `UserUnavailable`.
    """

    title: str
    questions: tuple[UserQuestion, ...]
    type: str = field(default="ask_user", init=False)


Confirmation: TypeAlias = EditConfirmation | ExecConfirmation | TrialConfirmation | McpConfirmation | InfoConfirmation
ChoiceSubject: TypeAlias = Confirmation | ModelChangeConfirmation | PlanConfirmation
"""What an approval request is about if it is answered with one of a few choices."""
UserSubject: TypeAlias = AskUserConfirmation | PlanConfirmation
"""What a running tool may ask the user."""
ApprovalSubject: TypeAlias = ChoiceSubject | ElicitationConfirmation | AskUserConfirmation
"""What an approval request is about: a call, a plan, a change of the model, or questions of a server or the model."""


class ToolOrigin(Value):
    """The source of a tool. `name` is the server, the discovery command or the plug-in.

    It is empty for built-in tools, and for those that the calling program added itself.
    """

    kind: ToolSource = ToolSource.BUILT_IN
    name: str = ""


class Risk(StrEnum):
    """A risk to point out first. With any of these the default choice is no."""

    DELETES = "deletes"
    RUNS_DOWNLOAD = "runs_download"
    OUTSIDE_ROOTS = "outside_roots"
    ELEVATED = "elevated"
    CONTROL_FILE = "control_file"
    HIDES_CODE = "hides_code"
    REWRITES_HISTORY = "rewrites_history"
    USES_NETWORK = "uses_network"
    NO_UNDO = "no_undo"
    CHANGED_SCRIPT = "changed_script"


class ApprovalRequest(RichValue):
    """A question to the user.

    `reason` says why it is asked. `always` is the rule that an "always" would save, or several with "; " between them,
    None if none can be offered; then `always_refusal` says why in one line. `scopes` are the places to save it;
    `always_server` is the rule for all tools of the server. `note` says what changed since the last question.
    `directory` is the working directory of the session. `can_try` means that the command can be tried in a copy of the
    files first. `can_allow_sandboxed` means that `PROCEED_ALWAYS_SANDBOXED` is offered. `place` of `total` is its
    position among the questions about the calls of one turn, as far as they are known. `agent` is the id of the
    sub-agent that asks, empty for the session's own agent, and `agent_task` the first line of its task. `call_index` is
    the position of the call in its batch, as in the events of the call; None if the question is about no call.
    `tool_rules` are the rules that `PROCEED_WITH_TOOLS` adds, with "; " between them, None if that is not offered; they
    last for the session, in a question of a sub-agent for its run.
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
    always_refusal: str = ""
    can_allow_sandboxed: bool = False
    tool_rules: str | None = None
    place: int = 1
    total: int = 1
    agent: str = ""
    agent_task: str = ""
    call_index: int | None = None


def tool_scope(question: ApprovalRequest) -> Scope:
    """How long the rules of `PROCEED_WITH_TOOLS` last."""
    return Scope.RUN if question.agent else Scope.SESSION


class ApprovalReply(Value):
    """The user's answer.

    `new_content` is the proposal as the user edited it; it is shown again before it runs. `feedback` is a message to
    the model that goes with a no. `answers` are the members of an elicitation, or the answers to the model by position.
    `scope` says where an "always" is saved; without it `PROCEED_ALWAYS` lasts for the session and
    `PROCEED_ALWAYS_AND_SAVE` is saved for the user.
    """

    outcome: Outcome
    new_content: str | None = None
    feedback: str | None = None
    scope: Scope | None = None
    answers: JsonObject | None = None


class Approver(Protocol):
    """Answers approval requests. A run without one refuses whatever needs approval."""

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        """Return the answer to a question. Raises `UserUnavailable` if nobody can be asked."""
        ...
