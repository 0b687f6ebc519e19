"""The rows of `python -m bench` about edits: what is promised, on a modest number of cases."""

import os
from collections.abc import Iterator

from bench.edit import latency as timing
from bench.edit import report as tell
from bench.edit.generator import generate_cases
from bench.edit.runners import tejat as product
from bench.measurement import Measurement

_SEED = 90
_CASES = 400


def measure(scratch: str) -> Iterator[Measurement]:
    room = os.path.join(scratch, "edit")
    os.mkdir(room)
    yield from tell.measure(product.run(list(generate_cases(_SEED, _CASES)), room))
    yield from timing.measure(room, turns=1)
