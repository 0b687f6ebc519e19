"""What was told once is not told again, until it changes."""

import stat
from pathlib import Path

from tejat.config.files.reported import is_reported, report_new, report_once


def test_each_fact_once(tmp_path: Path) -> None:
    path = tmp_path / "state" / "told.json"
    assert report_once(str(path), {"pro": "a"})
    assert not report_once(str(path), {"pro": "a"})
    assert report_once(str(path), {"flash": "b"})
    assert not report_once(str(path), {"pro": "a", "flash": "b"})
    assert report_once(str(path), {"pro": "c"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_asking_remembers_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "told.json")
    assert not is_reported(path, {"pro": "a"})
    assert report_once(path, {"pro": "a"})
    assert is_reported(path, {"pro": "a"})
    assert not is_reported(path, {"pro": "b"})


def test_a_broken_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "told.json"
    for text in ("no JSON", "[]"):
        path.write_text(text)
        path.chmod(0o600)
        assert report_once(str(path), {"pro": "a"})
        assert not report_once(str(path), {"pro": "a"})


def test_it_does_not_grow_without_end(tmp_path: Path) -> None:
    path = tmp_path / "told.json"
    for number in range(250):
        assert report_once(str(path), {f"name {number}": "x" * 100})
    assert path.stat().st_size < 30_000
    assert report_once(str(path), {"name 0": "x" * 100})


def test_nothing_is_raised_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert all(report_once(str(tmp_path / "file" / "told.json"), {"pro": "a"}) for _ in range(2))


def test_new_facts_are_named(tmp_path: Path) -> None:
    path = str(tmp_path / "reported.json")
    assert report_new(path, {"a": "1", "b": "1"}) == ("a", "b")
    assert report_new(path, {"a": "1", "b": "2", "c": "1"}) == ("b", "c")
    assert report_new(path, {"a": "1"}) == ()
