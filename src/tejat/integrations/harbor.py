"""Tejat as an agent of Harbor: `harbor run --agent tejat.integrations.harbor:TejatAgent`.

Written for Harbor 0.25.
"""

# The package is not installed here; `typings/` declares the part in use.
# pyright: reportMissingModuleSource=false

from pathlib import Path, PurePosixPath

from harbor.agents.agent_auth_resolution import ModelConnectionSpec, parse_model_name
from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.installed.base import BaseInstalledAgent, with_prompt_template
from harbor.agents.options import InstalledAgentOptions
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext, ModelUsage
from harbor.models.model_api_format import ModelApiFormat
from harbor.models.task.config import MCPServerConfig
from harbor.models.trajectories import Trajectory

from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject
from tejat.integrations.headless_run import (
    WEB_TOOLS,
    install_script,
    is_known_provider,
    logged_run,
    run_command,
    settings_script,
    skills_script,
    split_model_name,
    to_model_name,
    with_path,
)
from tejat.integrations.run_events import RunFigures, RunLog, read_log
from tejat.integrations.trajectory import to_trajectory

_EVENTS_FILE = "tejat.jsonl"
_ERRORS_FILE = "tejat.stderr.txt"
_UPLOADS = PurePosixPath("/installed-agent")
_CLOUD_VARIABLES = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_API_KEY")


class TejatOptions(InstalledAgentOptions):
    """Options of the agent, given as `--agent-kwarg NAME=VALUE`.

    `package` is what to install instead of the published package: a requirement, a URL, or a wheel on the host. The
    limits are those of the flags with the same names.
    """

    package: str | None = None
    max_turns: int | None = None
    max_cost: float | None = None
    max_tokens: int | None = None


