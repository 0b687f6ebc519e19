"""Calls in a copy: they see the files as they are, and nothing real changes until the copy is applied."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from support.media_files import png
from support.trial_env import PATH, TrialEnv
from support.wait import wait_until
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.types import InlineData
from tejat.core.tools.base import ToolContext, ToolResult
from tejat.core.tools.display import FileDiff
from tejat.tools import load_file_tool
from tejat.tools.copy.copied_tool import CopiedTool
from tejat.tools.copy.worker_client import CopyWorker, WorkerOptions
from tejat.tools.run_shell_command import ShellTool
from tejat.workspace.context import Workspace
from tejat.workspace.jobs.store import JobStore
from tejat.workspace.overlay.copy import OverlayCopy
from tejat.workspace.overlay.manager import OverlayManager
from tejat.workspace.paths.ignore_rules import DEFAULT_IGNORE
from tejat.workspace.processes.environment import child_environment
from tejat.workspace.processes.shell import ShellContext
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.threads.stop import never_stop


class CopyEnv:
    """A worker in a copy of a project, and the tools that use it."""

    def __init__(self, root: Path, copy: OverlayCopy, worker: CopyWorker, workspace: Workspace, shell: ShellContext):
        self.root = root
        self.copy = copy
        self.worker = worker
        self._workspace = workspace
        self._shell = shell

    def tool(self, name: str) -> CopiedTool:
        is_shell = name == "run_shell_command"
        tool = ShellTool(self._workspace, self._shell) if is_shell else load_file_tool(name, self._workspace)
        return CopiedTool(tool, self.worker)

    async def call(self, name: str, context: ToolContext | None = None, **params: object) -> ToolResult:
        return await self.tool(name).execute(params, context or ToolContext())

    async def shell(self, command: str, **params: object) -> ToolResult:
        return await self.tool("run_shell_command").execute({"command": command, **params}, ToolContext())

    def changes(self) -> dict[str, str]:
        return {change.path: change.kind.value for change in self.copy.collect_changes(never_stop).changes}


@asynccontextmanager
async def open_copy(directory: Path) -> AsyncGenerator[CopyEnv]:
    trials = TrialEnv(directory)
    (trials.root / "a.txt").write_text("one\n")
    with trials.open_sandbox() as sandbox, Workspace([trials.root]) as workspace:
        copies = OverlayManager(sandbox, str(trials.copies))
        if not copies.is_supported:
            pytest.skip("NOT TESTED: this machine has no bubblewrap that can lay a copy over files (overlayfs)")
        variables = {"PATH": PATH, "HOME": str(trials.home)}
        shell = ShellContext(
            ProcessSupervisor(),
            JobStore(str(trials.state / "jobs")),
            child_environment(variables, extra=sandbox.environment),
            str(trials.state / "outputs"),
            wrap=sandbox.wrap,
        )
        copy = copies.open()
        worker: CopyWorker | None = None
        try:
            options = WorkerOptions((str(trials.root),), DEFAULT_IGNORE)
            worker = await CopyWorker.start(copies, copy, shell, options)
            yield CopyEnv(trials.root, copy, worker, workspace, shell)
        finally:
            if worker is not None:
                await worker.close()
            copies.close()
            shell.close()


def in_copy(directory: Path, scenario: Callable[[CopyEnv], Awaitable[None]]) -> None:
    real = directory.resolve()

    async def main() -> None:
        async with open_copy(real) as env:
            await scenario(env)

    asyncio.run(main())


def test_edits_and_commands_see_each_other_and_nothing_real_changes(tmp_path: Path) -> None:
    async def scenario(env: CopyEnv) -> None:
        before = {path.name: path.read_text() for path in env.root.iterdir()}
        written = await env.call("write_file", file_path=str(env.root / "new.txt"), content="two\n")
        assert written.error is None
        assert isinstance(written.return_display, FileDiff)
        assert written.return_display.is_new_file
        made = await env.shell("cat new.txt a.txt && echo three > made.txt")
        assert made.exit_code == 0
        assert "two\none" in str(made.llm_content)
        read = await env.call("read_file", path=str(env.root / "made.txt"))
        assert "three" in str(read.llm_content)
        edited = await env.call("replace", file_path=str(env.root / "a.txt"), old_string="one", new_string="1")
        assert edited.error is None
        assert {path.name: path.read_text() for path in env.root.iterdir()} == before
        await env.worker.close()
        assert env.changes() == {"new.txt": "created", "made.txt": "created", "a.txt": "changed"}
        env.copy.apply(never_stop)
        assert (env.root / "a.txt").read_text() == "1\n"
        assert (env.root / "made.txt").read_text() == "three\n"

    in_copy(tmp_path, scenario)


def test_commands_have_no_network_and_none_is_left_running(tmp_path: Path) -> None:
    async def scenario(env: CopyEnv) -> None:
        for params in ({"network": True}, {"is_background": True}):
            with pytest.raises(ToolFailure, match="in this copy"):
                await env.shell("true", **params)
        connect = "exec 3<>/dev/tcp/127.0.0.1/9 2>&1 || echo refused"
        assert "refused" in str((await env.shell(connect)).llm_content)

    in_copy(tmp_path, scenario)


def test_a_link_that_only_the_copy_has_is_not_followed_by_a_tool(tmp_path: Path) -> None:
    async def scenario(env: CopyEnv) -> None:
        (env.root / ".env").write_text("TOKEN=secret-value")
        await env.shell("ln -s .env innocent.txt")
        read = await env.call("read_file", path=str(env.root / "innocent.txt"))
        assert read.error is not None
        assert "leads to" in read.error.message
        assert "secret-value" not in str(read.llm_content)

    in_copy(tmp_path, scenario)


def test_pictures_and_errors_come_out_whole(tmp_path: Path) -> None:
    async def scenario(env: CopyEnv) -> None:
        (env.root / "dot.png").write_bytes(png())
        picture = await env.call("read_file", path=str(env.root / "dot.png"))
        assert isinstance(picture.llm_content, InlineData)
        assert picture.llm_content.mime_type == "image/png"
        missing = await env.call("read_file", path=str(env.root / "missing.txt"))
        assert missing.error is not None
        assert missing.error.type is ErrorType.FILE_NOT_FOUND
        odd = os.fsdecode(b"odd\xff.txt")
        (env.root / odd).write_text("odd\n")
        listed = await env.call("list_directory", path=str(env.root))
        assert "odd" in str(listed.llm_content)

    in_copy(tmp_path, scenario)


def test_live_output_and_a_cancelled_command(tmp_path: Path) -> None:
    async def scenario(env: CopyEnv) -> None:
        outputs: list[str] = []
        partial: list[ToolResult] = []
        context = ToolContext(update_output=outputs.append, keep_partial=partial.append)
        command = "echo begun; echo $$ > pid; sleep 1000"
        call = asyncio.create_task(env.call("run_shell_command", context, command=command))
        await asyncio.to_thread(wait_until, lambda: "begun" in "".join(outputs))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert partial
        assert "begun" in str(partial[-1].llm_content)
        after = await env.shell("kill -0 $(cat pid) 2>/dev/null && echo alive || echo gone")
        assert "gone" in str(after.llm_content)

    in_copy(tmp_path, scenario)


def test_calls_run_side_by_side(tmp_path: Path) -> None:
    async def scenario(env: CopyEnv) -> None:
        # Each of the two waits for the file that the other one makes.
        wait = "touch {own}; for i in $(seq 600); do [ -e {other} ] && exit 0; sleep 0.1; done; exit 1"
        results = await asyncio.gather(
            env.shell(wait.format(own="x", other="y")), env.shell(wait.format(own="y", other="x"))
        )
        assert [result.exit_code for result in results] == [0, 0]

    in_copy(tmp_path, scenario)


def test_a_worker_that_is_killed_is_a_failure_of_its_calls(tmp_path: Path) -> None:
    async def scenario(env: CopyEnv) -> None:
        await env.call("write_file", file_path=str(env.root / "kept.txt"), content="x")
        with pytest.raises(ToolFailure, match="ended unexpectedly"):
            await env.shell("kill -9 $(pgrep -f tejat.tools.copy.worker); sleep 60")
        with pytest.raises(ToolFailure, match="ended unexpectedly"):
            await env.call("read_file", path=str(env.root / "a.txt"))
        await env.worker.close()
        assert env.changes() == {"kept.txt": "created"}

    in_copy(tmp_path, scenario)
