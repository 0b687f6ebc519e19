"""A driver in a process of its own, to be killed and measured: `batch_driver.py DIRECTORY JOBS`.

It prints the largest size of its memory in KiB.
"""

import asyncio
import re
import sys
from pathlib import Path
from typing import cast

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.batch import run_batch
from tejat.batch.driver.options import BatchOptions
from tejat.batch.engines.registry import ENGINES
from tejat.batch.plan.plan_file import BatchPlan


def main() -> None:
    directory, jobs = sys.argv[1:]
    cast("dict[str, str]", ENGINES)["shell"] = "support.shell_engine"
    options = BatchOptions(directory, engine="shell", jobs=int(jobs))
    ended = asyncio.run(run_batch(options, BatchPlan.open(BatchDirectory(directory)), []))
    assert not ended.reason, ended
    # Not ru_maxrss, which begins with that of the parent.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    sys.stdout.write(re.findall(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)[0])


if __name__ == "__main__":
    main()
