"""The lifespan of an agent: opens its services and its first session, and closes them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from tejat.app.diagnostics.event_log import log_event
from tejat.app.model_source import RunModel, open_run_model
from tejat.app.run_config import RunConfig, load_agent_config
from tejat.app.session.manager import SessionManager
from tejat.app.tools.toolset import open_toolset
from tejat.core.agent.events import AgentEvent, Noticed, Prompted
from tejat.core.agent.options import AgentOptions, PolicyOptions
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.sessions.session import Session

if TYPE_CHECKING:
    from tejat.app.session.interactive import InteractiveSession
    from tejat.app.tools.external_tools import ExternalTools
    from tejat.core.approval.confirmation import Approver
    from tejat.core.approval.user_question import PresetAnswers
    from tejat.core.model import AskModel, ModelRequest, ModelResponse
    from tejat.engine.sessions.questions import QuestionQueue
    from tejat.workspace.processes.supervisor_client import ProcessSupervisor


_START_ROUNDS = 8
"""Rounds of the event loop in which the tasks of all servers have sent their programs to the supervisor."""

_REQUEST_SECONDS = 0.2
"""After these the first request is on its way. Short runs have ended before."""

ServeSession: TypeAlias = Callable[
    [EventBus[AgentEvent], "Callable[[], InteractiveSession]"], AbstractAsyncContextManager[None]
]
"""Makes a session available to other processes while the context is open."""


@asynccontextmanager
async def open_agent(
    options: AgentOptions,
    approver: Approver | None = None,
    *,
    run_config: RunConfig | None = None,
    serve: ServeSession | None = None,
) -> AsyncGenerator[Session]:
    """Open a session that runs prompts. Without an approver every call that needs approval is refused.

    `run_config` is the configuration for these options, if it was loaded already. Raises UsageError, and ModelFailure
    without a key for the model.
    """
    async with AsyncExitStack() as stack:
        opening = open_session_manager(options, approver, run_config=run_config)
        manager = await stack.enter_async_context(opening)
        if serve is not None:
            await stack.enter_async_context(serve(manager.events, lambda: _open_interactive(manager, stack)))
        yield manager.session


def _open_interactive(manager: SessionManager, stack: AsyncExitStack) -> InteractiveSession:
    from tejat.app.session.interactive import InteractiveSession

    session = InteractiveSession(manager)
    stack.push_async_callback(session.close)
    return session


@asynccontextmanager
async def open_session_manager(
    options: AgentOptions,
    approver: Approver | None = None,
    *,
    interactive: bool = False,
    run_config: RunConfig | None = None,
) -> AsyncGenerator[SessionManager]:
    """Open the services of an agent and its first session. Raises as `open_agent` does.

    If it is `interactive`, front ends may answer questions; otherwise only the approver does.
    """
    run_config = run_config or load_agent_config(options)
    _check_settings(options, run_config)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_end_threads)
        # The first screen does not wait for servers, so it should not share the processor with them.
        supervisor = None if interactive else _start_supervisor(run_config, stack)
        model_stack = await stack.enter_async_context(AsyncExitStack())  # the tools are closed before the model
        events = EventBus[AgentEvent]()
        telemetry_notes = _observe_events(run_config, events)
        questions = _open_questions(events, approver) if interactive or approver is not None else None
        toolset = stack.enter_context(
            open_toolset(
                run_config,
                questions,
                policy=_policy_options(options),
                sandbox=options.sandbox,
                tools=options.tools,
                for_model=True,
                registers_skills=False,
                editor=options.buffers,
                functions=options.hooks,
            )
        )
        toolset.services.answers = _preset_answers(options)
        toolset.services.terminals = options.terminals
        toolset.services.on_warning = lambda message: events.emit(Noticed(message))

        async def ask_model(request: ModelRequest) -> ModelResponse:
            return await manager.ask(request)

        if supervisor is not None:
            toolset.services.supervisor = supervisor
        # Before the model, which takes a while to load: servers start meanwhile.
        await _start_external_tools(toolset.external, ask_model, stack, at_once=not interactive)
        run_model = _open_model(options, run_config, model_stack)
        place_warnings = _place_warnings(run_config) if interactive else ()
        toolset.notes += (*telemetry_notes, *_settings_notes(run_config), *place_warnings)
        manager = SessionManager(options, run_config, toolset, run_model, events, questions, is_interactive=interactive)
        _watch_jobs(manager, stack)
        if not interactive:
            _write_system_prompt(run_config, manager.builtin_system_prompt)
        stack.push_async_callback(manager.close)
        _prefetch_undo_later(manager, stack)
        yield manager


async def _end_threads() -> None:
    """End the threads of the pool, which most short runs do not load."""
    if "tejat.workspace.threads.pool" in sys.modules:
        from tejat.workspace.threads.pool import shutdown

        await shutdown()


def _open_questions(events: EventBus[AgentEvent], approver: Approver | None) -> QuestionQueue:
    from tejat.engine.sessions.questions import QuestionQueue, QuestionResponder

    questions = QuestionQueue(events)
    if approver is not None:
        events.subscribe(QuestionResponder(questions, approver))
    return questions


def _preset_answers(options: AgentOptions) -> PresetAnswers | None:
    if not options.answers and not options.requires_answers:
        return None
    from tejat.core.approval.user_question import PresetAnswers

    return PresetAnswers(options.answers, options.requires_answers)


def _watch_jobs(manager: SessionManager, stack: AsyncExitStack) -> None:
    if manager.run_config.settings.background_completion.value != "silent":
        from tejat.app.session.job_watch import watch_jobs

        stack.push_async_callback(watch_jobs(manager).close)


def _prefetch_undo_later(manager: SessionManager, stack: AsyncExitStack) -> None:
    """Look at a large project for undo while the model answers the first prompt."""

    def handle_event(event: AgentEvent) -> None:
        if isinstance(event, Prompted):
            unsubscribe()
            timer = asyncio.get_running_loop().call_later(_REQUEST_SECONDS, load)
            stack.callback(timer.cancel)

    def load() -> None:
        from tejat.app.session.undo.prefetch import prefetch_undo

        stack.callback(asyncio.ensure_future(prefetch_undo(manager)).cancel)

    unsubscribe = manager.events.subscribe(handle_event)


def _open_model(options: AgentOptions, run_config: RunConfig, stack: AsyncExitStack) -> RunModel:
    run_model = open_run_model(options, run_config)
    if run_model.recorded_at is not None:
        stack.callback(_remove_plans, run_config, run_model)
    stack.push_async_callback(run_model.model.close)
    # A local server is asked while everything else is set up.
    stack.callback(asyncio.ensure_future(run_model.model.prepare()).cancel)
    return run_model


def _start_supervisor(run_config: RunConfig, stack: AsyncExitStack) -> ProcessSupervisor | None:
    """Start the supervisor for MCP servers, if there are any: it gets ready while everything else is set up."""
    settings = run_config.settings
    if not settings.mcp_enabled.value or not run_config.trust.is_trusted:
        return None
    if not settings.mcp_server_command and not any(each.value.command for each in settings.mcp_servers.values()):
        return None
    from tejat.workspace.processes.supervisor_client import ProcessSupervisor

    supervisor = ProcessSupervisor()
    stack.callback(supervisor.close)
    with suppress(OSError):  # the first server tries again, and reports it
        supervisor.prepare()
    return supervisor


async def _start_external_tools(
    external: ExternalTools | None, ask_model: AskModel, stack: AsyncExitStack, *, at_once: bool
) -> None:
    """Start to look for external tools: in a task that runs later, or `at_once`."""
    if external is None:
        return
    stack.push_async_callback(external.close)
    external.attach_model(ask_model)
    await external.request_gate.close()
    external.start()
    for _ in range(_START_ROUNDS if at_once else 0):
        await asyncio.sleep(0)


def _remove_plans(run_config: RunConfig, run_model: RunModel) -> None:
    """Remove the private plan files of a replay, which is not kept."""
    directory = run_config.paths.session_plans(run_config.roots[0], run_model.plans_id)
    if os.path.isdir(directory):
        from tejat.engine.plans.storage import remove_plans

        remove_plans(directory)


def _observe_events(run_config: RunConfig, events: EventBus[AgentEvent]) -> tuple[str, ...]:
    """Log the events, start the telemetry that the user wants, and return notes for it."""
    events.subscribe(log_event)
    variables = (name for name in run_config.environment if name.startswith("GEMINI_TELEMETRY_"))
    if not run_config.settings.telemetry and not any(variables):
        return ()
    from tejat.app.diagnostics.telemetry import start_telemetry

    return start_telemetry(run_config, events)


def _place_warnings(run_config: RunConfig) -> tuple[str, ...]:
    from tejat.app.setup.place_warnings import place_warnings

    return place_warnings(run_config)


def _write_system_prompt(run_config: RunConfig, build: Callable[[], str]) -> None:
    if run_config.environment.get("GEMINI_WRITE_SYSTEM_MD"):
        from tejat.app.onboarding.system_prompt_file import write_system_prompt

        write_system_prompt(run_config, build)


def _check_settings(options: AgentOptions, run_config: RunConfig) -> None:
    """Raise ConfigurationError for a problem in settings that must be strict, and for a plan directory outside."""
    if options.strict_settings or run_config.is_strict:
        from tejat.app.setup.strict import check_settings

        check_settings(run_config)
    plan_directory = run_config.settings.plan_directory
    if plan_directory is not None and run_config.settings.plan_enabled.value:
        from tejat.engine.plans.locations import check_plan_setting

        check_plan_setting(plan_directory, run_config.roots[0])


def _settings_notes(run_config: RunConfig) -> tuple[str, ...]:
    if not run_config.settings_files:
        return ()
    from tejat.app.setup.notes import settings_notes

    return settings_notes(run_config)


def _policy_options(options: AgentOptions) -> PolicyOptions:
    return PolicyOptions(
        allowed_tools=options.allowed_tools,
        mode=options.mode,
        policy_paths=options.policy_paths,
        admin_policy_paths=options.admin_policy_paths,
    )
