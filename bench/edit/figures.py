"""The rows of `python -m bench` about edits: what is promised, on a modest number of cases."""

import os
from collections.abc import Iterator

from bench.edit import product, tell, timing
from bench.edit.cases import cases
from bench.figure import Figure

_SEED = 90
_CASES = 400


def figures(scratch: str) -> Iterator[Figure]:
    room = os.path.join(scratch, "edit")
    os.mkdir(room)
    yield from tell.figures(product.run(list(cases(_SEED, _CASES)), room))
    yield from timing.figures(room, turns=1)
