"""The text of every file."""

import json
import unittest
from pathlib import Path
from typing import Any

EXPECTED: dict[str, Any] = {
    "api": {
        "version": 2,
        "endpoint": "a.example:9000",
        "timeout_ms": 1500,
        "retry": {"attempts": 3},
        "tags": ["x", "y", "z"],
        "log_level": "debug",
    },
    "local": {
        "version": 2,
        "endpoint": "[::1]:8080",
        "retry": {"attempts": 1},
        "tags": [],
        "log_level": "info",
    },
    "gateway": {
        "version": 2,
        "endpoint": "gw:1",
        "retry": {"attempts": 1},
        "upstream": {
            "endpoint": "up:8080",
            "timeout_ms": 250,
            "upstream": {"endpoint": "upper:7", "retry": {"attempts": 5}},
            "extra": {"note": None},
        },
        "extra": {"color": "grün", "limits": {"timeout": 3, "tags": "a,b"}},
    },
    "tiny": {"version": 2, "endpoint": "t:8080", "timeout_ms": 2},
}
FILES = Path(__file__).parent / "files" / "conf"


class MigrationTest(unittest.TestCase):
    maxDiff = None

    def test_migrated(self) -> None:
        for name, content in EXPECTED.items():
            expected = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
            self.assertEqual(Path("conf", f"{name}.json").read_text(encoding="utf-8"), expected)

    def test_untouched(self) -> None:
        for name in ("mail.json", "zone.json"):
            self.assertEqual(Path("conf", name).read_bytes(), (FILES / name).read_bytes())

    def test_no_other_files(self) -> None:
        names = {path.name for path in FILES.iterdir()}
        self.assertEqual({path.name for path in Path("conf").iterdir()}, names)
