"""A small program is given its input, heard out within bounds, and ended with all that descends from it."""

import asyncio
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from tests.descriptors import left_open, open_descriptors

from process_marks import living
from tejat.workspace.processes.keeping import Keeper
from tejat.workspace.processes.launching import Exit, KeeperDied
from tejat.workspace.processes.program import Cause, Finished, find_program, run_program, why_not_run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath)}
LONG = 60.0


@pytest.fixture
def keeper() -> Generator[Keeper]:
    keeper = Keeper()
    yield keeper
    keeper.close()


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def run(
    keeper: Keeper,
    *arguments: str,
    directory: str = "/",
    environment: dict[str, str] = ENVIRONMENT,
    given: bytes = b"",
    seconds: float = LONG,
    most_bytes: int = 1 << 20,
) -> Finished:
    return asyncio.run(
        run_program(
            keeper,
            arguments,
            directory=directory,
            environment=environment,
            input=given,
            seconds=seconds,
            most_bytes=most_bytes,
        )
    )


def shell(keeper: Keeper, script: str, *, given: bytes = b"", seconds: float = LONG, most: int = 1 << 20) -> Finished:
    return run(keeper, "sh", "-c", script, given=given, seconds=seconds, most_bytes=most)


class TestExiting:
    def test_both_streams_and_the_code(self, keeper: Keeper) -> None:
        ended = shell(keeper, "echo out; echo wrong >&2; exit 3")
        assert ended == Finished(b"out\n", b"wrong\n", Exit(3, None), Cause.EXITED)

    def test_a_signal(self, keeper: Keeper) -> None:
        assert shell(keeper, "kill -9 $$") == Finished(b"", b"", Exit(None, signal.SIGKILL), Cause.EXITED)

    def test_arguments_are_passed_without_a_shell(self, keeper: Keeper) -> None:
        words = ["a b", "$(touch mark)", "`x`", ";", "", "'", "ä\n"]
        ended = run(keeper, "printf", "<%s>", *words)
        assert ended.stdout.decode() == "".join(f"<{word}>" for word in words)

    def test_only_the_given_environment(self, keeper: Keeper) -> None:
        ended = run(keeper, "/usr/bin/env", environment={"ONE": "1", "TWO": "2"})
        assert sorted(ended.stdout.split()) == [b"ONE=1", b"TWO=2"]

    def test_it_runs_in_the_directory(self, keeper: Keeper, tmp_path: Path) -> None:
        ended = run(keeper, "/bin/pwd", directory=str(tmp_path))
        assert ended.stdout.decode() == f"{tmp_path.resolve()}\n"

    def test_what_it_left_behind_is_not_waited_for(self, keeper: Keeper, mark: str) -> None:
        ended = shell(keeper, f"sleep {mark} & echo hi")
        assert ended == Finished(b"hi\n", b"", Exit(0, None, tuple(living(mark))), Cause.EXITED)
        assert len(living(mark)) == 1
        keeper.close()
        assert living(mark) == []


class TestInput:
    def test_there_is_nothing_to_read_without_any(self, keeper: Keeper) -> None:
        assert shell(keeper, "wc -c").stdout.strip() == b"0"

    def test_it_comes_whole_and_ends(self, keeper: Keeper) -> None:
        given = os.urandom(3_000_000)
        ended = run(keeper, "cat", given=given, most_bytes=4_000_000)
        assert ended == Finished(given, b"", Exit(0, None), Cause.EXITED)

    def test_a_program_that_never_reads_it(self, keeper: Keeper) -> None:
        assert shell(keeper, "echo done", given=b"x" * 1_000_000).stdout == b"done\n"

    def test_a_program_that_closes_it_and_goes_on(self, keeper: Keeper) -> None:
        ended = shell(keeper, "exec <&-; sleep 0.2; echo done", given=b"x" * 1_000_000)
        assert ended == Finished(b"done\n", b"", Exit(0, None), Cause.EXITED)

    def test_a_program_that_holds_it_without_reading_is_ended_in_time(self, keeper: Keeper) -> None:
        ended = shell(keeper, "sleep 1000", given=b"x" * 1_000_000, seconds=0.3)
        assert (ended.cause, ended.exit and ended.exit.signal) == (Cause.TIME, signal.SIGTERM)

    def test_what_it_left_behind_may_hold_it_too(self, keeper: Keeper, mark: str) -> None:
        ended = shell(keeper, f"exec 3<&0; sleep {mark} <&3 >/dev/null 2>&1 & echo done", given=b"x" * 1_000_000)
        assert (ended.stdout, ended.cause) == (b"done\n", Cause.EXITED)


