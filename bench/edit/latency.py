"""Latency of `replace` proposals and refusals, in process, on files of real lines."""

import asyncio
import gc
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from bench.edit.draft import Draft, Mutation
from bench.edit.generator import KINDS, MUST_REFUSE
from bench.edit.reference_edits import make_true_edit
from bench.edit.sources import random_source
from bench.measurement import Measurement
from tejat import Toolset, open_tools
from tejat.core.errors import ToolFailure

MIB = 2**20
_SEED = "time"
_LIMITS: Mapping[int, float] = {2_000: 5, 100_000: 200}
"""Milliseconds allowed by number of lines."""

_LARGE_SECONDS = 5.0
"""For files that hardly anyone edits: an upper bound for the wait."""


def measure(scratch: str, *, turns: int = 2) -> Iterator[Measurement]:
    """Measure the latency. `turns` is the number of edits of each kind."""
    root = os.path.join(scratch, "times")
    home = os.path.join(scratch, "times-home")
    for directory in (root, home):
        os.makedirs(directory)
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home}
    # Exclude the source files of the cases from garbage collection, which is not part of the measurement.
    gc.collect()
    gc.freeze()
    with open_tools([root], None, mode="yolo", sandbox="off", environment=environment) as session:
        for lines, limit in _LIMITS.items():
            yield from _kinds(session, root, lines, limit, turns)
        yield from _large(session, root)


def _kinds(session: Toolset, root: str, lines: int, limit: float, turns: int) -> Iterator[Measurement]:
    landing: dict[str, Mutation] = {"exact": lambda draft, _: draft, **{kind.name: kind.mutate for kind in KINDS}}
    for name, kinds in (("edits", landing), ("refusals", MUST_REFUSE)):
        times: list[tuple[_Measurement, str]] = []
        for kind, mutate in kinds.items():
            rng = Random(f"{_SEED}/{lines}/{kind}")
            for _ in range(turns):
                draft = _draft(rng, mutate, lines)
                path = _write(root, f"file{draft.suffix}", "\n".join(draft.before()) + "\n")
                times.append((_measure_best(session, path, draft.argument("old"), draft.argument("new")), kind))
                os.unlink(path)
        times.sort()
        worst, kind = times[-1]
        half = times[len(times) // 2][0]
        detail = (
            f"the slowest of {len(times)}: {kind}, {worst.processor * 1e3:.1f} ms of the processor; "
            f"half of them within {half.seconds * 1e3:.1f} ms ({half.processor * 1e3:.1f})"
        )
        yield Measurement(f"replace in {lines:,} lines, {name}", worst.seconds * 1e3, limit, "ms", detail)


def _draft(rng: Random, mutate: Mutation, lines: int) -> Draft:
    """Create an edit in a file of this many lines; similar places do not matter here."""
    while True:
        draft = make_true_edit(rng)
        if draft is None or len(draft.before()) > lines:
            continue
        missing = lines - len(draft.before())
        above = rng.randint(0, missing)
        head, tail = _more_lines(rng, draft, above), _more_lines(rng, draft, missing - above)
        made = mutate(replace(draft, head=(*head, *draft.head), tail=(*draft.tail, *tail)), rng)
        if made is not None:
            return made


def _more_lines(rng: Random, draft: Draft, count: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < count:
        lines += random_source(rng, (draft.suffix,)).lines
    return lines[:count]


def _large(session: Toolset, root: str) -> Iterator[Measurement]:
    rng = Random(_SEED)
    block: list[str] = []
    while sum(map(len, block)) < MIB:
        block += random_source(rng, (".py",)).lines
    half = ("\n".join(block) + "\n") * 25
    place = "def the_only_place(first, second):\n    return first.combined_with(second)\n"
    old_string = "def the_only_place(first, second):  \n    return first.combined_with(second)"
    path = _write(root, "large.py", half + place + half)
    size = f"{os.path.getsize(path) // MIB} MB"
    yield _figure(
        session, f"replace in {size}, blanks at a line end", path, old_string, old_string.replace("second", "third")
    )
    absent = "def nowhere_to_be_found(alpha, omega):\n    raise Absent(omega, alpha) from None"
    yield _figure(session, f"replace in {size}, text that is not there", path, absent, absent.replace("alpha", "beta"))
    os.unlink(path)
    words = " ".join(block)
    line = (words * 6)[: 5 * MIB] + " the only combination of these words " + (words * 6)[: 5 * MIB]
    path = _write(root, "line.txt", line)
    for name, old in (
        ("exact", "only combination of these"),
        ("a slip", "the only combnation of these words"),
        ("text that is not there", "a sentence that nobody has ever written down"),
    ):
        yield _figure(session, f"replace in one line of 10 MB, {name}", path, old, f"{old} indeed")
    os.unlink(path)


def _figure(session: Toolset, name: str, path: str, old: str, new: str) -> Measurement:
    taken = _measure_best(session, path, old, new, rounds=2)
    return Measurement(name, taken.seconds, _LARGE_SECONDS, "s", taken.answer)


@dataclass(frozen=True, slots=True, order=True)
class _Measurement:
    """Elapsed time, processor time and the answer."""

    seconds: float
    processor: float
    answer: str


def _measure_best(session: Toolset, path: str, old: str, new: str, *, rounds: int = 20) -> _Measurement:
    async def taken() -> list[_Measurement]:
        # One after the other in one event loop, like the calls of a session.
        return [await _measure(session, path, old, new) for _ in range(rounds)]

    return min(asyncio.run(taken()))


async def _measure(session: Toolset, path: str, old: str, new: str) -> _Measurement:
    tool = session.registry["replace"]
    answer = "a change was proposed"
    start, worked = time.perf_counter(), time.process_time()
    try:
        await tool.should_confirm_execute({"file_path": path, "old_string": old, "new_string": new})
    except ToolFailure as failure:
        answer = f"refused as {failure.error_type}"
    return _Measurement(time.perf_counter() - start, time.process_time() - worked, answer)


def _write(root: str, name: str, text: str) -> str:
    path = os.path.join(root, name)
    with open(path, "x", encoding="utf-8", newline="") as file:
        file.write(text)
    return path
