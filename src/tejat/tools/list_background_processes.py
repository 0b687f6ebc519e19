"""`list_background_processes`: the commands that were left in the background, in this session or an earlier one."""

from datetime import datetime

from tejat.core.tool import Kind, ToolContext, ToolResult, TypedTool
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.tools.shell_result import signal_name
from tejat.tools.words import description_of
from tejat.workspace.jobs import Found, Job, Jobs, JobState
from tejat.workspace.offload import off_loop
from tejat.workspace.processes.shell_output import in_words


@value
class ListParams:
    pass


class ListBackgroundProcessesTool(TypedTool[ListParams]):
    spoken_name = "list background processes"

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(
            name="list_background_processes",
            display_name="ListBackgroundProcesses",
            description=description_of("list_background_processes"),
            parameters=ListParams,
            kind=Kind.READ,
        )
        self._jobs = jobs

    def describe(self, params: ListParams) -> str:
        return "Listing the background processes"

    async def run(self, params: ListParams, context: ToolContext) -> ToolResult:
        found = await off_loop(lambda _: self._jobs.found())
        running = sum(job.state is JobState.RUNNING for job in found.jobs)
        display = phrase("{count} background process(es), {running} running.", count=len(found.jobs), running=running)
        return ToolResult(_told(found), display)


def how_it_goes(job: Job) -> str:
    """Whether it runs, or how it ended."""
    if job.state is JobState.RUNNING:
        return "running"
    if job.signal is not None:
        return f"ended by {signal_name(job.signal)}"
    return "ended, nobody knows how" if job.exit_code is None else f"exited with code {job.exit_code}"


def _told(found: Found) -> str:
    lines = [_line(job) for job in found.jobs] or ["There are no background processes."]
    return "\n".join([*lines, *(f"This record cannot be read: {path}" for path in found.unreadable)])


def _line(job: Job) -> str:
    began = datetime.fromtimestamp(job.started).astimezone().isoformat(sep=" ", timespec="seconds")
    return (
        f"PID {job.pid}: {how_it_goes(job)}, started {began}, {in_words(job.log_size)} of output, "
        f"in {visible(job.directory)}: {' '.join(visible(job.command).splitlines())}"
    )