class TejatAgent(BaseInstalledAgent):
    """Installs Tejat in the container of a task and runs it headless.

    Model names are Harbor's (`gemini/gemini-2.5-pro`) or our own (`gemini:gemini-2.5-pro`).
    """

    capabilities = AgentCapabilities(
        base_url=True, native_web_tools=True, atif=True, resume=True, skills=True, mcp_servers=True
    )
    options_model = TejatOptions
    MODEL_CONNECTION = ModelConnectionSpec(
        default_api_format_by_provider={
            "gemini": ModelApiFormat.GOOGLE_GENERATE_CONTENT,
            "anthropic": ModelApiFormat.ANTHROPIC_MESSAGES,
            "default": ModelApiFormat.OPENAI_CHAT_COMPLETIONS,
        },
        api_key_destination_names={
            "gemini": "GEMINI_API_KEY",
            "anthropic": "ANTHROPIC_API_KEY",
            "azure": "AZURE_OPENAI_API_KEY",
            "ollama": "OLLAMA_API_KEY",
            "default": "OPENAI_API_KEY",
        },
        base_url_destination_names={
            "gemini": "GOOGLE_GEMINI_BASE_URL",
            "anthropic": "ANTHROPIC_BASE_URL",
            "azure": "AZURE_OPENAI_ENDPOINT",
            "ollama": "OLLAMA_HOST",
            "default": "OPENAI_BASE_URL",
        },
    )
    options: TejatOptions

    @staticmethod
    def name() -> str:
        return "tejat"

    def get_version_command(self) -> str | None:
        return with_path("tejat --version")

    def parse_version(self, stdout: str) -> str:
        return stdout.strip().rpartition(" ")[2]

    @staticmethod
    def _parse_model_name_for_connection(
        model_name: str, *, skip_model_parsing: bool = False
    ) -> tuple[str | None, str]:
        own = None if skip_model_parsing else split_model_name(model_name)
        return own or parse_model_name(model_name, skip_model_parsing=skip_model_parsing)

    async def install(self, environment: BaseEnvironment) -> None:
        await self.ensure_system_dependencies(environment, ("curl", "bash", "git"))
        requirement = self.options.package or (f"tejat=={self._version}" if self._version else "tejat")
        wheel = _local_wheel(requirement)
        if wheel is not None:
            requirement = str(_UPLOADS / wheel.name)
            await environment.upload_file(wheel, requirement)
        await self.exec_as_agent(environment, command=install_script(requirement))

    @with_prompt_template
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        variables = self.run_variables()
        scripts = [f"mkdir -p {self.environment_logs_dir}"]
        if self.mcp_servers:
            scripts.append(settings_script({server.name: _server_settings(server) for server in self.mcp_servers}))
        if self.skills_dir:
            scripts.append(skills_script(self.skills_dir))
        await self.exec_as_agent(environment, command=" && ".join(scripts), env=variables)
        await self.exec_as_agent(environment, command=self.run_script(instruction), env=variables)

    def run_script(self, instruction: str) -> str:
        """Return the shell line of a run."""
        limits = {
            "--max-turns": self.options.max_turns,
            "--max-cost": self.options.max_cost,
            "--max-tokens": self.options.max_tokens,
        }
        command = run_command(
            instruction,
            model=None if self.model_name is None else to_model_name(*self._parse_model_name(self.model_name)),
            resumes=self._resume,
            excluded_tools=WEB_TOOLS if self.options.disable_web_search else (),
            extra_arguments=[f"{flag}={value}" for flag, value in limits.items() if value is not None],
        )
        folder = self.environment_logs_dir
        return with_path(logged_run(command, events=str(folder / _EVENTS_FILE), errors=str(folder / _ERRORS_FILE)))

    def run_variables(self) -> dict[str, str]:
        """Return the environment variables of a run. Raises ValueError for a provider without an address."""
        connection = self.model_connection
        variables = dict(connection.env)
        provider = connection.provider
        if provider == "vertex_ai":
            found = {name: self._get_env(name) for name in _CLOUD_VARIABLES}
            return {**variables, **{name: value for name, value in found.items() if value}}
        if provider is None or is_known_provider(provider) or "OPENAI_BASE_URL" in variables:
            return variables
        if connection.candidate_base_url is None:
            raise ValueError(f"No address known for the provider '{provider}'. Add --base-url URL.")
        return {**variables, "OPENAI_BASE_URL": connection.candidate_base_url}

    def convert_trajectory(self, logs_dir: Path) -> Trajectory | None:
        log = _read_log(logs_dir)
        found = None if log is None else to_trajectory(log, version=self.version() or "unknown")
        return None if found is None else Trajectory.model_validate(found)

    def populate_context_post_run(self, context: AgentContext) -> None:
        log = _read_log(self.logs_dir)
        if log is None:
            self.logger.debug("No events of tejat in %s", self.logs_dir)
            return
        _fill_context(context, log)
        found = to_trajectory(log, version=self.version() or "unknown")
        if found is not None:
            # What Harbor could not read must not be written.
            Trajectory.model_validate(found)
            (self.logs_dir / "trajectory.json").write_text(dump_json(found, indent=2) + "\n", encoding="utf-8")


def _local_wheel(requirement: str) -> Path | None:
    path = Path(requirement).expanduser()
    return path if path.suffix == ".whl" and path.is_file() else None


def _read_log(directory: Path) -> RunLog | None:
    try:
        with (directory / _EVENTS_FILE).open(encoding="utf-8", errors="replace") as file:
            return read_log(file)
    except FileNotFoundError:
        return None


def _fill_context(context: AgentContext, log: RunLog) -> None:
    if log.figures is None:
        return
    context.n_input_tokens = log.figures.input_tokens
    context.n_output_tokens = log.figures.output_tokens
    context.n_cache_tokens = log.figures.cached_tokens
    context.cost_usd = log.figures.cost
    context.model_usage = {name: _model_usage(figures) for name, figures in log.by_model.items()} or None
    context.metadata = {**(context.metadata or {}), "session_id": log.session_id, "error": log.error or None}


def _model_usage(figures: RunFigures) -> ModelUsage:
    return ModelUsage(
        n_input_tokens=figures.input_tokens,
        n_cache_tokens=figures.cached_tokens,
        n_output_tokens=figures.output_tokens,
        cost_usd=figures.cost,
    )


def _server_settings(server: MCPServerConfig) -> JsonObject:
    if server.transport == "stdio":
        return {"command": server.command, "args": list(server.args)}
    return {"httpUrl": server.url} if server.transport == "streamable-http" else {"url": server.url}
