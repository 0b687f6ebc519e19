"""Output that nobody takes goes nowhere, and leaves no descriptor behind."""

import subprocess
import sys

PROGRAM = """
import os
from tejat.ui.headless.broken_pipe import discard_stdout
print("unheard", flush=False)
before = len(os.listdir("/dev/fd"))
discard_stdout()
assert len(os.listdir("/dev/fd")) == before
"""


def test_what_was_still_to_be_written_is_lost_without_a_word() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-E", "-c", PROGRAM], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
