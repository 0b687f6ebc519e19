"""What a command prints is taken in until it is over, for whatever reason."""

import asyncio
import contextlib
import itertools
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.descriptors import count_leaked, count_open
from support.process_marks import living_pids
from support.slow_loop import SlowLoop
from support.wait import wait_until_async
from tejat.core.frozen import replace
from tejat.workspace.processes.bounded_buffer import BoundedBuffer
from tejat.workspace.processes.output_collector import (
    CommandEndReason,
    CommandOutcome,
    TimeLimits,
    collect_output,
    open_pipe,
)
from tejat.workspace.processes.spawn import ExitStatus, ProcessSpec, SupervisorDied
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath)}
NONE = TimeLimits(idle=None, total=None)


@dataclass(frozen=True)
class Outcome:
    ended: CommandOutcome
    out: bytes
    err: bytes

    @property
    def exit(self) -> ExitStatus | None:
        return self.ended.exit


def bounded() -> BoundedBuffer:
    return BoundedBuffer(head=8_000, tail=32_000, spool=None, spool_limit=0)


async def run(
    supervisor: ProcessSupervisor,
    command: str,
    *,
    limits: TimeLimits = NONE,
    out: BoundedBuffer | None = None,
    on_output: Callable[[memoryview], None] | None = None,
) -> Outcome:
    out, err = out or bounded(), bounded()
    (stdout, stdout_end), (stderr, stderr_end) = open_pipe(), open_pipe()
    root = os.open("/", os.O_RDONLY)
    try:
        try:
            spec = ProcessSpec(("/bin/bash", "--norc", "--noprofile", "-c", command), root, ENVIRONMENT)
            running = await supervisor.start(spec, stdout=stdout_end, stderr=stderr_end)
        finally:
            for descriptor in (stdout_end, stderr_end, root):
                os.close(descriptor)
        ended = await collect_output(running, stdout, stderr, out=out, err=err, limits=limits, on_output=on_output)
    finally:
        os.close(stdout)
        os.close(stderr)
    return Outcome(ended, out.head_bytes + out.tail_bytes, err.head_bytes + err.tail_bytes)


class TestExiting:
    def test_both_outputs_and_the_end(self, supervisor: ProcessSupervisor) -> None:
        outcome = asyncio.run(run(supervisor, "echo out; echo wrong >&2; exit 3"))
        assert (outcome.out, outcome.err) == (b"out\n", b"wrong\n")
        assert outcome.ended == CommandOutcome(ExitStatus(3, None, ()), CommandEndReason.EXITED, outcome.ended.seconds)
        assert 0 < outcome.ended.seconds < 5

    def test_all_that_is_in_the_pipe_at_the_end(self, supervisor: ProcessSupervisor) -> None:
        """More than is read in one piece."""
        for size in (100_000, 1_000_000, 3_000_000):
            out = bounded()
            asyncio.run(run(supervisor, f"head -c {size} /dev/zero; echo end", out=out))
            assert (out.total, out.tail_bytes[-5:]) == (size + 4, b"\0end\n")

    def test_a_process_in_the_background_is_not_waited_for(self, supervisor: ProcessSupervisor, mark: str) -> None:
        """Case 69."""
        outcome = asyncio.run(run(supervisor, f"sleep {mark} & echo hi"))
        assert outcome.out == b"hi\n"
        assert outcome.exit == ExitStatus(0, None, tuple(living_pids(mark)))
        assert len(living_pids(mark)) == 1
        assert outcome.ended.seconds < 1

    def test_one_that_never_stops_talking_is_not_waited_for_either(self, supervisor: ProcessSupervisor) -> None:
        outcome = asyncio.run(run(supervisor, "yes & echo hi >&2"))
        assert outcome.err == b"hi\n"
        assert outcome.exit is not None
        assert (outcome.exit.code, len(outcome.exit.survivors)) == (0, 1)
        assert outcome.ended.seconds < 1

    def test_who_writes_for_the_shell_is_heard_and_not_counted(
        self, supervisor: ProcessSupervisor, tmp_path: Path
    ) -> None:
        for _ in range(5):
            outcome = asyncio.run(run(supervisor, f"exec > >(tee {tmp_path}/copy); echo hi"))
            assert (outcome.out, outcome.exit) == (b"hi\n", ExitStatus(0, None, ()))
            assert (tmp_path / "copy").read_bytes() == b"hi\n"

    def test_an_output_closed_early_is_no_end(self, supervisor: ProcessSupervisor) -> None:
        outcome = asyncio.run(run(supervisor, "exec >&- 2>&-; sleep 0.1; exit 6"))
        assert outcome.exit == ExitStatus(6, None)
        assert outcome.ended.seconds > 0.08  # the clock starts a moment after the command

    @pytest.mark.parametrize("command", ["read -p pw x", "cat", "sudo -S true </dev/stdin", "less", "python3"])
    def test_nothing_waits_for_an_answer(self, supervisor: ProcessSupervisor, command: str) -> None:
        """Case 72."""
        outcome = asyncio.run(run(supervisor, command, limits=TimeLimits(idle=5, total=10)))
        assert outcome.ended.reason is CommandEndReason.EXITED

    def test_bytes_are_bytes(self, supervisor: ProcessSupervisor) -> None:
        """Case 71: what is cut in two arrives as it is."""
        pieces: list[bytes] = []
        outcome = asyncio.run(
            run(
                supervisor,
                r"printf '\xe2\x82'; sleep 0.05; printf '\xac\x00\xff'",
                on_output=lambda piece: pieces.append(bytes(piece)),
            )
        )
        assert outcome.out == b"".join(pieces) == b"\xe2\x82\xac\0\xff"
        assert len(pieces) == 2


