"""Both options, and tests that fail without either of them."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TEXT = "Ähre ähre of of of tea Tea jam"


def run(*arguments: str, text: str = TEXT) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-B", "wordfreq.py", *arguments],
        input=text,
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


class WordFrequencyTest(unittest.TestCase):
    def test_text_is_as_before(self) -> None:
        expected = "     3 of\n     2 tea\n     2 ähre\n     1 jam\n"
        self.assertEqual(run().stdout, expected)
        self.assertEqual(run("--format", "text").stdout, expected)

    def test_minimum_length(self) -> None:
        self.assertEqual(run("--min-length", "3", "--top", "2").stdout, "     2 tea\n     2 ähre\n")
        self.assertEqual(run("--min-length=4").stdout, "     2 ähre\n")
        self.assertEqual(run("--min-length", "1").stdout, run().stdout)

    def test_json(self) -> None:
        done = run("--format", "json", "--min-length", "3")
        self.assertEqual(done.stdout.count("\n"), 1)
        self.assertIn("ähre", done.stdout)
        expected = [{"word": "tea", "count": 2}, {"word": "ähre", "count": 2}, {"word": "jam", "count": 1}]
        self.assertEqual(json.loads(done.stdout), expected)
        self.assertEqual(json.loads(run("--format", "json", text="").stdout), [])

    def test_wrong_values(self) -> None:
        for arguments in (["--min-length", "0"], ["--min-length", "-1"], ["--min-length", "x"], ["--format", "xml"]):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn("usage:", done.stderr)

    def test_readme(self) -> None:
        text = Path("README.md").read_text(encoding="utf-8")
        for option in ("--top", "--min-length", "--format"):
            self.assertIn(option, text)

    def test_own_tests(self) -> None:
        module = Path("wordfreq.py").read_text(encoding="utf-8")
        self.assertTrue(_tests_pass(module))
        for option in ("--min-length", "--format"):
            self.assertFalse(_tests_pass(module.replace(option, option + "-renamed")), f"no test needs {option}")


def _tests_pass(module: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "wordfreq.py").write_text(module, encoding="utf-8")
        Path(folder, "test_wordfreq.py").write_bytes(Path("test_wordfreq.py").read_bytes())
        command = [sys.executable, "-B", "-S", "-m", "unittest", "test_wordfreq"]
        environment = {**os.environ, "PYTHONPATH": folder}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=60)
        return done.returncode == 0
