"""Options of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import Frozen, field
from tejat.core.messages.types import JsonObject

if TYPE_CHECKING:
    from tejat.core.agent.editor import EditorBuffers, EditorTerminals
    from tejat.core.agent.hooks import Hook, HookEvent
    from tejat.core.agent.storage import SessionStorage
    from tejat.core.model import Model
    from tejat.core.tools.base import BaseTool

PLAN_APPROVALS = (ApprovalMode.DEFAULT.value, ApprovalMode.AUTO_EDIT.value)
"""The modes in which an approved plan may be carried out."""
_FLAGS = {
    "allowed_tools": "--allowed-tools",
    "excluded_tools": "--exclude-tools",
    "mode": "--approval-mode",
    "policy_paths": "--policy",
    "admin_policy_paths": "--admin-policy",
    "servers": "--allowed-mcp-server-names",
}


def option_name(argument: str, *, names_arguments: bool) -> str:
    """The name of an option in messages: the argument of a program, or else the flag of the command line."""
    return argument if names_arguments else _FLAGS[argument]


class PolicyOptions(Frozen):
    """Policy options of the command line or of a program. A `mode` of None leaves it to the settings.

    `policy_paths` and `admin_policy_paths` replace the settings of the same name. With `names_arguments` messages name
    the arguments of a program instead of flags.
    """

    roots: tuple[str, ...] = (".",)
    allowed_tools: tuple[str, ...] = ()
    mode: str | None = None
    policy_paths: tuple[str, ...] = ()
    admin_policy_paths: tuple[str, ...] = ()
    names_arguments: bool = False


class AgentOptions(Frozen):
    """Options of an agent. The defaults suit a program in its own directory.

    `directories` are the workspace roots; the first is the working directory. `model` is a name such as
    `gemini-2.5-pro`, `openai:NAME`, `anthropic:NAME`, `ollama:NAME` or `scripted:FILE`; None means the environment and
    the settings decide. `client` is a model of the program's own, used instead. `mode` is an approval mode.
    `policy_paths` are policy files or directories that replace those of the settings, `admin_policy_paths` the same for
    the administrator's; `strict_settings` makes unknown settings an error. `sandbox` is `true` (any that works here),
    `auto`, `required`, `off` or the name of one. `tools` are added to the built-in ones. `servers` selects MCP servers
    of the settings; None means all that the settings enable. `mcp_servers` are more of them, in the format of the
    settings, and count as the user's own. `buffers` and `terminals` are those of the editor that the session runs in.
    `extensions` are the names of the only extensions to use; None means all that are enabled. `answers` are answers to
    questions of the model, by header; `requires_answers` ends a run at a question that nobody can answer.
    `approve_plan` is the mode in which the model's plan is carried out without asking, None for no approval in advance.
    With `agents_in_copies` sub-agents change copies of the files, and the result is a diff.
    `trusts_folder` trusts the folder for this run. `resume` names a session: `latest`, a number or an id; without
    `keeps_session` nothing is stored. `storage` keeps the sessions instead of files. `session_file` is a chat saved by
    Gemini CLI that a new session continues. `hooks` are Python functions that run on events. The limits end a run
    before the request that would exceed them. `record` is a file to record the model to, `replay` one to replay.
    `system` replaces the system prompt, `environment` the environment of the process. With `names_arguments` messages
    name the arguments of `Agent` instead of flags and settings.
    """

    directories: tuple[str, ...] = (".",)
    model: str | None = None
    client: Model | None = None
    mode: str | None = None
    allowed_tools: tuple[str, ...] = ()
    excluded_tools: tuple[str, ...] = ()
    policy_paths: tuple[str, ...] = ()
    admin_policy_paths: tuple[str, ...] = ()
    strict_settings: bool = False
    sandbox: str | None = None
    tools: tuple[BaseTool, ...] = ()
    servers: tuple[str, ...] | None = None
    mcp_servers: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject], repr=False)
    buffers: EditorBuffers | None = None
    terminals: EditorTerminals | None = None
    extensions: tuple[str, ...] | None = None
    answers: tuple[tuple[str, str], ...] = ()
    requires_answers: bool = False
    approve_plan: str | None = None
    agents_in_copies: bool = False
    trusts_folder: bool = False
    resume: str | None = None
    session_id: str | None = None
    session_file: str | None = None
    storage: SessionStorage | None = None
    hooks: tuple[tuple[HookEvent, Hook], ...] = ()
    keeps_session: bool = True
    max_turns: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    timeout: float | None = None
    record: str | None = None
    replay: str | None = None
    system: str | None = None
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    names_arguments: bool = False
