"""`stop_background_process`: stops a background command and everything it started."""

import hashlib
from typing import Annotated

from tejat.core.approval.confirmation import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ProposingTool, ToolContext, ToolResult
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.list_background_processes import describe_job_state
from tejat.workspace.jobs.store import Job, JobState, JobStore
from tejat.workspace.threads.offload import run_blocking


class StopJobParams(Frozen):
    pid: Annotated[int, Param("The process, as `list_background_processes` tells it.", minimum=1)]


class StopBackgroundProcessTool(ProposingTool[StopJobParams]):
    error_label = "stop background process"

    def __init__(self, jobs: JobStore) -> None:
        super().__init__(
            **tool_labels("stop_background_process", "StopBackgroundProcess"),
            parameters=StopJobParams,
            kind=Kind.EXECUTE,
        )
        self._jobs = jobs

    def describe(self, params: StopJobParams) -> str:
        return f"Stopping process {params.pid}"

    async def propose(self, params: StopJobParams) -> Confirmation | None:
        job = await run_blocking(lambda _: self._jobs.get(params.pid))
        if job.state is JobState.EXITED:
            return None
        prompt = f"Stop process {job.pid} and everything that it started?\nIt runs: {job.command}\nIn: {job.directory}"
        return InfoConfirmation("Confirm Stop", prompt, digest=_digest(job))

    async def run(self, params: StopJobParams, context: ToolContext) -> ToolResult:
        job = await run_blocking(lambda _: self._jobs.get(params.pid))
        if context.approved is not None and context.approved.digest != _digest(job):
            message = lazy("The process differs from the one shown, so nothing was done.")
            raise ToolFailure(message, ErrorType.STALE_FILE)
        if job.state is JobState.EXITED:
            message = f"Process {job.pid} has ended already: {describe_job_state(job)}."
            return ToolResult(message, message)
        stopped = await run_blocking(lambda _: self._jobs.stop(job.pid))
        message = f"Process {job.pid} was stopped with everything that it had started: {describe_job_state(stopped)}."
        return ToolResult(message, message)


def _digest(job: Job) -> str:
    """Identify the job by its log file, since process ids are reused."""
    return hashlib.sha256(job.log.encode("utf-8", "surrogateescape")).hexdigest()
