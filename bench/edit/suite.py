"""Edit figures of `python -m bench`, on a moderate number of cases."""

import os
from collections.abc import Iterator

from bench.edit import latency, report
from bench.edit.generator import generate_cases
from bench.edit.runners import tejat_cli
from bench.measurement import Measurement

_SEED = 90
_CASES = 400


def measure(scratch: str) -> Iterator[Measurement]:
    directory = os.path.join(scratch, "edit")
    os.mkdir(directory)
    yield from report.measure(tejat_cli.run(list(generate_cases(_SEED, _CASES)), directory))
    yield from latency.measure(directory, turns=1)
