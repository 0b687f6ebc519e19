"""Parsed values live as long as their files do not change."""

import os
from pathlib import Path

from tejat.config.files import parse_cache
from tejat.config.files.parse_cache import ParseCache, file_identity


def cache(tmp_path: Path, version: str = "1") -> ParseCache:
    return ParseCache(str(tmp_path / "state" / "cache.json"), version=version)


def test_values_are_kept(tmp_path: Path) -> None:
    first = cache(tmp_path)
    assert first.get("/a", "1") is None
    first.put("/a", "1", {"x": [1]})
    first.save()
    again = cache(tmp_path)
    assert again.get("/a", "1") == {"x": [1]}
    assert again.get("/a", "2") is None
    assert cache(tmp_path, "2").get("/a", "1") is None
    assert os.stat(tmp_path / "state" / "cache.json").st_mode & 0o777 == 0o600


def test_nothing_is_written_without_a_new_value(tmp_path: Path) -> None:
    cache(tmp_path).save()
    assert not (tmp_path / "state").exists()


def test_values_in_use_are_kept_beyond_the_limit(tmp_path: Path) -> None:
    first = cache(tmp_path)
    for number in range(parse_cache.MAX_ENTRIES):
        first.put(f"/{number}", "1", number)
    first.save()
    second = cache(tmp_path)
    assert second.get("/0", "1") == 0
    second.put("/new", "1", "new")
    second.save()
    third = cache(tmp_path)
    assert [third.get(path, "1") for path in ("/0", "/1", "/new")] == [0, None, "new"]


def test_the_identity_changes_with_the_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    before = os.stat(path)
    path.write_text("two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file_identity(os.stat(path)) != file_identity(before)


def test_values_of_files_that_are_gone_can_be_dropped(tmp_path: Path) -> None:
    path = str(tmp_path / "state" / "cache.json")
    first = ParseCache(path, version="1", keeps_unused=False)
    first.put("/a", "1", "a")
    first.put("/b", "1", "b")
    first.save()
    second = ParseCache(path, version="1", keeps_unused=False)
    assert second.get("/b", "1") == "b"
    second.save()
    third = ParseCache(path, version="1")
    assert (third.get("/a", "1"), third.get("/b", "1")) == (None, "b")