class TestLimits:
    def test_too_long(self, supervisor: ProcessSupervisor, mark: str) -> None:
        command = f"echo hi; setsid sleep {mark} & while :; do echo; sleep 0.01; done"
        outcome = asyncio.run(run(supervisor, command, limits=TimeLimits(idle=5, total=0.2)))
        assert outcome.out.startswith(b"hi\n\n")
        assert outcome.ended.reason is CommandEndReason.TOTAL
        assert 0.2 <= outcome.ended.seconds < 2
        assert outcome.exit is not None
        assert living_pids(mark) == []

    def test_silent_for_too_long(self, supervisor: ProcessSupervisor, mark: str) -> None:
        command = f"for i in 1 2 3 4 5; do echo $i; sleep 0.1; done; setsid sleep {mark} & sleep {mark}"
        outcome = asyncio.run(run(supervisor, command, limits=TimeLimits(idle=0.3, total=20)))
        assert outcome.out == b"1\n2\n3\n4\n5\n"
        assert outcome.ended.reason is CommandEndReason.IDLE
        assert 0.7 <= outcome.ended.seconds < 3
        assert living_pids(mark) == []

    def test_talking_on_either_output_is_not_silence(self, supervisor: ProcessSupervisor) -> None:
        command = "for i in 1 2 3 4 5 6; do echo $i >&$((i % 2 + 1)); sleep 0.1; done"
        outcome = asyncio.run(run(supervisor, command, limits=TimeLimits(idle=0.4, total=None)))
        assert (outcome.ended.reason, outcome.out, outcome.err) == (CommandEndReason.EXITED, b"2\n4\n6\n", b"1\n3\n5\n")

    def test_last_words_are_heard(self, supervisor: ProcessSupervisor) -> None:
        command = "trap 'echo bye; exit 2' TERM; echo; sleep 60 & wait"
        outcomes = [asyncio.run(run(supervisor, command, limits=TimeLimits(idle=0.4, total=None))) for _ in range(3)]
        heard = [(outcome.out, outcome.exit, outcome.ended.reason) for outcome in outcomes]
        # On a busy machine the time that is given may be too short for some.
        assert (b"\nbye\n", ExitStatus(2, None), CommandEndReason.IDLE) in heard

    def test_a_flood_is_bounded(self, supervisor: ProcessSupervisor) -> None:
        """Case 70: memory does not grow, others have their turn, head and tail are kept."""
        out = bounded()
        turns: list[float] = []

        async def others() -> None:
            while True:
                await asyncio.sleep(0.001)
                turns.append(time.monotonic())

        async def main() -> Outcome:
            beside = asyncio.create_task(others())
            outcome = await run(supervisor, "yes", limits=TimeLimits(idle=None, total=1), out=out)
            beside.cancel()
            return outcome

        asyncio.run(run(supervisor, "true"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        outcome = asyncio.run(main())
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
        assert (outcome.ended.reason, outcome.exit) == (
            CommandEndReason.TOTAL,
            replace(outcome.exit or ExitStatus(0, 0), survivors=()),
        )
        assert out.total > 20_000_000
        assert (out.head_bytes, len(out.tail_bytes)) == (b"y\n" * 4_000, 32_000)
        assert set(out.tail_bytes) == set(b"y\n")
        longest = max(after - before for before, after in itertools.pairwise(turns))
        assert len(turns) > 20
        assert longest < 0.5


def test_a_flood_is_read_in_large_pieces(supervisor: ProcessSupervisor) -> None:
    """After each small piece there is a pause of 0.3 ms."""
    pieces: list[int] = []

    def count(data: memoryview) -> None:
        pieces.append(len(data))

    size, flood = 30_000_000, 1 << 20
    began = time.monotonic()
    kept = bounded()
    asyncio.run(run(supervisor, f"yes | head -c {size}; printf end", out=kept, on_output=count))
    pauses = (time.monotonic() - began) / 0.0003
    assert sum(pieces) == kept.total == size + 3
    assert kept.tail_bytes.endswith(b"y\nend")
    first = next(at for at, total in enumerate(itertools.accumulate(pieces)) if total > flood)
    at_the_end = 20  # when the command has ended, what is left is read without pauses
    assert sum(piece < 1 << 16 for piece in pieces[first:]) <= pauses + at_the_end


class TestAfterAStandstill:
    """Ctrl-Z stops the agent, not the command; a busy machine may not run it for a while either."""

    @pytest.mark.parametrize("limits", [TimeLimits(idle=None, total=2), TimeLimits(idle=2, total=None)])
    def test_an_exit_within_the_limit_counts(self, supervisor: ProcessSupervisor, limits: TimeLimits) -> None:
        def stand_still(_: memoryview) -> None:
            time.sleep(2.5)

        outcome = asyncio.run(run(supervisor, "echo hi; sleep 0.5; exit 3", limits=limits, on_output=stand_still))
        assert (outcome.ended.reason, outcome.exit) == (CommandEndReason.EXITED, ExitStatus(3, None))

    def test_output_in_the_pipe_is_not_lost(self, supervisor: ProcessSupervisor) -> None:
        async def main() -> bytes:
            (stdout, stdout_end), (stderr, stderr_end) = open_pipe(), open_pipe()
            root = os.open("/", os.O_RDONLY)
            spec = ProcessSpec(("/bin/echo", "hi"), root, ENVIRONMENT)
            running = await supervisor.start(spec, stdout=stdout_end, stderr=stderr_end)
            for descriptor in (stdout_end, stderr_end, root):
                os.close(descriptor)
            await running.wait()
            loop.step = 1.0
            out = bounded()
            await collect_output(running, stdout, stderr, out=out, err=bounded(), limits=NONE)
            os.close(stdout)
            os.close(stderr)
            return out.head_bytes

        loop = SlowLoop()
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            assert runner.run(main()) == b"hi\n"


class TestBeingCalledOff:
    def test_it_is_over_when_the_cancellation_comes_out(self, supervisor: ProcessSupervisor, mark: str) -> None:
        out = bounded()

        async def main() -> None:
            command = f"echo so far; trap '' TERM; setsid sleep {mark} & (env -i setsid sleep {mark} &) ; sleep {mark}"
            task = asyncio.create_task(run(supervisor, command, out=out))
            await wait_until_async(lambda: out.total == 7 and len(living_pids(mark)) >= 3)
            task.cancel()
            began = time.monotonic()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.monotonic() - began < 15
            assert living_pids(mark) == []

        asyncio.run(main())
        assert out.head_bytes == b"so far\n"

    def test_at_any_moment(self, supervisor: ProcessSupervisor, mark: str) -> None:
        async def main() -> None:
            for step in range(40):
                command = f"setsid sleep {mark} & echo; sleep {mark}" if step % 2 else f"setsid sleep {mark} & echo"
                task = asyncio.create_task(run(supervisor, command, limits=TimeLimits(idle=0.01, total=0.02)))
                for _ in range(step % 7):
                    await asyncio.sleep(0)
                await asyncio.sleep(step * 0.0005)
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            supervisor.close()
            assert living_pids(mark) == []

        asyncio.run(run(supervisor, "true"))
        before = count_open()
        asyncio.run(main())
        assert count_leaked(before - 1) == 0  # the supervisor's own

    def test_a_second_cancellation_changes_nothing(self, supervisor: ProcessSupervisor, mark: str) -> None:
        async def main() -> None:
            task = asyncio.create_task(run(supervisor, f"trap '' TERM; sleep {mark}; sleep {mark}"))
            await wait_until_async(lambda: len(living_pids(mark)) >= 2)
            for _ in range(5):
                task.cancel()
                await asyncio.sleep(0.01)
            with pytest.raises(asyncio.CancelledError):
                await task
            assert living_pids(mark) == []

        asyncio.run(main())


def test_a_killed_supervisor_is_reported(supervisor: ProcessSupervisor, mark: str) -> None:
    out = bounded()

    async def main() -> None:
        with pytest.raises(SupervisorDied):
            await asyncio.wait_for(
                run(supervisor, f"echo so far; sleep 0.1; kill -9 $PPID; setsid sleep {mark} & sleep {mark}", out=out),
                10,
            )

    asyncio.run(main())
    assert out.head_bytes == b"so far\n"
    assert living_pids(mark) == []


def test_no_descriptor_is_leaked(supervisor: ProcessSupervisor) -> None:
    asyncio.run(run(supervisor, "true"))
    before = count_open()
    for _ in range(5):
        asyncio.run(run(supervisor, "sleep 0.01; echo", limits=TimeLimits(idle=0.001, total=None)))
    assert count_leaked(before) == 0
