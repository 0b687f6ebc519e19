"""The id and the clock of a boot are the same in every process."""

import subprocess
import sys

from tejat.workspace.processes.boot import boot_id, seconds_since_boot


def test_another_process_has_the_same_clock() -> None:
    program = "from tejat.workspace.processes.boot import boot_id, seconds_since_boot as now; print(now(), boot_id())"
    before = seconds_since_boot()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    between, _, other_id = done.stdout.strip().partition(" ")
    assert before < float(between) < seconds_since_boot()
    assert other_id == boot_id()
