import tempfile
import unittest
from pathlib import Path

import rowstore
from rowstore.plugins import load_plugins


class ReaderTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "people.csv")
        self.path.write_text("ada,1815\nalan,1912\n", encoding="utf-8")

    def tearDown(self):
        self.folder.cleanup()

    def test_fetch_rows(self):
        table = rowstore.open_table(str(self.path))
        self.assertEqual(rowstore.fetch_rows(table, limit=1), [["ada", "1815"]])

    def test_plugins(self):
        self.assertIs(load_plugins()["read"], rowstore.fetch_rows)


if __name__ == "__main__":
    unittest.main()
