"""The command and every rule of docs/rules.md."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FILES = Path(__file__).parent / "files"


class CountTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "n.txt")
        self.file.write_text("buy tea #Shop\n\nbuy jam #shop #SHOP\ncall #shopping\n#\nshop\n", encoding="utf-8")

    def run_notes(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-B", "-m", "notes", *arguments],
            env={**os.environ, "NOTES_FILE": str(self.file)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def test_all(self) -> None:
        done = self.run_notes("count")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "5\n", ""))

    def test_tags(self) -> None:
        for tag, number in (("shop", 2), ("#shop", 2), ("SHOP", 2), ("#Shopping", 1), ("none", 0)):
            done = self.run_notes("count", "--tag", tag)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{number}\n", ""), tag)

    def test_wrong_use(self) -> None:
        for arguments in (["--tag"], ["extra"], ["--unknown"], ["--tag", "a", "b"]):
            done = self.run_notes("count", *arguments)
            self.assertEqual((done.returncode, done.stdout), (64, ""), arguments)
            self.assertRegex(done.stderr, r"\Anotes: [^\n]+\n\Z")

    def test_documents(self) -> None:
        text = Path("docs/commands.json").read_text(encoding="utf-8")
        commands = json.loads(text)
        self.assertEqual(list(commands), ["add", "count", "list", "search"])
        self.assertEqual(text, json.dumps(commands, indent=2, ensure_ascii=False) + "\n")
        self.assertTrue(commands["count"])
        for name, words in json.loads((FILES / "docs/commands.json").read_text(encoding="utf-8")).items():
            self.assertEqual(commands[name], words)

    def test_changelog(self) -> None:
        changes = Path("CHANGELOG.md").read_text(encoding="utf-8")
        unreleased, mark, released = changes.partition("## 0.2")
        self.assertEqual(mark + released, "## 0.2\n\n- Added `search`.\n")
        lines = [line for line in unreleased.splitlines() if line.startswith("- ")]
        self.assertIn("- Fixed empty lines in the file of notes.", lines)
        self.assertTrue(any(line.startswith("- Added") and "count" in line for line in lines))
        self.assertTrue(all(line.startswith(("- Added", "- Changed", "- Fixed")) for line in lines))
