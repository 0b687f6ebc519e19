"""Both files as they must be, byte for byte."""

import importlib.util
import unittest
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("setup_of_case", Path(__file__).parent / "setup.py")
assert SPEC is not None
assert SPEC.loader is not None
SETUP = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(SETUP)


class LocaleTest(unittest.TestCase):
    maxDiff = 2000

    def test_files(self) -> None:
        english, german, broken = SETUP.texts()
        self.assertEqual(sum(old != new for old, new in zip(german, broken, strict=True)), 4)
        self.assertEqual(Path("locale/en.properties").read_bytes(), ("\n".join(english) + "\n").encode())
        found = Path("locale/de.properties").read_text(encoding="utf-8")
        differing = [line for line in found.split("\n") if line and line not in german]
        self.assertEqual(differing, [])
        self.assertEqual(found, "\n".join(german) + "\n")
