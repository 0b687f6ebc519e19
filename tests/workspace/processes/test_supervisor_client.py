"""Commands under a supervisor: they start as asked, are told of truly, and leave nothing behind."""

import asyncio
import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import pytest

from support.process_marks import living_pids
from support.slow_loop import SlowLoop
from support.wait import wait_until
from tejat.workspace.processes.spawn import ExitStatus, ProcessSpec, SupervisorDied
from tejat.workspace.processes.supervisor_client import ProcessSupervisor, RunningProcess

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath)}
IMPORT_PATH = [str(Path(__file__).parents[level]) for level in (0, 2)]
"""For a program that imports from this file."""


async def all_gone(mark: str, *, within: float) -> bool:
    deadline = time.monotonic() + within
    while living_pids(mark):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


async def until_there_are(count: int, mark: str) -> None:
    deadline = time.monotonic() + 60
    while len(living_pids(mark)) < count:
        assert time.monotonic() < deadline, f"{len(living_pids(mark))} of {count} processes have begun"
        await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def started(
    supervisor: ProcessSupervisor,
    command: str,
    *,
    directory: Path | None = None,
    environment: Mapping[str, str] = ENVIRONMENT,
    stdin: int | None = None,
) -> AsyncGenerator[tuple[RunningProcess, int]]:
    """A command of the shell, and the end to read of the pipe that both its outputs go to."""
    where = os.open(directory or "/", os.O_RDONLY)
    readable, writable = os.pipe()
    try:
        spec = ProcessSpec(("/bin/bash", "--norc", "--noprofile", "-c", command), where, environment)
        try:
            running = await supervisor.start(spec, stdout=writable, stderr=writable, stdin=stdin)
        finally:
            os.close(writable)
            os.close(where)
        try:
            yield running, readable
        finally:
            running.release()
    finally:
        os.close(readable)


async def run(supervisor: ProcessSupervisor, command: str, **others: object) -> tuple[ExitStatus, str]:
    """To the end of the command, which must not print more than a pipe holds."""
    async with started(supervisor, command, **others) as (running, readable):  # pyright: ignore[reportArgumentType]
        ended = await running.wait()
        os.set_blocking(readable, False)
        try:
            return ended, os.read(readable, 1 << 16).decode()
        except BlockingIOError:
            return ended, ""


def descriptors(pid: int | str = "self") -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


