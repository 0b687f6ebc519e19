"""`read_background_output`: what a command in the background has printed, from its end or on from where one was."""

import asyncio
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.schema import Param
from tejat.core.tool import Kind, ToolContext, ToolResult, TypedTool
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.tools.list_background_processes import how_it_goes
from tejat.tools.words import description_of
from tejat.workspace.jobs import Jobs
from tejat.workspace.offload import off_loop

LONGEST_DELAY = 60_000


@value
class ReadOutputParams:
    pid: Annotated[int, Param("The process, as `list_background_processes` tells it.", minimum=1)]
    lines: Annotated[int, Param("How many lines to give at most.", minimum=1, json_type="number")] = 100
    offset: Annotated[
        int | None, Param("The byte to begin with. Default: the last lines.", minimum=0, json_type="number")
    ] = None
    delay_ms: Annotated[
        int, Param("Milliseconds to wait before reading, at most 60000.", minimum=0, json_type="number")
    ] = 0


class ReadBackgroundOutputTool(TypedTool[ReadOutputParams]):
    spoken_name = "read background output"
    bounds_output = True

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(
            name="read_background_output",
            display_name="ReadBackgroundOutput",
            description=description_of("read_background_output"),
            parameters=ReadOutputParams,
            kind=Kind.READ,
            is_output_markdown=False,
        )
        self._jobs = jobs

    def check(self, params: ReadOutputParams) -> None:
        if params.delay_ms > LONGEST_DELAY:
            raise ToolFailure(
                phrase("params/delay_ms must be <= {most}", most=LONGEST_DELAY), ErrorType.INVALID_TOOL_PARAMS
            )

    def describe(self, params: ReadOutputParams) -> str:
        return f"Reading the output of process {params.pid}"

    async def run(self, params: ReadOutputParams, context: ToolContext) -> ToolResult:
        await asyncio.sleep(params.delay_ms / 1000)
        # First how it goes and then what it printed, so that the output of one that has ended is all there.
        job, part = await off_loop(
            lambda _: (
                self._jobs.job(params.pid),
                self._jobs.read(params.pid, offset=params.offset, lines=params.lines),
            )
        )
        told = (
            f"[Process {job.pid}: {how_it_goes(job)}. Bytes {part.offset} to {part.next_offset} of {part.size}; "
            f"use offset {part.next_offset} to read on.]\n{part.text or '(no output)'}"
        )
        return ToolResult(told, part.text)
