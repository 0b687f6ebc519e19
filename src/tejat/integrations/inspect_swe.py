"""Tejat as an agent of Inspect, in the manner of the agents of inspect-swe.

It runs in the sandbox of a sample and reaches the evaluated model through Inspect's bridge, so Inspect counts, logs and
limits all requests. Written for inspect-ai 0.3.285 and inspect-swe 0.2.72; only inspect-ai is needed.
"""

# The package is not installed here; `typings/` declares the part in use.
# pyright: reportMissingModuleSource=false

from collections.abc import Sequence
from pathlib import Path

from inspect_ai.agent import (
    Agent,
    AgentAttempts,
    AgentState,
    BridgedToolsSpec,
    SandboxAgentBridge,
    agent,
    agent_with,
    sandbox_agent_bridge,
)
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateFilter,
    Model,
)
from inspect_ai.scorer import score
from inspect_ai.tool import MCPServerConfig, MCPServerConfigHTTP, MCPServerConfigStdio
from inspect_ai.util import ExecRemoteAwaitableOptions, SandboxEnvironment, store
from inspect_ai.util import sandbox as sandbox_env

from tejat.core.messages.types import JsonObject
from tejat.integrations.headless_run import (
    WEB_TOOLS,
    install_script,
    logged_run,
    run_command,
    settings_text,
    with_path,
)
from tejat.integrations.run_events import read_log

_PORT = "tejat_model_port"
_FOLDER = "tejat_folder"
_MODEL = "openai:inspect"
"""The bridge serves any name that begins with `inspect` by the model of the evaluation."""
_DESCRIPTION = "Autonomous coding agent that reads, searches and edits files and runs commands."
_MAX_ERROR = 2000


@agent
def tejat(
    *,
    name: str = "Tejat",
    description: str = _DESCRIPTION,
    system_prompt: str | None = None,
    mcp_servers: Sequence[MCPServerConfig] = (),
    bridged_tools: Sequence[BridgedToolsSpec] | None = None,
    web_search: bool = True,
    attempts: int | AgentAttempts = 1,
    model: str | None = None,
    model_aliases: dict[str, str | Model] | None = None,
    filter: GenerateFilter | None = None,  # noqa: A002 -- as in inspect-swe
    retry_refusals: int | None = None,
    cwd: str | None = None,
    env: dict[str, str] | None = None,
    user: str | None = None,
    sandbox: str | None = None,
    version: str = "auto",
    package: str | None = None,
    arguments: Sequence[str] = (),
) -> Agent:
    """An agent that runs Tejat in the sandbox of a sample.

    The options are those of the agents of inspect-swe. `version` is `auto` (the version in the sandbox; without one,
    the latest is installed), `sandbox` (the version in the sandbox, or an error), `latest`, or a version. `package` is
    what to install instead: a requirement, a URL, or a wheel on the host. `arguments` are flags for the command line,
    such as `--max-turns=50`.
    """
    allowed_attempts = AgentAttempts(attempts) if isinstance(attempts, int) else attempts

    async def execute(state: AgentState) -> AgentState:
        # Each run of a sample needs a port of its own.
        port = store().get(_PORT, 3000) + 1
        store().set(_PORT, port)
        async with sandbox_agent_bridge(
            state,
            model="inspect" if model is None else f"inspect/{model}",
            model_aliases=model_aliases,
            filter=filter,
            retry_refusals=retry_refusals,
            sandbox=sandbox,
            port=port,
            bridged_tools=bridged_tools,
            web_search=web_search,
        ) as bridge:
            run = _SandboxRun(sandbox_env(sandbox), user, () if web_search else WEB_TOOLS, arguments)
            await run.install(version, package)
            resumes = await run.prepare([*mcp_servers, *bridge.mcp_server_configs], cwd)
            run.set_variables(bridge.port, env or {})
            prompt = _build_prompt(state.messages, system_prompt)
            await _run_attempts(run, prompt, bridge, allowed_attempts, resumes=resumes)
        return bridge.state

    return agent_with(execute, name=name, description=description)


async def _run_attempts(
    run: "_SandboxRun", prompt: str, bridge: SandboxAgentBridge, attempts: AgentAttempts, *, resumes: bool
) -> None:
    """Run until the task is solved or no attempt is left."""
    number = 1
    await run.execute(prompt, resumes=resumes)
    while following := await _next_prompt(bridge, attempts, number):
        await run.execute(following, resumes=True)
        number += 1


async def _next_prompt(bridge: SandboxAgentBridge, attempts: AgentAttempts, number: int) -> str | None:
    """Return what to say after attempt `number`, None if it was the last one or solved the task."""
    if number >= attempts.attempts:
        return None
    scores = await score(bridge.state)
    if attempts.score_value(scores[0].value) == 1.0:
        return None
    message = attempts.incorrect_message
    return message if isinstance(message, str) else await message(bridge.state, scores)


