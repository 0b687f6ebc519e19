"""Reports of ended background commands to the user or the model, as the settings say."""

import asyncio
from collections.abc import Callable

from tejat.app.session.manager import SessionManager
from tejat.core.agent.events import Noticed, Severity
from tejat.core.errors import TejatError
from tejat.core.i18n import _
from tejat.core.messages.history import Message, user_message
from tejat.core.sanitize import sanitize_line
from tejat.workspace.jobs.store import Job, JobState, JobStore
from tejat.workspace.threads.offload import run_blocking

_SECONDS_BETWEEN_CHECKS = 1.0
_TAIL_LINES = 20
_MAX_COMMAND_LENGTH = 100


def watch_jobs(manager: SessionManager) -> "JobWatch":
    """Watch the background commands of a session as its settings say."""

    def inject(message: Message, text: str) -> None:
        manager.session.add_note(message, text)

    watch = JobWatch(
        lambda line: manager.events.emit(Noticed(line, Severity.NOTE)),
        inject if manager.run_config.settings.background_completion.value == "inject" else None,
    )
    manager.toolset.services.on_background = watch.watch
    return watch


class JobWatch:
    """Follows background commands until they end.

    `notify` gets a line for the user, `inject` a message that goes to the model with the next prompt.
    """

    def __init__(self, notify: Callable[[str], None], inject: Callable[[Message, str], None] | None = None) -> None:
        self._notify = notify
        self._inject = inject
        self._tasks: set[asyncio.Task[None]] = set()

    def watch(self, jobs: JobStore, job: Job) -> None:
        """Follow a command that is running now."""
        task = asyncio.create_task(self._follow(jobs, job.pid))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self, jobs: JobStore, pid: int) -> None:
        try:
            job = await run_blocking(lambda _: jobs.get(pid))
            while job.state is JobState.RUNNING:
                await asyncio.sleep(_SECONDS_BETWEEN_CHECKS)
                job = await run_blocking(lambda _: jobs.get(pid))
            tail = await run_blocking(lambda _: jobs.read_log(pid, lines=_TAIL_LINES))
        except TejatError:
            return  # its record is gone
        line = _describe_end(job)
        if self._inject is not None:
            self._inject(user_message(f"{line}\nThe last lines of its output:\n{tail.text}"), line)
        self._notify(line)


def _describe_end(job: Job) -> str:
    command = sanitize_line(job.command)
    if len(command) > _MAX_COMMAND_LENGTH:
        command = f"{command[:_MAX_COMMAND_LENGTH]}..."
    if job.exit_code is not None:
        return _(
            "Background process {pid} exited with code {code}: {command}",
            pid=job.pid,
            code=job.exit_code,
            command=command,
        )
    if job.signal is not None:
        return _(
            "Background process {pid} was killed by signal {signal}: {command}",
            pid=job.pid,
            signal=job.signal,
            command=command,
        )
    return _("Background process {pid} was killed: {command}", pid=job.pid, command=command)
