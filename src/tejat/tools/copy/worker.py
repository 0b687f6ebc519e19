"""The worker of a copy: a program that runs tools on the files as it sees them, for a client outside of the copy.

It is started inside of the sandbox that the commands of a session run in, and speaks JSON lines over its standard
input, which is a socket. The first line configures it; each further line is a call, or cancels one.
"""

import asyncio
import os
import socket
import sys
from contextlib import suppress

from tejat.core.errors import ErrorType, TejatError, ToolFailure
from tejat.core.json_text import load_json
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.types import JsonObject
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult, execute_safely, failure_result
from tejat.tools import FILE_TOOLS, load_file_tool
from tejat.tools.copy.wire_format import MAX_LINE_BYTES, encode_line, result_to_json
from tejat.tools.run_shell_command import ShellTool
from tejat.workspace.context import Workspace
from tejat.workspace.files.private_files import make_private_directory
from tejat.workspace.jobs.store import JobStore
from tejat.workspace.paths.ignore_rules import IgnoreOptions
from tejat.workspace.paths.real_path import real_path
from tejat.workspace.processes.shell import ShellContext
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

SHELL_TOOL = "run_shell_command"
COPIED_TOOLS = frozenset({*FILE_TOOLS, SHELL_TOOL})
"""Tools that work on files, and so have to run inside of a copy."""


def main() -> None:
    """Serve the socket that is the standard input until it is closed."""
    connection = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)  # nothing that a tool prints gets between the answers
    with suppress(ConnectionError):
        asyncio.run(_serve(connection))


async def _serve(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection, limit=MAX_LINE_BYTES)
    worker = _Worker(JsonFields(load_json(await reader.readline())), writer)
    try:
        worker.send({"ready": True})
        while line := await reader.readline():
            worker.accept(JsonFields(load_json(line)))
    finally:
        await worker.close()
        writer.close()


class _Worker:
    """Runs calls, as many at once as its client asks for."""

    def __init__(self, options: JsonFields, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        scratch = os.environ.get("TMPDIR") or "/tmp"
        outputs = os.path.join(scratch, "tejat-outputs")
        make_private_directory(outputs)
        ignore = IgnoreOptions(options.boolean("git"), options.boolean("gemini"), options.strings("ignoreFiles"))
        self._workspace = Workspace(options.strings("roots"), for_reading=outputs, ignore=ignore)
        self._shell = ShellContext(
            supervisor=ProcessSupervisor(),
            jobs=JobStore(os.path.join(scratch, "tejat-jobs")),
            environment={name: str(value) for name, value in options.object("environment").items()},
            outputs=outputs,
            idle=options.number_or_none("idle"),
        )
        self._tools: dict[str, BaseTool] = {}
        self._calls: dict[int, asyncio.Task[None]] = {}

    def accept(self, request: JsonFields) -> None:
        """Start a call, or cancel one."""
        number = request.integer("id")
        if request.has("cancel"):
            if (running := self._calls.get(number)) is not None:
                running.cancel()
            return
        task = self._calls[number] = asyncio.create_task(self._answer(number, request))
        task.add_done_callback(lambda _: self._calls.pop(number, None))

    def send(self, answer: JsonObject) -> None:
        self._writer.write(encode_line(answer))

    async def close(self) -> None:
        """Stop all calls and commands."""
        for task in list(self._calls.values()):
            task.cancel()
        await asyncio.gather(*self._calls.values(), return_exceptions=True)
        self._shell.close()
        self._workspace.close()

    async def _answer(self, number: int, request: JsonFields) -> None:
        partial: list[ToolResult] = []
        try:
            result = await self._run(number, request, partial)
        except asyncio.CancelledError:
            self.send({"id": number, "cancelled": True, "result": result_to_json(partial[-1]) if partial else None})
            raise
        except TejatError as error:
            failure = error if isinstance(error, ToolFailure) else ToolFailure(str(error), ErrorType.EXECUTION_FAILED)
            result = failure_result(failure)
        self.send({"id": number, "result": result_to_json(result)})

    async def _run(self, number: int, request: JsonFields, partial: list[ToolResult]) -> ToolResult:
        """Raises ToolFailure."""
        for path in request.strings("paths"):
            if (target := real_path(path)) != path:
                # The rules were applied to the path as it is outside of the copy.
                raise ToolFailure(
                    f"{path} leads to {target} in this copy. Use that path instead.", ErrorType.EXECUTION_FAILED
                )
        tool = self._tool(request.string("name"))
        context = ToolContext(
            update_output=lambda output: self.send({"id": number, "output": output}),
            keep_partial=partial.append,
            environment={name: str(value) for name, value in request.object("environment").items()},
        )
        return await execute_safely(tool, request.object("args"), context)

    def _tool(self, name: str) -> BaseTool:
        if name not in self._tools:
            is_shell = name == SHELL_TOOL
            self._tools[name] = (
                ShellTool(self._workspace, self._shell) if is_shell else load_file_tool(name, self._workspace)
            )
        return self._tools[name]


if __name__ == "__main__":
    main()
