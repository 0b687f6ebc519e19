"""The new name everywhere, the old one only where it must stay."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import rowstore
from rowstore import plugins, protocol, reader

FILES = Path(__file__).parent / "files"


class RenameTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "people.csv")
        self.path.write_text("ada,1815\nalan,1912\n", encoding="utf-8")

    def test_names(self) -> None:
        self.assertEqual(sorted(rowstore.__all__), ["open_table", "prefetch_rows", "read_rows"])
        self.assertIs(rowstore.read_rows, reader.read_rows)
        self.assertEqual(reader.read_rows.__name__, "read_rows")
        self.assertFalse(hasattr(reader, "fetch_rows") or hasattr(rowstore, "fetch_rows"))

    def test_behaviour(self) -> None:
        table = rowstore.open_table(str(self.path))
        self.assertEqual(rowstore.read_rows(table, limit=1), [["ada", "1815"]])
        rowstore.prefetch_rows(table)
        self.path.unlink()
        self.assertEqual(len(rowstore.read_rows(table)), 2)

    def test_plugins(self) -> None:
        self.assertEqual(plugins.load_plugins(), {"read": reader.read_rows, "warm": reader.prefetch_rows})

    def test_wire_protocol(self) -> None:
        request = {"op": "fetch_rows", "table": str(self.path), "limit": 1}
        self.assertEqual(json.loads(protocol.answer(json.dumps(request))), {"result": [["ada", "1815"]]})
        self.assertIn("error", json.loads(protocol.answer(json.dumps({**request, "op": "read_rows"}))))

    def test_texts(self) -> None:
        self.assertEqual(_lines_with_the_old_name("rowstore/reader.py"), [])
        self.assertEqual(_lines_with_the_old_name("plugins.toml"), [])
        self.assertEqual(_lines_with_the_old_name("tests/test_reader.py"), [])
        self.assertEqual(len(_lines_with_the_old_name("rowstore/protocol.py")), 1)
        (readme,) = _lines_with_the_old_name("README.md")
        self.assertIn('"op": "fetch_rows"', readme)
        self.assertEqual(Path("README.md").read_text(encoding="utf-8").count("read_rows"), 3)
        released = (FILES / "CHANGELOG.md").read_text(encoding="utf-8").partition("## 1.1")[2]
        self.assertEqual(Path("CHANGELOG.md").read_text(encoding="utf-8").partition("## 1.1")[2], released)

    def test_own_tests(self) -> None:
        done = subprocess.run(
            [sys.executable, "-B", "-m", "unittest"], capture_output=True, text=True, check=False, timeout=60
        )
        self.assertEqual(done.returncode, 0, done.stderr)


def _lines_with_the_old_name(path: str) -> list[str]:
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if re.search(r"(?<!pre)fetch_rows", line)]