class TestLimits:
    def test_time(self, keeper: Keeper, mark: str) -> None:
        script = f"trap '' TERM; echo begun; sleep {mark} & setsid sleep {mark} & wait; sleep {mark}"
        ended = shell(keeper, script, seconds=1.5)
        assert ended == Finished(b"begun\n", b"", Exit(None, signal.SIGKILL), Cause.TIME)
        assert living(mark) == []

    @pytest.mark.parametrize("stream", [1, 2])
    def test_too_much_on_either_stream(self, keeper: Keeper, mark: str, stream: int) -> None:
        ended = shell(keeper, f"setsid sleep {mark} & yes >&{stream}", most=1000)
        assert (len(ended.stdout), len(ended.stderr)) == ((1000, 0) if stream == 1 else (0, 1000))
        assert ended.cause is Cause.OUTPUT
        assert living(mark) == []

    def test_as_much_as_may_be_is_not_too_much(self, keeper: Keeper) -> None:
        assert shell(keeper, "printf 12345678", most=8) == Finished(b"12345678", b"", Exit(0, None), Cause.EXITED)
        assert shell(keeper, "printf 123456789", most=8).cause is Cause.OUTPUT

    def test_a_gigabyte_takes_little_memory(self, keeper: Keeper) -> None:
        run(keeper, "true")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ended = shell(keeper, "head -c 1000000000 /dev/zero", most=1 << 20)
        assert ended.cause is Cause.OUTPUT
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000

    def test_a_cancellation_goes_on_when_nothing_is_left(self, keeper: Keeper, mark: str) -> None:
        async def main() -> None:
            script = f"trap '' TERM; setsid sleep {mark} & sleep {mark} & wait; sleep {mark}"
            running = asyncio.create_task(
                run_program(
                    keeper,
                    ["sh", "-c", script],
                    directory="/",
                    environment=ENVIRONMENT,
                    input=b"x" * 1_000_000,
                    seconds=LONG,
                    most_bytes=1000,
                )
            )
            await until(lambda: len(living(mark)) >= 3)  # the shell, whose script names it, and both sleeps
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert living(mark) == []

        asyncio.run(main())

    def test_no_descriptor_stays_open(self, keeper: Keeper) -> None:
        shell(keeper, "true")
        before = open_descriptors()
        for script in ("true", "exec <&-; sleep 0.1", "yes"):
            shell(keeper, script, given=b"x" * 200_000, most=1000)
        with pytest.raises(FileNotFoundError):
            run(keeper, "/no/such/program", given=b"x")
        assert left_open(before) == 0


class TestStarting:
    def test_a_name_is_looked_for_on_the_path_of_the_environment(self, keeper: Keeper, tmp_path: Path) -> None:
        first, second = tmp_path / "first", tmp_path / "second"
        for place in (first, second):
            place.mkdir()
            (place / "greet").write_text(f"#!/bin/sh\necho {place.name}\n")
        (second / "greet").chmod(0o700)  # the first may not be run
        environment = {"PATH": f"first::{first}:{second}"}
        assert run(keeper, "greet", directory=str(tmp_path), environment=environment).stdout == b"second\n"

    def test_a_name_with_a_slash_is_looked_for_in_the_directory(self, keeper: Keeper, tmp_path: Path) -> None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/greet").write_text("#!/bin/sh\necho here $0\n")
        (tmp_path / "bin/greet").chmod(0o700)
        ended = run(keeper, "bin/greet", directory=str(tmp_path), environment={})
        assert ended.stdout.decode() == f"here {tmp_path}/bin/greet\n"

    def test_one_that_is_not_there(self, keeper: Keeper, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError) as raised:
            run(keeper, "no-such-program")
        assert raised.value.filename == "no-such-program"
        with pytest.raises(FileNotFoundError) as raised:
            run(keeper, "./none", directory=str(tmp_path))
        assert raised.value.filename == f"{tmp_path}/./none"

    def test_one_that_may_not_be_run(self, keeper: Keeper, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("no program")
        with pytest.raises(PermissionError) as raised:
            run(keeper, "./text", directory=str(tmp_path))
        assert raised.value.filename == f"{tmp_path}/./text"

    def test_why_in_words(self, keeper: Keeper, tmp_path: Path) -> None:
        told: list[str] = []
        for name in ("no-such\x1b", "./none"):
            with pytest.raises(OSError) as raised:  # noqa: PT011 -- what it says is what is tested
                run(keeper, name, directory=str(tmp_path))
            told.append(why_not_run(raised.value))
        assert told == [
            "There is no such program on PATH: no-such<U+001B>",
            f"No such file or directory: {tmp_path}/./none",
        ]
        assert why_not_run(KeeperDied("The keeper of commands was killed")) == "The keeper of commands was killed"

    def test_a_directory_that_is_not_there(self, keeper: Keeper, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="gone"):
            run(keeper, "true", directory=str(tmp_path / "gone"))

    def test_an_argument_that_no_program_could_be_given(self, keeper: Keeper) -> None:
        with pytest.raises(OSError, match="Invalid argument"):
            run(keeper, "true", "a\0b")

    def test_relative_entries_of_the_path_lead_nowhere(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="There is no such program on PATH: 'sh'"):
            find_program("sh", directory="/bin", environment={"PATH": f"bin::.:{tmp_path}"})
