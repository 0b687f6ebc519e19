"""A batch on a Ray cluster, in a process of its own: `ray_batch.py DIRECTORY ADDRESS [JOBS]`.

It prints how the batch ended as JSON. An interrupt cancels it.
"""

import asyncio
import json
import sys

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.batch import run_batch
from tejat.batch.driver.options import BatchOptions
from tejat.batch.engines.contract import EngineUnavailable
from tejat.batch.events import BatchEnded, BatchEvent
from tejat.batch.plan.plan_file import BatchPlan


def main() -> None:
    directory, address, *jobs = sys.argv[1:]
    options = BatchOptions(directory, engine="ray", address=address, jobs=int(jobs[0]) if jobs else None)
    try:
        asyncio.run(run_batch(options, BatchPlan.open(BatchDirectory(directory)), [_print_end]))
    except EngineUnavailable as error:
        _write({"unavailable": str(error)})
    except KeyboardInterrupt:
        pass


def _print_end(event: BatchEvent) -> None:
    if isinstance(event, BatchEnded):
        _write({"counts": dict(event.counts), "reason": event.reason})


def _write(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
