"""A process killed or interrupted at any moment leaves the old file or the new one, and nothing that lasts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROUNDS = 60
SIZE = 4 << 20

# One process that forks a writer, ends it at a random moment and looks, again and again. It has one thread until then.
PREAMBLE = """
import errno, json, os, random, signal, sys, threading, time
from tejat.workspace.files.atomic_write import ExpectedFile, write_atomically
from tejat.workspace.files.roots import Roots

place, rounds, size, names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
path = os.path.join(place, "f")
whole = {bytes([letter]) * size for letter in b"ab"}

if names == "early":
    real_open = os.open
    def open_with_a_name(path, flags, *rest, **keywords):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "no nameless files here")
        return real_open(path, flags, *rest, **keywords)
    os.open = open_with_a_name

def content():
    with open(path, "rb") as file:
        return file.read()

def write(stop):
    with Roots([place]) as roots:
        location = roots.locate("f")
        while True:
            with roots.open_file(location) as file:
                old = ExpectedFile(file.read_all(), file.status)
            new = memoryview((b"b" if old.content[:1] == b"a" else b"a") * size)
            pieces = [new[start : start + 10_000] for start in range(0, size, 10_000)]
            write_atomically(roots, location, pieces, expected=old, stop=stop)

def leftovers():
    return sorted(name for name in os.listdir(place) if name != "f")

with open(path, "wb") as file:
    file.write(b"a" * size)
torn, found, inodes = 0, [], set()
"""

KILLS = """
for done in range(20 * rounds):
    if done >= rounds and len(inodes) > 1:  # a busy machine needs more to write once
        break
    writer = os.fork()
    if writer == 0:
        write(lambda: None)
    time.sleep(random.uniform(0.001, 0.04))
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    torn += content() not in whole
    found.append(len(leftovers()))
    inodes.add(os.stat(path).st_ino)
with Roots([place]) as roots, roots.open_file(roots.locate("f")) as file:
    write_atomically(roots, roots.locate("f"), [b"end"], expected=ExpectedFile(file.read_all(), file.status))
print(json.dumps({"torn": torn, "found": found, "changed": len(inodes) > 1, "left": leftovers()}))
"""

INTERRUPTS = """
class Interrupted(Exception):
    pass

def write_until_interrupted():
    asked = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: asked.set())
    def stop():
        if asked.is_set():
            raise Interrupted
    outcome = []
    def work():
        try:
            write(stop)
        except Interrupted:
            outcome.append(0)
    worker = threading.Thread(target=work)
    worker.start()
    os.write(ready_write, b"x")
    worker.join()
    os._exit(0 if outcome else 1)

codes = []
for done in range(20 * rounds):
    if done >= rounds and len(inodes) > 1:
        break
    ready_read, ready_write = os.pipe()
    writer = os.fork()
    if writer == 0:
        write_until_interrupted()
    os.read(ready_read, 1)
    os.close(ready_read)
    os.close(ready_write)
    time.sleep(random.uniform(0, 0.03))
    os.kill(writer, signal.SIGINT)
    codes.append(os.waitpid(writer, 0)[1])
    torn += content() not in whole
    found += leftovers()
    inodes.add(os.stat(path).st_ino)
print(json.dumps({"torn": torn, "found": found, "changed": len(inodes) > 1, "codes": sorted(set(codes))}))
"""


def run(script: str, place: Path, names: str) -> dict[str, Any]:
    command = [sys.executable, "-c", PREAMBLE + script, str(place), str(ROUNDS), str(SIZE), names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("names", ["late", "early"])
def test_killed_at_any_moment(tmp_path: Path, names: str) -> None:
    result = run(KILLS, tmp_path, names)
    found = result.pop("found")
    assert result == {"torn": 0, "changed": True, "left": []}
    # Each new writer removes what the one before left, so never more than one is found.
    assert (len(found) >= ROUNDS, max(found) <= 1) == (True, True)
    if names == "early":
        assert sum(found) > 0
    assert (tmp_path / "f").read_bytes() == b"end"


@pytest.mark.parametrize("names", ["late", "early"])
def test_interrupted_at_any_moment(tmp_path: Path, names: str) -> None:
    assert run(INTERRUPTS, tmp_path, names) == {"torn": 0, "found": [], "changed": True, "codes": [0]}
