"""Strange names, failed moves and wrong arguments."""

import subprocess
import tempfile
import unittest
from pathlib import Path

NAMES = (
    "a b.log",
    "-n.log",
    "*.log",
    'it\'s "quoted".log',
    "$HOME.log",
    "back\\nslash.log",
    "B.log",
    " x .log",
    "ä.log",
)


class ArchiveTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name, "a place")
        self.source, self.target = self.place / "-s *", self.place / "t" / "new one"
        self.source.mkdir(parents=True)

    def archive(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        script = Path("archive.sh").resolve()
        return subprocess.run(
            ["sh", str(script), *arguments], cwd=self.place, capture_output=True, text=True, check=False, timeout=60
        )

    def index(self) -> list[bytes]:
        return (self.target / "index.txt").read_bytes().splitlines()

    def test_names(self) -> None:
        for name in NAMES:
            (self.source / name).write_text(name, encoding="utf-8")
        (self.source / "empty.log").touch()
        (self.source / "other.txt").write_text("x", encoding="utf-8")
        (self.source / "folder.log").mkdir()
        done = self.archive("-s *", str(self.target))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.index(), sorted(name.encode() for name in NAMES))
        for name in NAMES:
            self.assertEqual((self.target / name).read_text(encoding="utf-8"), name)
        self.assertEqual({path.name for path in self.source.iterdir()}, {"empty.log", "other.txt", "folder.log"})

    def test_nothing_to_do(self) -> None:
        self.assertEqual(self.archive(str(self.source), str(self.target)).returncode, 0)
        self.assertEqual(list(self.source.iterdir()), [])
        self.assertFalse((self.target / "*.log").exists())

    def test_the_index_grows(self) -> None:
        for name in ("b.log", "a.log"):
            (self.source / name).write_text("x", encoding="utf-8")
            self.assertEqual(self.archive(str(self.source), str(self.target)).returncode, 0)
        self.assertEqual(self.index(), [b"b.log", b"a.log"])

    def test_no_file_is_overwritten(self) -> None:
        self.target.mkdir(parents=True)
        (self.target / "b b.log").write_text("old", encoding="utf-8")
        for name in ("a.log", "b b.log", "c.log"):
            (self.source / name).write_text("new", encoding="utf-8")
        done = self.archive(str(self.source), str(self.target))
        self.assertEqual(done.returncode, 1)
        self.assertIn("b b.log", done.stderr)
        self.assertEqual((self.target / "b b.log").read_text(encoding="utf-8"), "old")
        self.assertEqual((self.source / "b b.log").read_text(encoding="utf-8"), "new")
        self.assertEqual(self.index(), [b"a.log", b"c.log"])

    def test_wrong_use(self) -> None:
        for arguments in ([], [str(self.source)], [str(self.source), "a", "b"], ["no such", str(self.target)]):
            self.assertEqual(self.archive(*arguments).returncode, 2, arguments)
        self.assertFalse(self.target.exists())
