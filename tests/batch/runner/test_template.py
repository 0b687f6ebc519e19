"""The template process: one thread, and children that inherit nothing."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.batch_jobs import JobCase, saying, shell
from support.process_marks import living_pids
from support.wait import wait_until, wait_until_async
from tejat.batch.runner.child_request import ChildRequest, ChildWork, encode_request
from tejat.batch.runner.job_runner import JobRunner
from tejat.batch.runner.template_client import TemplateProcess

PROBE = """
import json, os
def read(path):
    with open(path) as file:
        return file.read()
def parent(pid):
    return int(read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])
agent = os.getpid()
while "batch.runner.template" not in read(f"/proc/{agent}/cmdline"):
    agent = parent(agent)
places = [os.readlink(f"/proc/{agent}/fd/{name}") for name in os.listdir(f"/proc/{agent}/fd")]
core = next(line.split()[4] for line in read(f"/proc/{agent}/limits").splitlines() if "core" in line)
cwd = os.readlink(f"/proc/{agent}/cwd")
with open("probe.json", "w") as file:
    json.dump({"open": places, "leads": os.getsid(agent) == agent, "cwd": cwd, "core": core}, file)
"""


def test_children_are_like_fresh_processes(case: JobCase) -> None:
    """The agent's commands show what a child looks like while others run beside it."""
    (case.base / "probe.py").write_text(PROBE)
    command = f"{sys.executable} {case.base / 'probe.py'}"
    jobs = [case.job(shell(command), saying(), task_id=f"t{number}", keeps_tree=True) for number in range(4)]

    async def main() -> None:
        async with JobRunner() as runner:
            await asyncio.gather(*(runner.run(job, case.report) for job in jobs))

    asyncio.run(main())
    for number in range(4):
        own = case.task(f"t{number}")
        found: dict[str, Any] = json.loads((Path(own.tree) / "probe.json").read_text())
        assert (found["leads"], found["cwd"], found["core"]) == (True, own.tree, "0")
        files = {path for path in found["open"] if path.startswith(case.directory.path)}
        assert all(path.startswith(own.path) for path in files), files
        assert {own.events, own.stderr} <= files


def test_the_template_has_one_thread() -> None:
    async def main() -> int:
        template = TemplateProcess()
        try:
            status = Path(f"/proc/{template.pid}/status")
            # It waits for requests once it has loaded everything.
            await wait_until_async(lambda: _handles_sigchld(status))
            return int(_field(status, "Threads"))
        finally:
            await asyncio.to_thread(template.close)

    assert asyncio.run(main()) == 1


def test_it_ends_with_its_socket() -> None:
    template = TemplateProcess()
    assert template.is_alive
    template.close()
    assert not template.is_alive


def test_sigterm_ends_it_and_its_children(case: JobCase, mark: str) -> None:
    case.run(case.job(saying(), keeps_tree=True))
    request = ChildRequest(ChildWork.RUN, case.job(shell(f"sleep {mark}"), saying()), "/")
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = subprocess.Popen([sys.executable, "-m", "tejat.batch.runner.template"], stdin=theirs.fileno())
        try:
            channel, other = socket.socketpair()
            with channel:
                with other, open(os.devnull, "wb") as null:
                    socket.send_fds(ours, [b"\1"], [other.fileno(), null.fileno(), null.fileno()])
                channel.sendall(encode_request(request))
                wait_until(lambda: living_pids(mark))
                process.send_signal(signal.SIGTERM)
                process.wait(60)
                wait_until(lambda: not living_pids(mark))
        finally:
            process.kill()
            process.wait()


def _handles_sigchld(status: Path) -> bool:
    return bool(int(_field(status, "SigCgt"), 16) >> (signal.SIGCHLD - 1) & 1)


def _field(status: Path, name: str) -> str:
    return next(line.split()[1] for line in status.read_text().splitlines() if line.startswith(f"{name}:"))
