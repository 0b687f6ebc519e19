"""`read_background_output`: reads the output of a background command, from its end or from an offset."""

import asyncio
from typing import Annotated

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolContext, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params
from tejat.tools.list_background_processes import describe_job_state
from tejat.workspace.jobs.store import JobStore
from tejat.workspace.threads.offload import run_blocking

MAX_DELAY_MS = 60_000


class ReadOutputParams(Frozen):
    pid: Annotated[int, Param("The process, as `list_background_processes` tells it.", minimum=1)]
    lines: Annotated[int, Param("How many lines to give at most.", minimum=1, json_type="number")] = 100
    offset: Annotated[
        int | None, Param("The byte to begin with. Default: the last lines.", minimum=0, json_type="number")
    ] = None
    delay_ms: Annotated[
        int, Param("Milliseconds to wait before reading, at most 60000.", minimum=0, json_type="number")
    ] = 0


class ReadBackgroundOutputTool(TypedTool[ReadOutputParams]):
    error_label = "read background output"
    limits_own_output = True

    def __init__(self, jobs: JobStore) -> None:
        super().__init__(
            **tool_labels("read_background_output", "ReadBackgroundOutput"),
            parameters=ReadOutputParams,
            kind=Kind.READ,
            is_output_markdown=False,
        )
        self._jobs = jobs

    def check(self, params: ReadOutputParams) -> None:
        if params.delay_ms > MAX_DELAY_MS:
            raise invalid_params(lazy("params/delay_ms must be <= {most}", most=MAX_DELAY_MS))

    def describe(self, params: ReadOutputParams) -> str:
        return f"Reading the output of process {params.pid}"

    async def run(self, params: ReadOutputParams, context: ToolContext) -> ToolResult:
        await asyncio.sleep(params.delay_ms / 1000)
        # State first, output second: the output of a job that has ended is then complete.
        job, part = await run_blocking(
            lambda _: (
                self._jobs.get(params.pid),
                self._jobs.read_log(params.pid, offset=params.offset, lines=params.lines),
            )
        )
        message = (
            f"[Process {job.pid}: {describe_job_state(job)}. Bytes {part.offset} to {part.next_offset} of {part.size}; "
            f"use offset {part.next_offset} to read on.]\n{part.text or '(no output)'}"
        )
        return ToolResult(message, part.text)
