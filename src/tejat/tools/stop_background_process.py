"""`stop_background_process`: ends a command that was left in the background, with everything that it started."""

import hashlib
from typing import Annotated

from tejat.core.confirm import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.schema import Param
from tejat.core.tool import Kind, ProposingTool, ToolContext, ToolResult
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.tools.list_background_processes import how_it_goes
from tejat.tools.words import description_of
from tejat.workspace.jobs import Job, Jobs, JobState
from tejat.workspace.offload import off_loop


@value
class StopParams:
    pid: Annotated[int, Param("The process, as `list_background_processes` tells it.", minimum=1)]


class StopBackgroundProcessTool(ProposingTool[StopParams]):
    spoken_name = "stop background process"

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(
            name="stop_background_process",
            display_name="StopBackgroundProcess",
            description=description_of("stop_background_process"),
            parameters=StopParams,
            kind=Kind.EXECUTE,
        )
        self._jobs = jobs

    def describe(self, params: StopParams) -> str:
        return f"Stopping process {params.pid}"

    async def propose(self, params: StopParams) -> Confirmation | None:
        job = await off_loop(lambda _: self._jobs.job(params.pid))
        if job.state is JobState.EXITED:
            return None
        prompt = f"Stop process {job.pid} and everything that it started?\nIt runs: {job.command}\nIn: {job.directory}"
        return InfoConfirmation("Confirm Stop", prompt, digest=_digest(job))

    async def run(self, params: StopParams, context: ToolContext) -> ToolResult:
        job = await off_loop(lambda _: self._jobs.job(params.pid))
        if context.approved is not None and context.approved.digest != _digest(job):
            raise ToolFailure(
                phrase("The process is not the one that was shown, so nothing was done."), ErrorType.STALE_FILE
            )
        if job.state is JobState.EXITED:
            told = f"Process {job.pid} has ended already: {how_it_goes(job)}."
            return ToolResult(told, told)
        stopped = await off_loop(lambda _: self._jobs.stop(job.pid))
        told = f"Process {job.pid} was stopped with everything that it had started: {how_it_goes(stopped)}."
        return ToolResult(told, told)


def _digest(job: Job) -> str:
    """Names the job for good: its pid may come around again."""
    return hashlib.sha256(job.log.encode("utf-8", "surrogateescape")).hexdigest()
