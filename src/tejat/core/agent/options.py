"""What an agent is asked to be."""

from collections.abc import Mapping

from tejat.core.frozen import frozen
from tejat.core.tools.base import BaseTool


@frozen
class AgentOptions:
    """Everything has a default that suits a program in its own directory.

    `directories` are the roots, the first is where the agent works. `model` is a name such as `gemini-2.5-pro`,
    `openai:NAME`, `anthropic:NAME`, `ollama:NAME` or `scripted:FILE`; None takes it from the environment and the
    settings. `mode` is an approval mode, `sandbox` is `auto`, `required` or `off`. `tools` are added to the built-in
    ones. `servers` names those of the MCP servers in the settings that are used, None takes what the settings say.
    `trusts_folder` lets the folder's own settings count in this run. `resume` names a session to go on with: `latest`,
    a number or an id; one that is not `keeps_session` leaves nothing to go on with. The limits end a run before the
    request that would exceed them. `record` is a file to keep the model's side in, `replay` one to play it from.
    `system` takes the place of the system prompt, `environment` that of the process's own.
    """

    directories: tuple[str, ...] = (".",)
    model: str | None = None
    mode: str | None = None
    allowed_tools: tuple[str, ...] = ()
    excluded_tools: tuple[str, ...] = ()
    sandbox: str | None = None
    tools: tuple[BaseTool, ...] = ()
    servers: tuple[str, ...] | None = None
    trusts_folder: bool = False
    resume: str | None = None
    session_id: str | None = None
    keeps_session: bool = True
    max_turns: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    timeout: float | None = None
    record: str | None = None
    replay: str | None = None
    system: str | None = None
    environment: Mapping[str, str] | None = None
