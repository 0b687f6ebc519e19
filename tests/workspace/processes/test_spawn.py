"""Jobs that outlive the agent, each with a supervisor of its own."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.descriptors import count_leaked, count_open
from support.process_marks import living_pids
from support.wait import wait_until
from tejat.workspace.processes.process_tree import process_start_time
from tejat.workspace.processes.spawn import DetachedProcess, ProcessSpec, encode_request, signal_name, start_detached

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath)}


def start(
    tmp_path: Path, command: str, *, program: str = "/bin/bash", environment: Mapping[str, str] = ENVIRONMENT
) -> DetachedProcess:
    where = os.open(tmp_path, os.O_RDONLY)
    try:
        spec = ProcessSpec((program, "--norc", "--noprofile", "-c", command), where, environment)
        return start_detached(spec, log=str(tmp_path / "log"), state=str(tmp_path / "state"))
    finally:
        os.close(where)


def state(tmp_path: Path) -> object:
    wait_until((tmp_path / "state").exists)
    return json.loads((tmp_path / "state").read_text())


def test_both_outputs_are_in_the_log_and_the_end_is_written_down(tmp_path: Path) -> None:
    job = start(tmp_path, "pwd; echo wrong >&2; echo $PPID; exit 7")
    assert state(tmp_path) == {"exit": 7, "signal": None}
    assert (tmp_path / "log").read_text() == f"{tmp_path.resolve()}\nwrong\n{job.supervisor_pid}\n"
    wait_until(lambda: process_start_time(job.supervisor_pid) is None)
    assert sorted(os.listdir(tmp_path)) == ["log", "state"]


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        start(tmp_path, "true")
    finally:
        os.umask(old)
    state(tmp_path)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("log", "state")] == [0o600, 0o600]


def test_the_log_is_added_to_and_never_a_link(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("before\n")
    start(tmp_path, "echo after")
    state(tmp_path)
    assert (tmp_path / "log").read_text() == "before\nafter\n"
    (tmp_path / "log").rename(tmp_path / "elsewhere")
    (tmp_path / "log").symlink_to("elsewhere")
    with pytest.raises(OSError) as caught:  # noqa: PT011 -- the number is looked at below
        start(tmp_path, "echo again")
    assert caught.value.errno == errno.ELOOP
    assert (tmp_path / "elsewhere").read_text() == "before\nafter\n"


def test_who_it_is(tmp_path: Path, mark: str) -> None:
    job = start(tmp_path, f"sleep {mark}; true")
    assert job.started == process_start_time(job.supervisor_pid)
    assert os.getsid(job.pid) == os.getpgid(job.pid) == job.pid
    assert os.getsid(job.supervisor_pid) not in {job.pid, os.getsid(0)}
    assert Path(f"/proc/{job.supervisor_pid}/stat").read_text().split()[6] == "0"  # no terminal
    os.kill(job.supervisor_pid, signal.SIGTERM)
    state(tmp_path)


@pytest.mark.parametrize(
    ("command", "ends"),
    [
        # On a busy machine the time that is given may be too short.
        ("sleep {m}; true", [(None, 15), (None, 9)]),
        ("trap '' TERM; setsid sleep {m} & (env -i setsid sleep {m} &) ; sleep {m}; sleep {m}", [(None, 9)]),
        # The sleep may die first: then `wait` returns before the trap runs.
        ("trap 'exit 3' TERM; sleep {m} & wait", [(3, None), (0, None), (None, 9)]),
    ],
)
def test_told_to_end_it_ends_all_of_it(
    tmp_path: Path, mark: str, command: str, ends: list[tuple[int | None, int | None]]
) -> None:
    job = start(tmp_path, command.format(m=mark))
    wait_until(lambda: len(living_pids(mark)) >= 2)
    time.sleep(0.1)
    os.kill(job.supervisor_pid, signal.SIGTERM)
    assert state(tmp_path) in [{"exit": code, "signal": number} for code, number in ends]
    assert living_pids(mark) == []


def test_what_the_shell_leaves_behind_belongs_to_the_job(tmp_path: Path, mark: str) -> None:
    job = start(tmp_path, f"setsid sleep {mark} & exit 4")
    wait_until(lambda: not Path(f"/proc/{job.pid}").exists())
    time.sleep(0.05)
    assert not (tmp_path / "state").exists()
    assert len(living_pids(mark)) == 1
    os.kill(job.supervisor_pid, signal.SIGTERM)
    assert state(tmp_path) == {"exit": 4, "signal": None}
    assert living_pids(mark) == []


def test_it_lives_when_its_agent_is_killed(tmp_path: Path, mark: str) -> None:
    code = (
        "import sys; from pathlib import Path; sys.path[:0] = sys.argv[1].split(':'); from test_spawn import start\n"
        "job = start(Path(sys.argv[2]), sys.argv[3]); print(job.supervisor_pid, flush=True); input()"
    )
    arguments = [
        sys.executable,
        "-c",
        code,
        f"{Path(__file__).parent}:{Path(__file__).parents[2]}",
        str(tmp_path),
        f"sleep {mark} & wait; echo end",
    ]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdout is not None
        supervisor = int(agent.stdout.readline())
        agent.kill()
    time.sleep(0.3)
    (sleeping,) = [pid for pid in living_pids(mark) if Path(f"/proc/{pid}/comm").read_text() == "sleep\n"]
    os.kill(sleeping, signal.SIGKILL)
    assert state(tmp_path) == {"exit": 0, "signal": None}
    assert (tmp_path / "log").read_text().splitlines()[-1] == "end"
    wait_until(lambda: process_start_time(supervisor) is None)


def test_the_agent_keeps_nothing_of_it(tmp_path: Path, mark: str) -> None:
    before = count_open()
    job = start(tmp_path, f"sleep {mark}")
    assert count_leaked(before) == 0
    with pytest.raises(ChildProcessError):
        os.waitpid(job.supervisor_pid, os.WNOHANG)
    os.kill(job.supervisor_pid, signal.SIGTERM)
    state(tmp_path)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        start(tmp_path, "true", program="/no/such/shell")
    assert caught.value.filename == "/no/such/shell"
    time.sleep(0.1)
    assert not (tmp_path / "state").exists()


def test_text_without_bytes() -> None:
    with pytest.raises(OSError) as caught:  # noqa: PT011 -- the number is looked at below
        encode_request(ProcessSpec(("/bin/true", "\ud800"), 0, {}))
    assert caught.value.errno == errno.EILSEQ


def test_names_of_signals() -> None:
    assert [signal_name(number) for number in (9, 15, signal.SIGSEGV, 40)] == [
        *("SIGKILL", "SIGTERM", "SIGSEGV"),
        "signal 40",
    ]
