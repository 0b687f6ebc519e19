"""A small program is given its input, heard out within bounds, and ended with all that descends from it."""

import asyncio
import os
import resource
import signal
import sys
from pathlib import Path

import pytest

from support.descriptors import count_leaked, count_open
from support.process_marks import living_pids
from support.wait import wait_until_async
from tejat.workspace.processes.program import (
    ProgramEndReason,
    ProgramResult,
    find_program,
    format_start_error,
    run_program,
)
from tejat.workspace.processes.spawn import ExitStatus, SupervisorDied
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath)}
LONG = 60.0


def run(
    supervisor: ProcessSupervisor,
    *arguments: str,
    directory: str = "/",
    environment: dict[str, str] = ENVIRONMENT,
    given: bytes = b"",
    seconds: float = LONG,
    max_bytes: int = 1 << 20,
) -> ProgramResult:
    return asyncio.run(
        run_program(
            supervisor,
            arguments,
            directory=directory,
            environment=environment,
            input=given,
            seconds=seconds,
            max_bytes=max_bytes,
        )
    )


def shell(
    supervisor: ProcessSupervisor, script: str, *, given: bytes = b"", seconds: float = LONG, most: int = 1 << 20
) -> ProgramResult:
    return run(supervisor, "sh", "-c", script, given=given, seconds=seconds, max_bytes=most)


class TestExiting:
    def test_both_streams_and_the_code(self, supervisor: ProcessSupervisor) -> None:
        ended = shell(supervisor, "echo out; echo wrong >&2; exit 3")
        assert ended == ProgramResult(b"out\n", b"wrong\n", ExitStatus(3, None), ProgramEndReason.EXITED)

    def test_a_signal(self, supervisor: ProcessSupervisor) -> None:
        assert shell(supervisor, "kill -9 $$") == ProgramResult(
            b"", b"", ExitStatus(None, signal.SIGKILL), ProgramEndReason.EXITED
        )

    def test_arguments_are_passed_without_a_shell(self, supervisor: ProcessSupervisor) -> None:
        words = ["a b", "$(touch mark)", "`x`", ";", "", "'", "ä\n"]
        ended = run(supervisor, "printf", "<%s>", *words)
        assert ended.stdout.decode() == "".join(f"<{word}>" for word in words)

    def test_only_the_given_environment(self, supervisor: ProcessSupervisor) -> None:
        ended = run(supervisor, "/usr/bin/env", environment={"ONE": "1", "TWO": "2"})
        assert sorted(ended.stdout.split()) == [b"ONE=1", b"TWO=2"]

    def test_it_runs_in_the_directory(self, supervisor: ProcessSupervisor, tmp_path: Path) -> None:
        ended = run(supervisor, "/bin/pwd", directory=str(tmp_path))
        assert ended.stdout.decode() == f"{tmp_path.resolve()}\n"

    def test_what_it_left_behind_is_not_waited_for(self, supervisor: ProcessSupervisor, mark: str) -> None:
        ended = shell(supervisor, f"sleep {mark} & echo hi")
        assert ended == ProgramResult(
            b"hi\n", b"", ExitStatus(0, None, tuple(living_pids(mark))), ProgramEndReason.EXITED
        )
        assert len(living_pids(mark)) == 1
        supervisor.close()
        assert living_pids(mark) == []


class TestInput:
    def test_there_is_nothing_to_read_without_any(self, supervisor: ProcessSupervisor) -> None:
        assert shell(supervisor, "wc -c").stdout.strip() == b"0"

    def test_it_comes_whole_and_ends(self, supervisor: ProcessSupervisor) -> None:
        given = os.urandom(3_000_000)
        ended = run(supervisor, "cat", given=given, max_bytes=4_000_000)
        assert ended == ProgramResult(given, b"", ExitStatus(0, None), ProgramEndReason.EXITED)

    def test_a_program_that_never_reads_it(self, supervisor: ProcessSupervisor) -> None:
        assert shell(supervisor, "echo done", given=b"x" * 1_000_000).stdout == b"done\n"

    def test_a_program_that_closes_it_and_goes_on(self, supervisor: ProcessSupervisor) -> None:
        ended = shell(supervisor, "exec <&-; sleep 0.2; echo done", given=b"x" * 1_000_000)
        assert ended == ProgramResult(b"done\n", b"", ExitStatus(0, None), ProgramEndReason.EXITED)

    def test_a_program_that_holds_it_without_reading_is_ended_in_time(self, supervisor: ProcessSupervisor) -> None:
        ended = shell(supervisor, "sleep 1000", given=b"x" * 1_000_000, seconds=0.3)
        assert (ended.reason, ended.exit and ended.exit.signal) == (ProgramEndReason.TIME, signal.SIGTERM)

    def test_what_it_left_behind_may_hold_it_too(self, supervisor: ProcessSupervisor, mark: str) -> None:
        ended = shell(supervisor, f"exec 3<&0; sleep {mark} <&3 >/dev/null 2>&1 & echo done", given=b"x" * 1_000_000)
        assert (ended.stdout, ended.reason) == (b"done\n", ProgramEndReason.EXITED)


