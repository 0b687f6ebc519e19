"""Reports of files with quotes, and of old ones."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HEAD = "customer\ttotal\n"


class ReportTest(unittest.TestCase):
    def report(self, content: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "orders.csv")
            path.write_bytes(content.encode())
            done = subprocess.run(
                [sys.executable, "-B", "report.py", str(path)],
                capture_output=True,
                encoding="utf-8",
                check=False,
                timeout=60,
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_samples(self) -> None:
        for name, expected in (("new", "Smith; Jones\t1234.50\nAda\t0.30\n"), ("old", "Bo\t12.00\nAda\t3.50\n")):
            self.assertEqual(self.report(Path(f"samples/{name}.csv").read_bytes().decode()), HEAD + expected)

    def test_the_first_column_has_a_mark(self) -> None:
        self.assertEqual(self.report("\ufeffcustomer;amount\nA;1\n"), HEAD + "A\t1.00\n")
        self.assertEqual(self.report('\ufeff"amount";"customer"\r\n"2,5";"A"\r\n'), HEAD + "A\t2.50\n")

    def test_names(self) -> None:
        rows = 'customer;amount\r\n" A\r\nB ";1\r\n"A\tB";2\r\n"say ""hi""";5\r\n\r\n'
        self.assertEqual(self.report(rows), HEAD + 'say "hi"\t5.00\nA B\t3.00\n')

    def test_amounts(self) -> None:
        rows = "customer;amount\n" + "A;0,10\n" * 3 + 'B;"-1.000.000,01"\nC;"12.345.678.901.234.567,89"\nC;0,01\n'
        self.assertEqual(self.report(rows), HEAD + "C\t12345678901234567.90\nA\t0.30\nB\t-1000000.01\n")

    def test_same_totals_by_name(self) -> None:
        rows = "customer;amount\nb;0,30\n" + "a;0,10\n" * 3 + "c;1\n"
        self.assertEqual(self.report(rows), HEAD + "c\t1.00\na\t0.30\nb\t0.30\n")