class _SandboxRun:
    """Tejat in a sandbox, with settings, sessions and logs in a folder of their own.

    So the run is the same whatever the user of the sandbox has configured, which matters for the `local` sandbox.
    """

    def __init__(
        self, sandbox: SandboxEnvironment, user: str | None, excluded_tools: Sequence[str], arguments: Sequence[str]
    ) -> None:
        self._sandbox = sandbox
        self._user = user
        self._excluded_tools = excluded_tools
        self._arguments = arguments
        self._folder = ""
        self._cwd = ""
        self._variables: dict[str, str] = {}

    async def install(self, version: str, package: str | None) -> None:
        """Install Tejat if necessary. Raises RuntimeError."""
        if package is None and version in {"auto", "sandbox"}:
            if (await self._sandbox.exec(["sh", "-c", with_path("command -v tejat")], user=self._user)).success:
                return
            if version == "sandbox":
                raise RuntimeError("The sandbox has no tejat. Install it in the image, or use version='auto'.")
        requirement = package or ("tejat" if version in {"auto", "latest"} else f"tejat=={version}")
        wheel = _read_wheel(requirement)
        if wheel is not None:
            requirement = f"/tmp/{Path(requirement).name}"  # uv needs the name of the wheel
            await self._sandbox.write_file(requirement, wheel)
        await self._shell(install_script(requirement))

    async def prepare(self, servers: Sequence[MCPServerConfig], cwd: str | None) -> bool:
        """Choose the folder and the working directory. Returns whether an earlier run of the sample can be resumed."""
        self._folder = store().get(_FOLDER, "")
        resumes = bool(self._folder)
        if not resumes:
            self._folder = await self._shell("mktemp -d")
            store().set(_FOLDER, self._folder)
        if servers:
            text = settings_text({server.name: _server_settings(server) for server in servers})
            await self._sandbox.write_file(f"{self._folder}/.gemini/settings.json", text)
        # An image without a working directory starts in the root of its file system.
        self._cwd = await self._shell('[ "$PWD" != / ] || cd ~; pwd', cwd)
        return resumes

    def set_variables(self, port: int, more: dict[str, str]) -> None:
        """Set the environment variables of the runs, among them the address of the bridge."""
        self._variables = {
            "OPENAI_BASE_URL": f"http://localhost:{port}/v1",
            "OPENAI_API_KEY": "inspect",
            "GEMINI_CLI_HOME": self._folder,
            "XDG_CONFIG_HOME": f"{self._folder}/config",
            "XDG_STATE_HOME": f"{self._folder}/state",
            **more,
        }

    async def execute(self, prompt: str, *, resumes: bool) -> None:
        """Answer the prompt. Raises RuntimeError if the run fails."""
        command = run_command(
            prompt,
            model=_MODEL,
            resumes=resumes,
            excluded_tools=self._excluded_tools,
            extra_arguments=self._arguments,
        )
        events, errors = f"{self._folder}/events.jsonl", f"{self._folder}/stderr.txt"
        line = with_path(logged_run(command, events=events, errors=errors))
        result = await self._sandbox.exec_remote(
            ["bash", "-c", line],
            ExecRemoteAwaitableOptions(cwd=self._cwd, env=self._variables, user=self._user, concurrency=False),
            stream=False,
        )
        if not result.success:
            why = read_log(result.stdout.splitlines()).error or result.stderr.strip()
            raise RuntimeError(f"tejat ended with exit code {result.returncode}: {why[:_MAX_ERROR]}")

    async def _shell(self, line: str, cwd: str | None = None) -> str:
        result = await self._sandbox.exec(["bash", "-c", line], user=self._user, cwd=cwd)
        if not result.success:
            raise RuntimeError(f"The command failed in the sandbox: {line}\n{result.stderr[-_MAX_ERROR:]}")
        return result.stdout.strip()


def _build_prompt(messages: Sequence[ChatMessage], system_prompt: str | None) -> str:
    """Return the system messages and the user messages since the last answer, as one prompt."""
    last = max((place for place, found in enumerate(messages) if isinstance(found, ChatMessageAssistant)), default=-1)
    system = [found.text for found in messages if isinstance(found, ChatMessageSystem)]
    prompts = [found.text for found in messages[last + 1 :] if isinstance(found, ChatMessageUser)]
    return "\n\n".join((*system, *((system_prompt,) if system_prompt else ()), *prompts))


def _read_wheel(requirement: str) -> bytes | None:
    path = Path(requirement).expanduser()
    return path.read_bytes() if path.suffix == ".whl" and path.is_file() else None


def _server_settings(server: MCPServerConfig) -> JsonObject:
    match server:
        case MCPServerConfigStdio():
            cwd: JsonObject = {} if server.cwd is None else {"cwd": str(server.cwd)}
            return {"command": server.command, "args": list(server.args), "env": dict(server.env or {}), **cwd}
        case MCPServerConfigHTTP():
            address = "url" if server.type == "sse" else "httpUrl"
            return {address: server.url, "headers": dict(server.headers or {})}
        case _:
            raise ValueError(f"Unknown type of MCP server: {server.type}")
