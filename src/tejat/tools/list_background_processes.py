"""`list_background_processes`: lists background commands of this session and earlier ones."""

from datetime import datetime

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.sanitize import sanitize_summary, sanitize_text
from tejat.core.tools.base import ToolContext, ToolResult, TypedTool
from tejat.tools.descriptions import tool_labels
from tejat.tools.shell.result import signal_name
from tejat.workspace.jobs.store import Job, JobList, JobState, JobStore
from tejat.workspace.processes.shell_output import format_size
from tejat.workspace.threads.offload import run_blocking


class ListJobsParams(Frozen):
    pass


class ListBackgroundProcessesTool(TypedTool[ListJobsParams]):
    error_label = "list background processes"

    def __init__(self, jobs: JobStore) -> None:
        super().__init__(
            **tool_labels("list_background_processes", "ListBackgroundProcesses"),
            parameters=ListJobsParams,
            kind=Kind.READ,
        )
        self._jobs = jobs

    def describe(self, params: ListJobsParams) -> str:
        return "Listing the background processes"

    async def run(self, params: ListJobsParams, context: ToolContext) -> ToolResult:
        found = await run_blocking(lambda _: self._jobs.list_jobs())
        running = sum(job.state is JobState.RUNNING for job in found.jobs)
        display = lazy("{count} background process(es), {running} running.", count=len(found.jobs), running=running)
        return ToolResult(_format_jobs(found), display)


def describe_job_state(job: Job) -> str:
    """Describe whether a job is running or how it ended."""
    if job.state is JobState.RUNNING:
        return "running"
    if job.signal is not None:
        return f"killed by {signal_name(job.signal)}"
    return "ended, nobody knows how" if job.exit_code is None else f"exited with code {job.exit_code}"


def _format_jobs(found: JobList) -> str:
    lines = [_format_job(job) for job in found.jobs] or ["There are no background processes."]
    return "\n".join([*lines, *(f"This record cannot be read: {path}" for path in found.unreadable)])


def _format_job(job: Job) -> str:
    began = datetime.fromtimestamp(job.started).astimezone().isoformat(sep=" ", timespec="seconds")
    return (
        f"PID {job.pid}: {describe_job_state(job)}, started {began}, {format_size(job.log_size)} of output, "
        f"in {sanitize_text(job.directory)}: {sanitize_summary(job.command)}"
    )
