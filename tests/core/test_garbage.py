"""Cyclic garbage: none is collected during start-up, and nothing that start-up made is looked at afterwards."""

import ast
import subprocess
import sys

PROGRAM = """
import gc
from tejat.core.garbage import postpone_collections, resume_collections

collected = lambda: sum(each["collections"] for each in gc.get_stats())

def make_cycles(count):
    for _ in range(count):
        cycle = []
        cycle.append(cycle)

postpone_collections()
before = collected()
kept = [[] for _ in range(400_000)]
during = collected() - before
resume_collections()
frozen = gc.get_freeze_count()
make_cycles(200_000)
print([during, frozen, collected() - before, len(gc.get_objects())])
"""


def test_start_up_and_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True, timeout=60)
    during, frozen, afterwards, known = ast.literal_eval(done.stdout.decode())
    assert during == 0
    assert frozen > 400_000
    assert 3 <= afterwards <= 5
    assert known < 100_000


PAUSED = """
import gc
from tejat.core.garbage import PausedCollections

states = []
for before in (True, False):
    gc.enable() if before else gc.disable()
    try:
        with PausedCollections():
            states.append(gc.isenabled())
            raise ValueError
    except ValueError:
        states.append(gc.isenabled())
print(states)
"""


def test_a_pause_restores_what_the_program_had_chosen() -> None:
    done = subprocess.run([sys.executable, "-c", PAUSED], capture_output=True, check=True, timeout=60)
    assert ast.literal_eval(done.stdout.decode()) == [False, True, False, False]


PACE = """
import gc
from tejat.core.garbage import collect_often, collect_rarely
paces = [gc.get_threshold()[0]]
for change in (collect_often, collect_rarely):
    change()
    paces.append(gc.get_threshold()[0])
print(paces)
"""


def test_a_batch_collects_more_often_than_other_commands() -> None:
    done = subprocess.run([sys.executable, "-c", PACE], capture_output=True, check=True, timeout=60)
    default, often, rarely = ast.literal_eval(done.stdout.decode())
    assert default < often < rarely
