from collections.abc import Callable
from logging import Logger
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, TypeVar

from harbor.agents.agent_auth_resolution import ModelConnectionSpec, ResolvedModelConnection
from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.options import InstalledAgentOptions
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from harbor.models.task.config import MCPServerConfig
from harbor.models.trajectories import Trajectory

_Function = TypeVar("_Function", bound=Callable[..., Any])

def with_prompt_template(fn: _Function) -> _Function: ...

class BaseInstalledAgent:
    capabilities: ClassVar[AgentCapabilities]
    options_model: ClassVar[type[InstalledAgentOptions] | None]
    MODEL_CONNECTION: ClassVar[ModelConnectionSpec | None]

    logs_dir: Path
    environment_logs_dir: PurePosixPath
    model_name: str | None
    logger: Logger
    mcp_servers: list[MCPServerConfig]
    skills_dir: str | None
    _version: str | None
    _resume: bool

    @staticmethod
    def name() -> str: ...
    def version(self) -> str | None: ...
    def get_version_command(self) -> str | None: ...
    def parse_version(self, stdout: str) -> str: ...
    @property
    def model_connection(self) -> ResolvedModelConnection: ...
    @staticmethod
    def _parse_model_name_for_connection(
        model_name: str, *, skip_model_parsing: bool = False
    ) -> tuple[str | None, str]: ...
    def _parse_model_name(self, model_name: str) -> tuple[str | None, str]: ...
    def _get_env(self, key: str, *alternatives: str) -> str | None: ...
    async def ensure_system_dependencies(self, environment: BaseEnvironment, dependencies: tuple[str, ...]) -> None: ...
    async def exec_as_agent(
        self, environment: BaseEnvironment, command: str, env: dict[str, str] | None = None
    ) -> object: ...
    async def install(self, environment: BaseEnvironment) -> None: ...
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None: ...
    def convert_trajectory(self, logs_dir: Path) -> Trajectory | None: ...
    def populate_context_post_run(self, context: AgentContext) -> None: ...
