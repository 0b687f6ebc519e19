"""The same results as before, with few comparisons."""

import importlib.util
import random
import sys
import unittest
from pathlib import Path
from typing import Any

import sync

ORIGINAL = Path(__file__).parent / "files" / "sync.py"


class Key:
    """A key that counts how often keys are compared, and raises if that is too often."""

    limit = 10**9
    compared = 0
    hashed = 0

    def __init__(self, name: int) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        Key.compared += 1
        if Key.compared > Key.limit:
            raise AssertionError(f"more than {Key.limit} comparisons of keys")
        return isinstance(other, Key) and self.name == other.name

    def __hash__(self) -> int:
        Key.hashed += 1
        return hash((self.name, "key"))

    def __repr__(self) -> str:
        return f"k{self.name}"


class MergeTest(unittest.TestCase):
    def test_same_results(self) -> None:
        original, chance = load_original(), random.Random(15)
        for number in range(800):
            ours, theirs = ([_some(chance) for _ in range(chance.randrange(8))] for _ in range(2))
            with self.subTest(number):
                found, changed = sync.merge_records(*_records(sync, ours, theirs))
                expected, expected_changed = original.merge_records(*_records(original, ours, theirs))
                self.assertEqual(_plain(found), _plain(expected))
                self.assertEqual([key.name for key in changed], [key.name for key in expected_changed])
                self.assertIsInstance(found, list)
                self.assertIsInstance(changed, list)

    def test_arguments_may_be_iterators(self) -> None:
        ours, theirs = _records(sync, [(1, 1, False), (2, 1, True)], [(1, 2, False), (3, 1, False)])
        found, changed = sync.merge_records(iter(ours), iter(theirs))
        self.assertEqual((_plain(found), len(changed)), ([(1, 2, False), (2, 1, True), (3, 1, False)], 1))

    def test_few_comparisons(self) -> None:
        count = 3000
        ours = [(number % (count // 2), number, False) for number in range(count)]
        theirs = [(number + count // 4, number, number % 5 == 0) for number in range(count)]
        records = _records(sync, ours, theirs)
        Key.compared, Key.hashed, Key.limit = 0, 0, 12 * count
        self.addCleanup(setattr, Key, "limit", 10**9)
        sync.merge_records(*records)
        self.assertLess(Key.hashed, 24 * count)


def load_original() -> Any:
    spec = importlib.util.spec_from_file_location("original_sync", ORIGINAL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["original_sync"] = module
    spec.loader.exec_module(module)
    return module


def _some(chance: random.Random) -> tuple[int, int, bool]:
    return chance.randrange(6), chance.randrange(2), chance.random() < 0.3


def _records(module: Any, *lists: list[tuple[int, int, bool]]) -> list[list[Any]]:
    return [[module.Record(Key(name), value, deleted) for name, value, deleted in each] for each in lists]


def _plain(records: list[Any]) -> list[tuple[int, int, bool]]:
    return [(record.key.name, record.value, record.deleted) for record in records]
