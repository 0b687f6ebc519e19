import subprocess
import sys
import unittest
from pathlib import Path

PROGRAM = Path(__file__).with_name("wordfreq.py")


def run(text, *arguments):
    command = [sys.executable, str(PROGRAM), *arguments]
    return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", env={"PYTHONUTF8": "1"})


class WordFrequencyTest(unittest.TestCase):
    def test_text(self):
        self.assertEqual(run("b a B c").stdout, "     2 b\n     1 a\n     1 c\n")

    def test_top(self):
        self.assertEqual(run("b a B c", "--top", "1").stdout, "     2 b\n")


if __name__ == "__main__":
    unittest.main()
