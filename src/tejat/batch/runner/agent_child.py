"""The run of an agent in a child of the template process: a headless run with its own state, and its transcript."""

import os
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from tejat.app.run_config import RunConfig, load_agent_config
from tejat.app.session.lifespan import open_agent
from tejat.batch.directory import BatchDirectory
from tejat.batch.job import TaskJob
from tejat.batch.runner.activity import ActivityReporter
from tejat.batch.runner.child_request import ChildRequest
from tejat.batch.runner.transcript import write_transcript
from tejat.config.paths import SourceTier, app_paths
from tejat.config.settings.types import Setting
from tejat.core.agent.options import AgentOptions
from tejat.core.frozen import replace
from tejat.engine.sessions.session import Session
from tejat.models.rate_limits.rate_file import RATE_LIMITS_VARIABLE, create_rate_file
from tejat.ui.headless.runner import report_failure, run_headless
from tejat.ui.signals import graceful_termination

STATE_VARIABLE = "XDG_STATE_HOME"
_FORMAT = "stream-json"


def run_agent(request: ChildRequest, channel: socket.socket) -> int:
    """Run the agent of a job in the current process and return its exit code. Events go to standard output."""
    job = request.job
    task = BatchDirectory(job.directory).task(job.task.id)
    options = agent_options(job)
    try:
        with graceful_termination():
            os.chdir(task.tree)
            create_rate_file(BatchDirectory(job.directory).rates, job.rates)
            run_config = load_task_config(options, request)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- reported like any other error of a run
        return report_failure(error, output_format=_FORMAT)

    @asynccontextmanager
    async def open_session() -> AsyncGenerator[Session]:
        async with open_agent(options, run_config=run_config) as session:
            session.subscribe(ActivityReporter(channel, task.tree))
            yield session

    try:
        return run_headless(open_session, job.task.prompt, output_format=_FORMAT)
    finally:
        write_transcript(run_config, task.transcript)


def agent_options(job: TaskJob) -> AgentOptions:
    """The options of the agent, with a state of its own."""
    wanted, directory = job.task, BatchDirectory(job.directory)
    task = directory.task(wanted.id)
    # Without rates too: a wait that a service asks for counts for all tasks.
    environment = {**os.environ, STATE_VARIABLE: task.state, RATE_LIMITS_VARIABLE: directory.rates}
    return AgentOptions(
        directories=(task.tree,),
        model=wanted.model,
        mode=wanted.approval_mode,
        allowed_tools=wanted.allowed_tools,
        excluded_tools=wanted.excluded_tools,
        sandbox=wanted.sandbox,
        trusts_folder=wanted.trusts_folder,
        max_turns=wanted.limits.turns,
        max_tokens=wanted.limits.tokens,
        max_cost=wanted.limits.cost,
        timeout=wanted.limits.seconds,
        environment=environment,
    )


def load_task_config(options: AgentOptions, request: ChildRequest) -> RunConfig:
    """Load the configuration of a run with a state of its own.

    Commands get the user's variable for the state directory, and cannot read that directory, the tasks of the batch or
    its results. They can read the mirror, where the objects of their repository are. Raises UsageError.
    """
    run_config = load_agent_config(options)
    directory = BatchDirectory(request.job.directory)
    hidden = (directory.tasks, directory.plan, directory.settings, directory.results, directory.events)
    shown = Setting((request.mirror,), "batch", SourceTier.USER)
    settings = run_config.settings
    return replace(
        run_config,
        environment=_with_own(run_config.environment, STATE_VARIABLE),
        paths=replace(run_config.paths, user_state=app_paths(os.environ).state, hidden=hidden),
        settings=replace(settings, sandbox_allowed_paths=(*settings.sandbox_allowed_paths, shown)),
    )


def _with_own(environment: Mapping[str, str], name: str) -> Mapping[str, str]:
    """The environment with the variable as it is outside of the batch."""
    changed = {**environment}
    changed.pop(name, None)
    if name in os.environ:
        changed[name] = os.environ[name]
    return changed