class TestLimits:
    def test_time(self, supervisor: ProcessSupervisor, mark: str) -> None:
        script = f"trap '' TERM; echo begun; sleep {mark} & setsid sleep {mark} & wait; sleep {mark}"
        ended = shell(supervisor, script, seconds=1.5)
        assert ended == ProgramResult(b"begun\n", b"", ExitStatus(None, signal.SIGKILL), ProgramEndReason.TIME)
        assert living_pids(mark) == []

    @pytest.mark.parametrize("stream", [1, 2])
    def test_too_much_on_either_stream(self, supervisor: ProcessSupervisor, mark: str, stream: int) -> None:
        ended = shell(supervisor, f"setsid sleep {mark} & yes >&{stream}", most=1000)
        assert (len(ended.stdout), len(ended.stderr)) == ((1000, 0) if stream == 1 else (0, 1000))
        assert ended.reason is ProgramEndReason.OUTPUT
        assert living_pids(mark) == []

    def test_as_much_as_may_be_is_not_too_much(self, supervisor: ProcessSupervisor) -> None:
        assert shell(supervisor, "printf 12345678", most=8) == ProgramResult(
            b"12345678", b"", ExitStatus(0, None), ProgramEndReason.EXITED
        )
        assert shell(supervisor, "printf 123456789", most=8).reason is ProgramEndReason.OUTPUT

    def test_a_gigabyte_takes_little_memory(self, supervisor: ProcessSupervisor) -> None:
        run(supervisor, "true")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ended = shell(supervisor, "head -c 1000000000 /dev/zero", most=1 << 20)
        assert ended.reason is ProgramEndReason.OUTPUT
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000

    def test_a_cancellation_goes_on_when_nothing_is_left(self, supervisor: ProcessSupervisor, mark: str) -> None:
        async def main() -> None:
            script = f"trap '' TERM; setsid sleep {mark} & sleep {mark} & wait; sleep {mark}"
            running = asyncio.create_task(
                run_program(
                    supervisor,
                    ["sh", "-c", script],
                    directory="/",
                    environment=ENVIRONMENT,
                    input=b"x" * 1_000_000,
                    seconds=LONG,
                    max_bytes=1000,
                )
            )
            await wait_until_async(
                lambda: len(living_pids(mark)) >= 3
            )  # the shell, whose script names it, and both sleeps
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert living_pids(mark) == []

        asyncio.run(main())

    def test_no_descriptor_stays_open(self, supervisor: ProcessSupervisor) -> None:
        shell(supervisor, "true")
        before = count_open()
        for script in ("true", "exec <&-; sleep 0.1", "yes"):
            shell(supervisor, script, given=b"x" * 200_000, most=1000)
        with pytest.raises(FileNotFoundError):
            run(supervisor, "/no/such/program", given=b"x")
        assert count_leaked(before) == 0


class TestStarting:
    def test_a_name_is_looked_for_on_the_path_of_the_environment(
        self, supervisor: ProcessSupervisor, tmp_path: Path
    ) -> None:
        first, second = tmp_path / "first", tmp_path / "second"
        for place in (first, second):
            place.mkdir()
            (place / "greet").write_text(f"#!/bin/sh\necho {place.name}\n")
        (second / "greet").chmod(0o700)  # the first may not be run
        environment = {"PATH": f"first::{first}:{second}"}
        assert run(supervisor, "greet", directory=str(tmp_path), environment=environment).stdout == b"second\n"

    def test_a_name_with_a_slash_is_looked_for_in_the_directory(
        self, supervisor: ProcessSupervisor, tmp_path: Path
    ) -> None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/greet").write_text("#!/bin/sh\necho here $0\n")
        (tmp_path / "bin/greet").chmod(0o700)
        ended = run(supervisor, "bin/greet", directory=str(tmp_path), environment={})
        assert ended.stdout.decode() == f"here {tmp_path}/bin/greet\n"

    def test_one_that_is_not_there(self, supervisor: ProcessSupervisor, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError) as raised:
            run(supervisor, "no-such-program")
        assert raised.value.filename == "no-such-program"
        with pytest.raises(FileNotFoundError) as raised:
            run(supervisor, "./none", directory=str(tmp_path))
        assert raised.value.filename == f"{tmp_path}/./none"

    def test_one_that_may_not_be_run(self, supervisor: ProcessSupervisor, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("no program")
        with pytest.raises(PermissionError) as raised:
            run(supervisor, "./text", directory=str(tmp_path))
        assert raised.value.filename == f"{tmp_path}/./text"

    def test_why_in_words(self, supervisor: ProcessSupervisor, tmp_path: Path) -> None:
        told: list[str] = []
        for name in ("no-such\x1b", "./none"):
            with pytest.raises(OSError) as raised:  # noqa: PT011 -- what it says is what is tested
                run(supervisor, name, directory=str(tmp_path))
            told.append(format_start_error(raised.value))
        assert told == [
            "There is no such program on PATH: no-such<U+001B>",
            f"No such file or directory: {tmp_path}/./none",
        ]
        assert (
            format_start_error(SupervisorDied("The keeper of commands was killed"))
            == "The keeper of commands was killed"
        )

    def test_a_directory_that_is_not_there(self, supervisor: ProcessSupervisor, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="gone"):
            run(supervisor, "true", directory=str(tmp_path / "gone"))

    def test_an_argument_that_no_program_could_be_given(self, supervisor: ProcessSupervisor) -> None:
        with pytest.raises(OSError, match="Invalid argument"):
            run(supervisor, "true", "a\0b")

    def test_relative_entries_of_the_path_lead_nowhere(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="There is no such program on PATH: 'sh'"):
            find_program("sh", directory="/bin", environment={"PATH": f"bin::.:{tmp_path}"})