class TestStarting:
    @pytest.mark.parametrize(
        ("command", "code", "number"),
        [
            ("true", 0, None),
            ("exit 3", 3, None),
            ("exit 255", 255, None),
            ("kill -9 $$", None, signal.SIGKILL),
            ("kill -TERM $$", None, signal.SIGTERM),
            ("kill -INT $$", None, signal.SIGINT),
        ],
    )
    def test_how_it_ended(
        self, supervisor: ProcessSupervisor, command: str, code: int | None, number: int | None
    ) -> None:
        assert asyncio.run(run(supervisor, command)) == (ExitStatus(code, number, ()), "")

    def test_a_reply_in_time_counts_after_a_standstill(self, supervisor: ProcessSupervisor, mark: str) -> None:
        """The reply and the end of the time to wait for it are noticed together."""

        def stand_still() -> None:
            wait_until(lambda: living_pids(mark))
            time.sleep(0.2)
            loop.step = 60.0

        async def main() -> bool:
            loop.call_later(0.01, stand_still)
            async with started(supervisor, f"sleep {mark}; true") as (running, _):
                loop.step = 0.0
                return running.pid > 0

        loop = SlowLoop()
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            assert runner.run(main())

    def test_the_end_may_be_asked_for_again(self, supervisor: ProcessSupervisor) -> None:
        async def main() -> tuple[ExitStatus | None, ...]:
            async with started(supervisor, "sleep 0.05; exit 4") as (running, _):
                return running.exit, await running.wait(), await running.wait(), running.exit

        assert asyncio.run(main()) == (None, ExitStatus(4, None), ExitStatus(4, None), ExitStatus(4, None))

    def test_one_that_was_prepared_takes_the_first_command(self, supervisor: ProcessSupervisor) -> None:
        supervisor.prepare()
        prepared = supervisor.pid
        supervisor.prepare()
        assert asyncio.run(run(supervisor, "echo ready"))[1] == "ready\n"
        assert supervisor.pid == prepared != 0

    def test_directory_and_environment_are_those_given(self, supervisor: ProcessSupervisor, tmp_path: Path) -> None:
        given = {"PATH": "/bin:/usr/bin", "ODD": "a b\nc=\udcff", "EMPTY": ""}
        _, printed = asyncio.run(
            run(
                supervisor,
                r"pwd; env -0 | sort -z | tr '\0' '|' | od -An -c -v | tr -d ' \n'",
                environment=given,
                directory=tmp_path,
            )
        )
        where, listed = printed.split("\n", 1)
        assert where == str(tmp_path.resolve())
        for entry in ("EMPTY=|", r"ODD=ab\nc=377|", "PATH=/bin:/usr/bin|", f"PWD={where}|", "SHLVL=1|"):
            assert entry in listed
        assert listed.count("|") == 6  # `_` is set by bash itself

    def test_an_environment_larger_than_a_socket_takes_at_once(self, supervisor: ProcessSupervisor) -> None:
        large = {f"V{number}": str(number) * 90_000 for number in range(9)}
        _, printed = asyncio.run(run(supervisor, "echo ${#V0} ${#V8} ${V8:89999}", environment=large))
        assert printed == "90000 90000 8\n"

    def test_the_session_is_its_own(self, supervisor: ProcessSupervisor) -> None:
        async def main() -> None:
            async with started(supervisor, "ps -o pid=,pgid=,sid= -p $$") as (running, readable):
                await running.wait()
                assert [int(word) for word in os.read(readable, 100).split()] == [running.pid] * 3

        asyncio.run(main())

    def test_there_is_nothing_to_read(self, supervisor: ProcessSupervisor) -> None:
        assert asyncio.run(run(supervisor, "read line; echo $?; readlink /proc/$$/fd/0"))[1] == "1\n/dev/null\n"

    def test_an_input_is_read_to_its_end(self, supervisor: ProcessSupervisor) -> None:
        async def main() -> tuple[ExitStatus, str]:
            inward, ours = os.pipe()
            async with started(supervisor, "read line; echo $line; wc -c; exit 5", stdin=inward) as (running, readable):
                os.close(inward)
                await asyncio.to_thread(os.write, ours, b"one\n" + b"\n" * 200_000)
                os.close(ours)
                return await running.wait(), os.read(readable, 100).decode()

        before = descriptors()
        assert asyncio.run(main()) == (ExitStatus(5, None), "one\n200000\n")
        assert descriptors() == before + 1  # the supervisor

    def test_an_input_is_for_one_command_only(self, supervisor: ProcessSupervisor) -> None:
        async def main() -> str:
            inward, ours = os.pipe()
            async with started(supervisor, "exec cat", stdin=inward) as (running, _):
                os.close(inward)
                _, printed = await run(supervisor, "ls -l /proc/self/fd | grep -c pipe; readlink /proc/self/fd/0")
                await running.stop()
                assert running.exit in (ExitStatus(None, signal.SIGTERM), ExitStatus(None, signal.SIGKILL))
            with pytest.raises(BrokenPipeError):
                os.write(ours, b"anybody?")
            os.close(ours)
            return printed

        assert asyncio.run(main()) == "2\n/dev/null\n"

    def test_nothing_else_is_open(self, supervisor: ProcessSupervisor) -> None:
        """Case 76, also when somebody left a descriptor open for us to inherit."""
        leaked = os.open("/dev/null", os.O_RDONLY)
        os.set_inheritable(leaked, True)
        high = fcntl.fcntl(leaked, fcntl.F_DUPFD, 200)
        try:
            for _ in range(2):
                _, printed = asyncio.run(
                    run(supervisor, "for fd in {0..254}; do [ -e /proc/$$/fd/$fd ] && echo $fd; done; true")
                )
                assert printed.split() == ["0", "1", "2"]
        finally:
            os.close(leaked)
            os.close(high)

    def test_signals_are_as_programs_expect_them(self, supervisor: ProcessSupervisor) -> None:
        _, printed = asyncio.run(run(supervisor, "grep -E '^Sig(Blk|Ign):' /proc/$$/status"))
        blocked, ignored = (int(mask, 16) for mask in printed.split()[1::2])
        of_the_library = 3 << 31  # the C library keeps two for itself
        assert (blocked, ignored & ~of_the_library) == (0, 0)

    def test_limits_and_who_goes_first(self, supervisor: ProcessSupervisor, tmp_path: Path) -> None:
        """Case 77."""
        command = "ulimit -c; ulimit -f; cat /proc/$$/oom_score_adj; truncate -s 1T huge 2>&1; ls -s huge"
        _, printed = asyncio.run(run(supervisor, command, directory=tmp_path))
        core, size, score, *rest = printed.split("\n")
        assert (core, score) == ("0", "500")
        assert 64 << 20 <= int(size) <= 128 << 20
        assert (tmp_path / "huge").stat().st_size == 0, rest

    def test_the_supervisor_itself_tells_no_secrets(
        self, supervisor: ProcessSupervisor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GEMINI_API_KEY", "canary")
        assert "canary" not in asyncio.run(run(supervisor, "cat /proc/$PPID/environ /proc/$PPID/cmdline"))[1]

    def test_no_terminal_can_be_reached(self) -> None:
        """Case 75: the agent has a controlling terminal, its commands have none."""
        code = (
            "import asyncio, fcntl, sys, termios\n"
            "sys.path[:0] = sys.argv[1:]\n"
            "from test_supervisor_client import ProcessSupervisor, run\n"
            "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
            "open('/dev/tty', 'w').close()\n"
            "supervisor = ProcessSupervisor()\n"
            "print(asyncio.run(run(supervisor, 'echo x > /dev/tty; echo $?')))\n"
            "supervisor.close()\n"
        )
        ours, theirs = os.openpty()
        try:
            done = subprocess.run(
                [sys.executable, "-c", code, *IMPORT_PATH],
                stdin=theirs,
                capture_output=True,
                text=True,
                start_new_session=True,
                timeout=30,
                check=False,
            )
        finally:
            os.close(theirs)
            os.close(ours)
        assert (done.returncode, done.stderr) == (0, "")
        assert "No such device" in done.stdout


class TestFailingToStart:
    def fail(
        self, supervisor: ProcessSupervisor, *arguments: str, environment: Mapping[str, str] = ENVIRONMENT
    ) -> OSError:
        async def main() -> None:
            await supervisor.start(ProcessSpec(arguments, where, environment), stdout=where, stderr=where)

        where = os.open("/", os.O_RDONLY)
        try:
            with pytest.raises(OSError) as caught:  # noqa: PT011 -- looked at by the caller
                asyncio.run(main())
        finally:
            os.close(where)
        return caught.value

    def test_no_such_program(self, supervisor: ProcessSupervisor) -> None:
        error = self.fail(supervisor, "/no/such/program", "x")
        assert (type(error), error.errno, error.filename) == (FileNotFoundError, errno.ENOENT, "/no/such/program")

    def test_not_a_program(self, supervisor: ProcessSupervisor, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("echo hello\n")
        error = self.fail(supervisor, str(tmp_path / "text"))
        assert (type(error), error.filename) == (PermissionError, str(tmp_path / "text"))

    def test_too_long_a_line(self, supervisor: ProcessSupervisor) -> None:
        assert self.fail(supervisor, "/bin/echo", "x" * 200_000).errno == errno.E2BIG

    @pytest.mark.parametrize("word", ["a\0b", "\ud800"])
    def test_text_that_no_argument_can_hold(self, supervisor: ProcessSupervisor, word: str) -> None:
        assert self.fail(supervisor, "/bin/echo", word).errno in {errno.EINVAL, errno.EILSEQ}

    def test_a_name_that_no_variable_can_have(self, supervisor: ProcessSupervisor) -> None:
        assert self.fail(supervisor, "/bin/true", environment={"A=B": "c"}).errno == errno.EINVAL

    def test_a_directory_that_is_none(self, supervisor: ProcessSupervisor, tmp_path: Path) -> None:
        async def main(file: int) -> None:
            await supervisor.start(ProcessSpec(("/bin/true",), file, {}), stdout=file, stderr=file)

        with (tmp_path / "file").open("wb") as file, pytest.raises(NotADirectoryError):
            asyncio.run(main(file.fileno()))

    def test_the_next_one_is_none_the_worse(self, supervisor: ProcessSupervisor) -> None:
        self.fail(supervisor, "/no/such/program")
        assert asyncio.run(run(supervisor, "echo fine")) == (ExitStatus(0, None), "fine\n")


HOSTILE = {
    "case 67": "sleep {m} & setsid sleep {m} & (setsid bash -c 'setsid sleep {m} & sleep {m}' &); trap '' TERM; wait",
    "deaf": "trap '' TERM INT HUP; bash -c \"trap '' TERM INT HUP; sleep {m}; sleep {m}\" & sleep {m}; sleep {m}",
    "twice orphaned": "( ( exec setsid sleep {m} ) & ) ; ( ( exec sleep {m} ) & ); exec sleep {m}",
    "without a name": "env -i setsid sleep {m} & (env -i setsid env -i setsid sleep {m} >/dev/null 2>&1 &); sleep {m}",
    "other limits": "(ulimit -f 1000; env -i setsid sleep {m} &) ; (ulimit -f 9; setsid sleep {m} &); exec sleep {m}",
    "stopped": "sleep {m} & kill -STOP $!; (setsid sleep {m} & kill -STOP $!); exec sleep {m}",
    "process substitution": "exec > >(sleep {m}); sleep {m} | sleep {m}",
}


class TestStopping:
    @pytest.mark.parametrize("command", HOSTILE.values(), ids=HOSTILE)
    def test_nothing_is_left(self, supervisor: ProcessSupervisor, mark: str, command: str) -> None:
        async def main() -> None:
            async with started(supervisor, command.format(m=mark)) as (running, _):
                await until_there_are(3, mark)
                await asyncio.sleep(0.05)
                began = time.monotonic()
                await running.stop()
                assert living_pids(mark) == []
                assert time.monotonic() - began < 15
                assert running.exit is not None

        asyncio.run(main())

    def test_who_goes_when_asked_is_given_the_time(self, supervisor: ProcessSupervisor, mark: str) -> None:
        async def main() -> tuple[ExitStatus, bytes]:
            command = f"trap 'echo bye; exit 7' TERM; echo; sleep {mark} & wait"
            async with started(supervisor, command) as (running, readable):
                assert os.read(readable, 1) == b"\n"
                await running.stop()
                return await running.wait(), os.read(readable, 100)

        # On a busy machine the time that is given may be too short for some.
        assert (ExitStatus(7, None), b"bye\n") in [asyncio.run(main()) for _ in range(5)]

    def test_the_others_are_left_alone(self, supervisor: ProcessSupervisor, mark: str) -> None:
        other = f"{mark}1"
        command = "env -i setsid sleep {m} & (setsid env -i sleep {m} >/dev/null 2>&1 &) ; exec sleep {m}"

        async def main() -> None:
            async with started(supervisor, command.format(m=other)) as (second, _):
                async with started(supervisor, command.format(m=f"{mark}2")) as (first, _):
                    async with started(supervisor, command.format(m=f"{mark}3")):
                        await until_there_are(9, mark)
                        await first.stop()
                        assert living_pids(f"{mark}2") == []
                        assert (len(living_pids(other)), len(living_pids(f"{mark}3"))) == (3, 3)
                    await asyncio.sleep(0)
                await second.stop()
                assert living_pids(other) == []
            assert await all_gone(mark, within=2)

        asyncio.run(main())

    def test_a_process_that_is_another_one_at_every_moment(self, supervisor: ProcessSupervisor, mark: str) -> None:
        """Each lives for a fraction of a millisecond, so that whoever is found has gone when the signal comes."""
        code = (
            "import os, time\nend = time.time() + 30\nos.setsid()\nwhile time.time() < end: os.fork() and os._exit(0)"
        )
        command = f"{sys.executable} -ISc '{code}' {mark} & sleep {mark}"

        async def main() -> None:
            async with started(supervisor, command) as (running, _):
                await until_there_are(2, mark)
                await asyncio.sleep(0.2)
                await running.stop()
                await asyncio.sleep(0.05)
                assert living_pids(mark) == []

        asyncio.run(main())

    def test_a_storm(self, supervisor: ProcessSupervisor, mark: str) -> None:
        """A thousand processes that double until there are enough, each in a session of its own."""
        double = "if (($1 > 0)); then storm $(($1-1)) & storm $(($1-1)) & fi"
        command = f"storm() {{ {double}; exec setsid sleep {mark}; }}; storm 9"

        async def main() -> None:
            async with started(supervisor, command) as (running, _):
                await until_there_are(300, mark)
                await running.stop()
                assert living_pids(mark) == []

        asyncio.run(main())

    def test_a_cancellation_waits_until_nothing_is_left(self, supervisor: ProcessSupervisor, mark: str) -> None:
        async def main() -> None:
            async with started(supervisor, f"trap '' TERM; sleep {mark}; sleep {mark}") as (running, _):
                await until_there_are(2, mark)
                stopping = asyncio.create_task(running.stop())
                await asyncio.sleep(0.02)
                stopping.cancel()
                await asyncio.sleep(0.02)
                stopping.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await stopping
                assert living_pids(mark) == []

        asyncio.run(main())

    def test_twice_and_after_the_end(self, supervisor: ProcessSupervisor, mark: str) -> None:
        async def main() -> None:
            async with started(supervisor, f"sleep {mark} & sleep {mark} & true") as (running, _):
                ended = await running.wait()
                await until_there_are(2, mark)
                assert sorted(ended.survivors) == sorted(living_pids(mark))
                await asyncio.gather(running.stop(), running.stop())
                await running.stop()
                assert living_pids(mark) == []

        asyncio.run(main())


class TestSurvivors:
    def test_they_are_named_and_live_on(self, supervisor: ProcessSupervisor, mark: str) -> None:
        """Case 69, and what hides is named too."""

        async def main() -> None:
            command = f"sleep {mark} & (env -i setsid sleep {mark} &); exit 5"
            async with started(supervisor, command) as (running, _):
                ended = await running.wait()
                await until_there_are(2, mark)
                assert await running.survivors() == tuple(sorted(living_pids(mark)))
                assert (ended.code, len(ended.survivors)) == (5, 2)
            assert await run(supervisor, "echo next") == (ExitStatus(0, None, ()), "next\n")
            assert len(living_pids(mark)) == 2
            supervisor.close()
            assert living_pids(mark) == []

        asyncio.run(main())

    def test_a_command_let_go_while_it_runs_is_ended(self, supervisor: ProcessSupervisor, mark: str) -> None:
        async def main() -> None:
            async with started(supervisor, HOSTILE["without a name"].format(m=mark)) as (running, _):
                await until_there_are(3, mark)
                waiting = asyncio.create_task(running.wait())
                await asyncio.sleep(0)
            with pytest.raises(SupervisorDied, match="let go"):
                await waiting
            with pytest.raises(SupervisorDied, match="let go"):
                await running.survivors()
            await running.stop()
            assert await all_gone(mark, within=2)

        asyncio.run(main())


def pid_of_supervisor(supervisor: ProcessSupervisor) -> int:
    return int(asyncio.run(run(supervisor, "echo $PPID"))[1])


class TestTheSupervisor:
    def test_nothing_is_started_before_it_is_needed(self) -> None:
        before = descriptors()
        supervisor = ProcessSupervisor()
        supervisor.close()
        supervisor.close()
        assert descriptors() == before

    def test_closing_ends_everything_and_may_be_done_again(self, mark: str) -> None:
        supervisor = ProcessSupervisor()
        before = descriptors()
        asyncio.run(run(supervisor, f"sleep {mark} & (env -i setsid bash -c \"trap '' TERM; sleep {mark}; true\" &)"))
        assert living_pids(mark) != []
        program = pid_of_supervisor(supervisor)
        supervisor.close()
        assert living_pids(mark) == []
        assert not Path(f"/proc/{program}").exists()
        supervisor.close()
        assert descriptors() == before
        assert asyncio.run(run(supervisor, "echo again")) == (ExitStatus(0, None), "again\n")
        supervisor.close()

    def test_killed_it_is_reported_and_its_commands_end(self, supervisor: ProcessSupervisor, mark: str) -> None:
        program = pid_of_supervisor(supervisor)

        async def main() -> None:
            hiding = HOSTILE["without a name"].format(m=mark)
            async with (
                started(supervisor, hiding) as (first, _),
                started(supervisor, f"sleep {mark}; true") as (second, _),
            ):
                await run(supervisor, f"setsid sleep {mark} &")
                await until_there_are(5, mark)
                os.kill(program, signal.SIGKILL)
                for running in (first, second):
                    with pytest.raises(SupervisorDied, match="killed"):
                        await asyncio.wait_for(running.wait(), 60)
                assert living_pids(mark) == []
                await first.stop()
            assert await run(supervisor, "echo again") == (ExitStatus(0, None), "again\n")

        asyncio.run(main())
        assert pid_of_supervisor(supervisor) != program

    def test_killed_while_nothing_runs_it_is_started_again(self, supervisor: ProcessSupervisor) -> None:
        os.kill(pid_of_supervisor(supervisor), signal.SIGKILL)
        time.sleep(0.05)
        assert asyncio.run(run(supervisor, "echo again")) == (ExitStatus(0, None), "again\n")

    def test_held_up_by_a_command_it_still_stops_it(self, supervisor: ProcessSupervisor, mark: str) -> None:
        async def main() -> None:
            async with started(supervisor, f"kill -STOP $PPID; setsid sleep {mark} & sleep {mark}") as (running, _):
                await until_there_are(2, mark)
                await running.stop()
                assert living_pids(mark) == []

        asyncio.run(main())

    def test_the_agent_killed_nothing_is_left(self, mark: str) -> None:
        """A real agent, killed in the midst of things."""
        command = f"{HOSTILE['case 67']} & {HOSTILE['without a name']}".format(m=mark)
        code = (
            "import asyncio, sys\n"
            "sys.path[:0] = sys.argv[1:]\n"
            "from test_supervisor_client import ProcessSupervisor, started\n"
            "async def main():\n"
            f"    async with started(ProcessSupervisor(), {command!r}): await asyncio.sleep(60)\n"
            "asyncio.run(main())\n"
        )

        with subprocess.Popen([sys.executable, "-c", code, *IMPORT_PATH]) as agent:
            try:
                asyncio.run(until_there_are(7, mark))
            finally:
                agent.kill()
        assert asyncio.run(all_gone(mark, within=2))

    def test_fifty_at_once(self, supervisor: ProcessSupervisor) -> None:
        async def main() -> list[tuple[ExitStatus, str]]:
            return await asyncio.gather(*(run(supervisor, f"echo {n}; exit {n}") for n in range(50)))

        assert asyncio.run(main()) == [(ExitStatus(n, None), f"{n}\n") for n in range(50)]

    def test_no_descriptor_is_leaked_here_or_there(self, supervisor: ProcessSupervisor, mark: str) -> None:
        async def main() -> None:
            for _ in range(3):
                await run(supervisor, "true")
                with pytest.raises(FileNotFoundError):
                    await supervisor.start(ProcessSpec(("/none",), root, {}), stdout=root, stderr=root)
                async with started(supervisor, f"sleep {mark}") as (running, _):
                    await running.stop()
                async with started(supervisor, f"sleep {mark}"):
                    pass
            assert await all_gone(mark, within=2)
            await run(supervisor, "true")

        root = os.open("/", os.O_RDONLY)
        program = pid_of_supervisor(supervisor)
        asyncio.run(main())
        time.sleep(0.1)  # until the supervisor has heard of the last one
        before = descriptors(), descriptors(program)
        asyncio.run(main())
        time.sleep(0.1)
        assert (descriptors(), descriptors(program)) == before
        os.close(root)

    def test_cancelled_at_any_moment_nothing_is_left(self, supervisor: ProcessSupervisor, mark: str) -> None:
        async def use() -> None:
            async with started(supervisor, f"setsid sleep {mark} & exec sleep {mark}") as (running, _):
                try:
                    await running.wait()
                finally:
                    await running.stop()
                    assert running.exit is not None

        async def main() -> None:
            for step in range(60):
                task = asyncio.create_task(use())
                for _ in range(step % 12):
                    await asyncio.sleep(0)
                await asyncio.sleep(step * 0.0001)
                task.cancel()
                if step % 2:
                    await asyncio.sleep(0)
                    task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert living_pids(mark) == []

        asyncio.run(run(supervisor, "true"))
        before = descriptors()
        asyncio.run(main())
        assert descriptors() == before
