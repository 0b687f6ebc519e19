"""Both files differ from the originals in a few bytes only."""

import unittest
from pathlib import Path

FILES = Path(__file__).parent / "files"


class BytesTest(unittest.TestCase):
    def test_station(self) -> None:
        head, section, tail = (FILES / "config/station.ini").read_bytes().partition(b"[sensor]")
        expected = head + section + tail.replace(b"interval = 30", b"interval = 45")
        self.assertEqual(Path("config/station.ini").read_bytes(), expected)

    def test_labels(self) -> None:
        before = (FILES / "config/labels.csv").read_bytes()
        expected = before.replace(b"exit;Ausgang", b"exit;Notausgang")
        self.assertEqual(Path("config/labels.csv").read_bytes(), expected)
