"""The tests pass for the module and for another correct one, and fail for every mutant."""

import os
import signal
import sys
import tempfile
import unittest
from pathlib import Path
from typing import NoReturn

SOURCE = (Path(__file__).parent / "files" / "slots.py").read_text(encoding="utf-8")
SECONDS = 10
NO_TESTS = 3
MUTANTS = (
    ("if end < begin:", "if end <= begin:"),
    ("if end < begin:", "if False:"),
    ("            continue\n        if joined", "            pass\n        if joined"),
    ("begin <= joined[-1][1]", "begin < joined[-1][1]"),
    ("max(joined[-1][1], end)", "end"),
    ("in sorted(busy):\n", "in busy:\n"),
    ("    joined = []\n", "    joined = []\n    busy.sort() if isinstance(busy, list) else None\n"),
    ("minimum=1", "minimum=0"),
    ("start - begin >= minimum", "start - begin > minimum"),
    ("closes - begin >= minimum", "closes - begin > minimum"),
    ("if closes - begin >= minimum", "if closes > begin"),
    ("        if start >= closes:\n            break\n", ""),
    ("begin = max(begin, end)", "begin = end + 1"),
    ("begin = opens", "begin = 0"),
    ("    if closes - begin >= minimum:\n        found.append((begin, closes))\n", ""),
    ("<= 24 * 60", "< 24 * 60"),
    ("if not 0 <=", "if not -60 <="),
    ("if not 0 <=", "if not 0 <"),
    ("{minutes // 60:02}", "{minutes // 60}"),
    ("% 60:02}", "% 60}"),
)
OTHER = """
def merge(busy):
    slots = sorted((begin, end) for begin, end in busy)
    if any(end < begin for begin, end in slots):
        raise ValueError("wrong slot")
    found = []
    for begin, end in slots:
        if begin < end and found and found[-1][1] >= begin:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif begin < end:
            found.append((begin, end))
    return found


def free(busy, opens, closes, minimum=1):
    edges = [opens]
    for begin, end in merge(busy):
        if end > opens and begin < closes:
            edges += [max(begin, opens), min(end, closes)]
    edges.append(closes)
    return [(a, b) for a, b in zip(edges[::2], edges[1::2]) if b - a >= minimum]


def show(minutes):
    if minutes < 0 or minutes > 1440:
        raise ValueError(minutes)
    return "%02d:%02d" % divmod(minutes, 60)
"""


class MutantTest(unittest.TestCase):
    def passes(self, module: str) -> bool:
        """Whether the tests pass for a module, in a process of their own."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "slots.py").write_text(module, encoding="utf-8")
            Path(folder, "test_slots.py").write_bytes(Path("test_slots.py").read_bytes())
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                _run_tests(folder)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self.assertNotEqual(code, NO_TESTS, "no tests")
        return code == 0

    def test_correct_modules_pass(self) -> None:
        self.assertTrue(self.passes(SOURCE))
        self.assertTrue(self.passes(OTHER), "the tests depend on how the module is written")

    def test_mutants_are_found(self) -> None:
        survivors = list[str]()
        for old, new in MUTANTS:
            self.assertEqual(SOURCE.count(old), 1, old)
            if self.passes(SOURCE.replace(old, new)):
                survivors.append(f"{old!r} -> {new!r}")
        self.assertEqual(survivors, [])


def _run_tests(folder: str) -> NoReturn:
    code = 1
    try:
        signal.alarm(SECONDS)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.chdir(folder)
        sys.path[0] = folder
        tests = unittest.defaultTestLoader.loadTestsFromName("test_slots")
        result = unittest.TextTestRunner(verbosity=0).run(tests)
        code = NO_TESTS if result.testsRun == 0 else 0 if result.wasSuccessful() else 1
    finally:
        os._exit(code)
