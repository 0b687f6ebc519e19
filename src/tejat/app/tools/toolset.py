"""The tools of a session: registry, scheduler and services."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from tejat.app.plugins.discovery import Plugins, find_plugins, register_plugins
from tejat.app.run_config import RunConfig
from tejat.app.tools.sdk_answers import SdkAnswers
from tejat.app.tools.skill_tools import find_skill_scripts, find_tool_rules, register_skills
from tejat.config.paths import AppPaths
from tejat.config.policy_files import PolicyFile, read_policy_files
from tejat.config.settings.types import Settings, tool_lists
from tejat.core.approval.modes import TOOL_MODES, ApprovalMode
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.tool_names import WRITE_TODOS
from tejat.core.messages.types import FunctionCall, Params
from tejat.tools import session_registry
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.mcp.manager import McpManager
    from tejat.app.tools.external_tools import ExternalTools
    from tejat.app.tools.tool_services import ToolServices
    from tejat.core.agent.editor import EditorBuffers
    from tejat.core.agent.hooks import Hook, HookEvent
    from tejat.core.agent.options import PolicyOptions
    from tejat.core.approval.confirmation import Approver
    from tejat.core.tools.base import BaseTool, ToolResult
    from tejat.core.tools.call_events import CallEventSink, CallFinished
    from tejat.engine.calls.scheduler import Scheduler
    from tejat.engine.hooks.session_hooks import SessionHooks
    from tejat.policy.engine import PolicyEngine
    from tejat.workspace.files.roots import Roots


class Toolset(SdkAnswers):
    """The tools of a session with everything that runs their calls.

    `external` are the tools that have to be discovered. `notes` tell the user why expected tools are missing, and
    `policy_notes` what is special about the rules. `start_scheduler` creates the scheduler, because runs without tool
    calls do not need it.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        settings: Settings,
        services: ToolServices,
        make_scheduler: Callable[[], Scheduler],
        *,
        hooks: SessionHooks | None = None,
        external: ExternalTools | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.registry = registry
        self.settings = settings
        self.services = services
        self.hooks = hooks
        self.external = external
        self.notes = notes
        self.policy_notes: tuple[str, ...] = ()
        self.initial_mode: str = ApprovalMode.DEFAULT
        """The mode until the scheduler is started."""
        self.has_plans = False
        """Whether plan files can be written in plan mode."""
        self._make_scheduler = make_scheduler
        self._scheduler: Scheduler | None = None
        self._is_closed = False

    async def call(
        self,
        call: FunctionCall | str,
        params: Params | None = None,
        /,
        *,
        on_event: CallEventSink | None = None,
        **arguments: object,
    ) -> ToolResult:
        """Run one call: `call(FunctionCall(...))`, `call("read_file", path="a.txt")` or `call("read_file", {...})`.

        A refused or failed call is a result with an `error`. Raises TypeError, UsageError when the tools are closed or
        in use in another event loop, and what the approver or `on_event` raises.
        """
        from tejat.app.tools.given_calls import function_call

        (finished,) = await self.call_many([function_call(call, params, arguments)], on_event=on_event)
        return finished.result

    async def call_many(
        self, calls: FunctionCall | Iterable[FunctionCall], *, on_event: CallEventSink | None = None
    ) -> list[CallFinished]:
        """Run the calls of a model and return the last event of each, in order: `result` and `response`.

        Neighbouring calls that only read run at the same time, all others one after another, also those of several
        tasks. `on_event` gets every event. Raises as `call` does, once each call has its response.
        """
        from tejat.app.tools.given_calls import list_calls, run_calls
        from tejat.core.agent.event_function import check_event_function

        self._require_open()
        on_event = check_event_function(on_event)
        return await run_calls(self.start_scheduler(), list_calls(calls), on_event)

    def declarations(self) -> list[FunctionDeclaration]:
        """The declarations for a model: those of the tools that no rule forbids entirely."""
        entries = (entry for entry in self.registry.entries() if entry.is_declared())
        return [entry.declaration for entry in entries if not self.is_forbidden(entry.own_name, entry.server)]

    def mark_closed(self) -> None:
        """Refuse calls from now on."""
        self._is_closed = True

    def _require_open(self) -> None:
        if self._is_closed:
            raise UsageError(lazy("These tools are closed. Use them inside of `with` or `async with`."))

    def __repr__(self) -> str:
        state = ", closed" if self._is_closed else ""
        return f"<Toolset in {', '.join(self.roots.paths)}, {len(self.registry)} tools{state}>"

    @property
    def roots(self) -> Roots:
        return self.services.workspace().roots

    @property
    def mcp_manager(self) -> McpManager | None:
        """The manager of the MCP servers, None until they are being started."""
        return None if self.external is None else self.external.mcp_manager

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler that `start_scheduler` created. Raises UsageError when the tools are closed."""
        self._require_open()
        if self._scheduler is None:
            raise RuntimeError("The scheduler has not been started.")
        return self._scheduler

    @property
    def policy(self) -> PolicyEngine | None:
        """The rules in force, None before the scheduler is started."""
        return None if self._scheduler is None else self._scheduler.permission.policy

    def start_scheduler(self) -> Scheduler:
        """Load the policy and create the scheduler, once. Raises UsageError for a broken rule."""
        if self._scheduler is None:
            self._scheduler = self._make_scheduler()
        return self._scheduler

    def is_forbidden(self, tool_name: str, server: str | None = None) -> bool:
        """Whether a rule forbids every call of the tool, or the current mode has no use for it."""
        policy = self.policy
        mode = self.initial_mode if policy is None else policy.mode
        if server is None and mode not in TOOL_MODES.get(tool_name, (mode,)):
            return True
        return policy is not None and policy.hides(tool_name, server, has_plans=self.has_plans)

    @property
    def is_planning(self) -> bool:
        return self.policy is not None and self.policy.mode is ApprovalMode.PLAN

    async def discover_tools(self) -> list[str]:
        """Run the discovery command, start the MCP servers and wait for both; return the problems found.

        `async with open_tools()` does this. After a plain `with`, `close` ends what this starts, and must be called in
        the same event loop. Raises UsageError when the tools are closed.
        """
        self._require_open()
        if self.external is None:
            return []
        self.external.start()
        await self.external.wait_ready()
        return self.external.take_notices()

    async def wait_until_current(self) -> None:
        """Wait until the changes of tools that MCP servers have announced so far are in the registry."""
        if self.mcp_manager is not None:
            await self.mcp_manager.wait_until_current()

    def why_missing(self, name: str) -> str | None:
        """Why the server of a missing tool was not started, None if that is not the reason."""
        alias, separator, _rest = name.partition("__")
        return self.mcp_manager.why_not_started(alias) if separator and self.mcp_manager is not None else None

    async def close(self) -> None:
        """End what `discover_tools` started."""
        if self.external is not None:
            await self.external.close()


@contextmanager
def open_toolset(
    run_config: RunConfig,
    approver: Approver | None,
    *,
    policy: PolicyOptions,
    sandbox: str | None,
    runs_nothing: bool = False,
    tools: Sequence[BaseTool] = (),
    plugins: Plugins | None = None,
    for_model: bool = False,
    within: Sequence[str] = (),
    registers_skills: bool = True,
    editor: EditorBuffers | None = None,
    functions: Sequence[tuple[HookEvent, Hook]] = (),
) -> Generator[Toolset]:
    """Open the tools of a run, with the caller's own `tools` added. Raises UsageError.

    The roots of `policy` do not count. `plugins` are already found ones. `for_model` masks secrets in results. `within`
    restricts the work to subdirectories of the roots, under their rules. Without `registers_skills` the caller does so.
    `editor` has the unsaved changes of files. `functions` are hooks of the embedding program.
    """
    from tejat.app.diagnostics.log_file import open_log
    from tejat.app.tools.tool_services import ToolServices
    from tejat.workspace.context import Workspace

    settings, is_trusted = run_config.settings, run_config.trust.is_trusted
    policy = replace(policy, roots=run_config.roots, names_arguments=run_config.names_arguments)
    policy_texts = [
        *read_policy_files(run_config.paths, run_config.roots, settings, policy, is_trusted=is_trusted),
        *run_config.extension_effects.rules,
    ]
    with ExitStack() as stack:
        stack.enter_context(open_log(run_config.paths, run_config.named_secrets))
        outputs = _output_directories(run_config.paths)
        workspace = stack.enter_context(
            Workspace(within or run_config.roots, for_reading=outputs, ignore=run_config.ignore_options, editor=editor)
        )
        services = stack.enter_context(ToolServices(workspace, run_config, sandbox, runs_nothing=runs_nothing))
        plugins = find_plugins(run_config) if plugins is None else plugins
        services.can_ask = approver is not None
        registry, problems = _build_registry(services, settings, tools, plugins)
        problems += register_skills(run_config, services, registry) if registers_skills else ()
        hooks = _start_hooks(run_config, approver, services, functions)
        make_scheduler = partial(
            _make_scheduler,
            *(run_config, approver, registry, services, hooks, policy, policy_texts),
            is_interactive=approver is not None or runs_nothing,
            rule_roots=tuple(map(os.path.realpath, run_config.roots)) if within else (),
            masks_secrets=for_model,
        )
        external = None
        if settings.discovery_command or settings.mcp_servers or settings.mcp_server_command:
            external = _make_external_tools(run_config, services, registry, approver)
        notes = (*run_config.notes, *services.sandbox.notes, *problems)
        toolset = Toolset(registry, settings, services, make_scheduler, hooks=hooks, external=external, notes=notes)
        _load_policy_early(toolset, run_config, policy, policy_texts)
        stack.callback(toolset.mark_closed)
        yield toolset


def _start_hooks(
    run_config: RunConfig,
    approver: Approver | None,
    services: ToolServices,
    functions: Sequence[tuple[HookEvent, Hook]],
) -> SessionHooks | None:
    if not run_config.settings.hooks and not run_config.extension_effects.hooks and not functions:
        return None
    from tejat.app.hooks import start_hooks

    return start_hooks(run_config, approver, services, functions)


def _load_policy_early(
    toolset: Toolset, run_config: RunConfig, policy: PolicyOptions, policy_texts: Sequence[PolicyFile]
) -> None:
    """Load the policy if it may have something to report before the first call. Raises UsageError for a broken rule."""
    if policy.allowed_tools or any(tool_lists(run_config.settings)) or not _is_simple_mode(policy, run_config):
        from tejat.app.tools.policy_report import load_and_report

        load_and_report(toolset, run_config, policy.mode)
    elif policy_texts:
        from tejat.app.tools.plain_rules import load_unless_plain

        load_unless_plain(toolset, run_config, policy.mode, policy_texts)


def _make_scheduler(
    run_config: RunConfig,
    approver: Approver | None,
    registry: ToolRegistry,
    services: ToolServices,
    hooks: SessionHooks | None,
    options: PolicyOptions,
    policy_texts: Sequence[PolicyFile],
    *,
    is_interactive: bool,
    rule_roots: tuple[str, ...],
    masks_secrets: bool,
) -> Scheduler:
    """Load the policy and build the scheduler. Raises UsageError for a broken rule."""
    from tejat.engine.calls.approval.auto_allow import sandboxed_commands, switch_on_sandboxed
    from tejat.engine.calls.call_facts import FactCollector
    from tejat.engine.calls.permission import Permission
    from tejat.engine.calls.policy_loader import load_policy, save_answer
    from tejat.engine.calls.scheduler import Scheduler
    from tejat.engine.calls.secret_mask import SecretMask
    from tejat.engine.calls.truncation import OutputTruncator

    settings, roots = run_config.settings, services.workspace().roots
    saves = settings.permanent_approval is None or settings.permanent_approval.value
    permission = Permission(
        load_policy(
            policy_texts,
            settings,
            options,
            is_trusted=run_config.trust.is_trusted,
            is_interactive=is_interactive,
            sandboxed=sandboxed_commands(settings, options.mode, is_untrusted=run_config.is_untrusted),
        ),
        FactCollector(
            roots,
            home=run_config.paths.home,
            search_path=run_config.environment.get("PATH", os.defpath),
            enclosure=services.sandbox.enclosure,
            skill_scripts=partial(find_skill_scripts, services),
        ),
        approver,
        save=partial(save_answer, run_config.paths, roots.first.real_path) if saves else None,
        save_sandboxed=partial(switch_on_sandboxed, run_config.paths),
        remembers=not settings.always_disabled.value,
        rule_roots=rule_roots,
        tool_rules=find_tool_rules,
        names_arguments=run_config.names_arguments,
    )
    outputs = _output_directories(run_config.paths)
    return Scheduler(
        registry,
        permission,
        truncator=OutputTruncator(outputs[0], limit=settings.output_characters.value or 0) if outputs else None,
        mask=SecretMask(run_config.named_secrets) if masks_secrets else None,
        open_undo=lambda: services.undo,
        hooks=None if hooks is None else hooks.tool_hooks,
    )


def _make_external_tools(
    run_config: RunConfig, services: ToolServices, registry: ToolRegistry, approver: Approver | None
) -> ExternalTools:
    from tejat.app.tools.external_tools import ExternalToolContext, ExternalTools

    ask_user = None if approver is None else approver.ask
    return ExternalTools(ExternalToolContext(run_config, services, registry, ask_user))


def _is_simple_mode(policy: PolicyOptions, run_config: RunConfig) -> bool:
    """Whether the mode is certainly valid, forbids no tool entirely, and needs no note."""
    settings, mode = run_config.settings, policy.mode
    wanted = settings.approval_mode.value if mode is None else mode
    if settings.yolo_disabled.value or settings.conseca.value:
        return False
    is_bold = wanted in (ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO)
    return wanted == ApprovalMode.DEFAULT or (is_bold and mode is not None and not run_config.trust_relevant_files)


def _output_directories(paths: AppPaths) -> list[str]:
    """The directory for long outputs; none without a home directory, because reading must work even then."""
    from tejat.config.files.directory import make_private_directory

    with suppress(UsageError):
        return [make_private_directory(paths.outputs)]
    return []


def _build_registry(
    services: ToolServices, settings: Settings, tools: Sequence[BaseTool], plugins: Plugins
) -> tuple[ToolRegistry, list[str]]:
    """Register the tools that are there at once, and return the problems with others. Raises UsageError."""
    registry = session_registry(services)
    if not settings.uses_write_todos.value:
        registry.unregister(WRITE_TODOS)
    for tool in tools:
        registry.register(tool)
    problems = [*plugins.problems, *register_plugins(registry, plugins.tools)]
    core = None if settings.core is None else settings.core.value
    registry.select(core=core, exclude=[entry.value for entry in settings.exclude])
    return registry, problems


@contextmanager
def run_blocking_inline() -> Generator[None]:
    """Run blocking work of tools in place meanwhile, which is faster when the loop has nothing else to do."""
    from tejat.workspace.threads.offload import run_inline

    token = run_inline.set(True)
    try:
        yield
    finally:
        run_inline.reset(token)
