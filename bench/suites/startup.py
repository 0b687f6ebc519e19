"""Start-up time of the program."""

import subprocess
import sys
from collections.abc import Iterator

from bench.measurement import Measurement, ratio
from bench.support.tool_process import TEJAT


def measure(_scratch: str) -> Iterator[Measurement]:
    yield ratio(
        "`tejat --version` over the bare interpreter",
        2.0,
        lambda: subprocess.run([TEJAT, "--version"], check=True, stdout=subprocess.DEVNULL),
        lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
        rounds=30,
    )
