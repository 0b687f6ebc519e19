"""The built-in tools at work in some directories."""

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from tejat.app.plugins.discovery import Plugins, find_plugins, register_plugins
from tejat.app.run_config import RunConfig, load_run_config
from tejat.config.paths import AppPaths, make_private_directory
from tejat.config.policy_files import read_policy_files
from tejat.config.settings.types import Settings, tool_lists
from tejat.core.approval.confirmation import Approver
from tejat.core.approval.policy_report import PolicyOptions
from tejat.core.errors import UsageError
from tejat.core.frozen import frozen
from tejat.core.i18n import gettext_lazy
from tejat.core.tools.base import BaseTool
from tejat.tools import session_registry
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.tools.external_tools import ExternalTools
    from tejat.app.tools.tool_services import ToolServices
    from tejat.engine.calls.call_facts import FactCollector
    from tejat.engine.calls.scheduler import Scheduler
    from tejat.engine.hooks.session_hooks import SessionHooks
    from tejat.policy.engine import PolicyEngine
    from tejat.workspace.files.roots import Roots


class SessionTools:
    """The tools of a session, and what runs their calls.

    `foreign` are tools that are not there yet, and only come if they are looked for. `notes` tell the person
    why tools that could be expected are not there.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        settings: Settings,
        make_scheduler: "Callable[[], Scheduler]",
        external: "ExternalTools | None" = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.registry = registry
        self.settings = settings
        self.external = external
        self.notes = notes
        self._make_scheduler = make_scheduler
        self._scheduler: Scheduler | None = None

    async def discover_tools(self) -> list[str]:
        """Run the discovery command, start the MCP servers, and wait for both; returns what went wrong, in words.

        `close` ends what this starts, and must be called in the same event loop.
        """
        if self.external is None:
            return []
        self.external.start()
        await self.external.wait_ready()
        return self.external.take_notices()

    def why_missing(self, name: str) -> str | None:
        """Why a tool is not there whose server is known and was not started, None if that is not the reason."""
        alias, separator, _ = name.partition("__")
        if not separator or self.external is None or self.external.mcp_manager is None:
            return None
        return self.external.mcp_manager.why_not_started(alias)

    async def close(self) -> None:
        """End what `discover_tools` started."""
        if self.external is not None:
            await self.external.close()

    @property
    def scheduler(self) -> "Scheduler":
        """Made when it is first asked for: judging calls takes much code, and many runs have none."""
        if self._scheduler is None:
            self._scheduler = self._make_scheduler()
        return self._scheduler

    @property
    def policy(self) -> "PolicyEngine | None":
        """The rules, as soon as a call was to be judged."""
        return None if self._scheduler is None else self._scheduler.permission.policy

    def is_forbidden(self, tool_name: str, server: str | None = None) -> bool:
        """Whether a rule forbids every call of the tool. As long as there is no scheduler, there is no such rule."""
        return self.policy is not None and self.policy.hides(tool_name, server)


@contextmanager
def open_tools(
    directories: Sequence[str],
    approver: Approver | None,
    *,
    allowed_tools: Sequence[str] = (),
    mode: str | None = None,
    sandbox: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> "Generator[SessionTools]":
    """The built-in tools at work in some directories, under the rules and settings of this user.

    Without an approver whatever needs an answer is refused. `sandbox` is `auto`, `required` or `off`. Raises UsageError
    when a directory is missing, a settings or policy file is wrong, or the sandbox that is required does not work.
    """
    run_config = load_run_config(directories, environment=environment)
    with open_toolset(run_config, approver, allowed_tools=allowed_tools, mode=mode, sandbox=sandbox) as toolset:
        yield toolset.session


@frozen
class Toolset:
    """A session of tools, and what it stands on."""

    session: SessionTools
    services: "ToolServices"
    roots: "Roots"
    hooks: "SessionHooks | None" = None


@contextmanager
def open_toolset(
    run_config: RunConfig,
    approver: Approver | None,
    *,
    allowed_tools: Sequence[str],
    mode: str | None,
    sandbox: str | None,
    tools: Sequence[BaseTool] = (),
    plugins: Plugins | None = None,
    for_model: bool = False,
    within: Sequence[str] = (),
) -> "Generator[Toolset]":
    """The tools on this ground, with some more of the caller's own. Raises UsageError.

    `plugins` are those that were found already. `for_model` keeps the person's keys out of the results, which go to
    somebody else then. `within` are directories in those of the ground: only there is worked then, under the rules of
    the whole.
    """
    from tejat.app.tools.tool_services import ToolServices
    from tejat.engine.calls.serial_approver import SerialApprover
    from tejat.workspace.context import Workspace

    settings = run_config.settings
    texts = read_policy_files(run_config.paths, run_config.roots)
    flags = PolicyOptions(run_config.roots, tuple(allowed_tools), mode)
    with ExitStack() as stack:
        outputs = _output_directories(run_config.paths)
        workspace = stack.enter_context(Workspace(within or run_config.roots, for_reading=outputs))
        services = stack.enter_context(ToolServices(workspace, run_config, sandbox))
        plugins = find_plugins(run_config) if plugins is None else plugins
        registry, problems = _build_registry(services, settings, tools, plugins)
        approver = None if approver is None else SerialApprover(approver)
        hooks = _start_hooks(run_config, approver, services) if settings.hooks else None

        def make_scheduler() -> "Scheduler":
            from tejat.engine.calls.permission import Permission
            from tejat.engine.calls.policy_loader import load_policy, save_rule
            from tejat.engine.calls.scheduler import Scheduler
            from tejat.engine.calls.secret_mask import SecretMask
            from tejat.engine.calls.truncation import OutputTruncator

            limit = settings.output_characters.value or 0
            save = partial(save_rule, run_config.paths, workspace.roots.first.real_path)
            around = tuple(map(os.path.realpath, run_config.roots)) if within else ()
            policy, facts = load_policy(texts, settings, flags), _make_fact_finder(run_config, workspace.roots)
            return Scheduler(
                registry,
                Permission(policy, facts, approver, save=save, rule_roots=around),
                truncator=OutputTruncator(outputs[0], limit=limit) if outputs else None,
                mask=SecretMask(run_config.named_secrets) if for_model else None,
                open_undo=lambda: services.undo,
                hooks=None if hooks is None else hooks.tool_hooks,
            )

        external = (
            _make_external_tools(run_config, services, registry, approver) if has_external_tools(settings) else None
        )
        session = SessionTools(registry, settings, make_scheduler, external, (*run_config.notes, *problems))
        if texts or allowed_tools or any(tool_lists(settings)) or not _is_simple_mode(mode, settings):
            _ = session.scheduler  # what somebody said about calls is looked at before there are any
        yield Toolset(session, services, workspace.roots, hooks)


def has_external_tools(settings: Settings) -> bool:
    return bool(settings.discovery_command or settings.mcp_servers or settings.mcp_server_command)


def _make_external_tools(
    run_config: RunConfig, services: "ToolServices", registry: ToolRegistry, approver: Approver | None
) -> "ExternalTools":
    from tejat.app.tools.external_tools import ExternalToolContext, ExternalTools

    return ExternalTools(
        ExternalToolContext(run_config, services, registry, None if approver is None else approver.ask)
    )


def _start_hooks(run_config: RunConfig, approver: Approver | None, services: "ToolServices") -> "SessionHooks | None":
    from tejat.app.hooks import start_hooks

    return start_hooks(run_config, approver, services)


def _is_simple_mode(mode: str | None, settings: Settings) -> bool:
    """Whether nothing can be wrong with the mode, and it forbids no tool altogether."""
    return mode in (None, "default", "auto_edit", "yolo") and not settings.yolo_disabled.value


def _make_fact_finder(run_config: RunConfig, roots: "Roots") -> "FactCollector":
    from tejat.engine.calls.call_facts import FactCollector

    return FactCollector(roots, home=run_config.paths.home, search_path=run_config.environment.get("PATH", os.defpath))


def _output_directories(paths: AppPaths) -> list[str]:
    """Where long outputs are kept, nowhere if there is no place for them: reading must work without a home."""
    with suppress(UsageError):
        return [make_private_directory(os.path.join(paths.state, "outputs"))]
    return []


def _build_registry(
    services: "ToolServices", settings: Settings, tools: Sequence[BaseTool], plugins: Plugins
) -> tuple[ToolRegistry, list[str]]:
    """Every tool that is there at once, and what is wrong with those that are not. Raises UsageError."""
    registry = session_registry(services)
    for tool in tools:
        registry.register(tool)
    problems = [*plugins.problems, *register_plugins(registry, plugins.tools)]
    core = None if settings.core is None else settings.core.value
    registry.select(core=core, exclude=[entry.value for entry in settings.exclude])
    return registry, problems


@contextmanager
def run_blocking_inline() -> "Generator[None]":
    """Tools do their blocking work in place meanwhile: quicker, where the loop has nothing else to do."""
    from tejat.workspace.threads.offload import run_inline

    token = run_inline.set(True)
    try:
        yield
    finally:
        run_inline.reset(token)


def builtin_registry() -> ToolRegistry:
    """The built-in tools to look at, without a workspace."""
    return session_registry(_NoServices())


class _NoServices:
    def workspace(self) -> NoReturn:
        raise UsageError(gettext_lazy("These tools are for looking at; open_tools makes ones that work."))

    shell = memory = web = corrector = workspace
