"""What both sides wanted."""

import subprocess
import sys
import unittest
from pathlib import Path

from shop import pricing
from shop.report import report


class MergeTest(unittest.TestCase):
    def test_no_markers(self) -> None:
        for path in Path().rglob("*.py"):
            self.assertNotRegex(path.read_text(encoding="utf-8"), r"(?m)^(<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)")

    def test_totals(self) -> None:
        self.assertEqual(pricing.gross_total([(100, 2)]), 833)
        self.assertEqual(pricing.gross_total([(101, 1)]), 716)
        self.assertEqual(pricing.gross_total([(101, 1)], reduced=True), 644)
        self.assertEqual(pricing.gross_total([(4999, 1)]), 6544)
        self.assertEqual(pricing.gross_total([(5000, 1)]), 5950)
        self.assertEqual(pricing.gross_total([]), 0)

    def test_names(self) -> None:
        self.assertFalse(hasattr(pricing, "total"))
        self.assertEqual((pricing.TAX_PERCENT, pricing.REDUCED_PERCENT), (19, 7))
        self.assertEqual((pricing.shipping([(1, 1)]), pricing.shipping([(5000, 1)]), pricing.shipping([])), (500, 0, 0))

    def test_report(self) -> None:
        expected = "1 items, 833 cents\n2 items, 598 cents\nsum: 1431 cents"
        self.assertEqual(report([[(100, 2)], [(1, 1), (1, 1)]]), expected)

    def test_own_tests(self) -> None:
        done = subprocess.run(
            [sys.executable, "-B", "-m", "unittest"], capture_output=True, text=True, check=False, timeout=60
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("sum: 833 cents", Path("tests/test_pricing.py").read_text(encoding="utf-8"))
