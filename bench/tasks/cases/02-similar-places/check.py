"""One value differs, and no other byte."""

import tomllib
import unittest
from pathlib import Path

NAME = "deploy/services.toml"
BEFORE = (Path(__file__).parent / "files" / NAME).read_text(encoding="utf-8")


class LimitsTest(unittest.TestCase):
    def test_the_value(self) -> None:
        expected = tomllib.loads(BEFORE)
        expected["staging"]["billing"]["worker"]["memory"] = 768
        self.assertEqual(tomllib.loads(Path(NAME).read_text(encoding="utf-8")), expected)

    def test_one_line_differs(self) -> None:
        before, after = BEFORE.split("\n"), Path(NAME).read_text(encoding="utf-8").split("\n")
        self.assertEqual(len(before), len(after))
        changed = [new for old, new in zip(before, after, strict=True) if old != new]
        self.assertEqual(len(changed), 1)
        self.assertIn("# measured in March", changed[0])
