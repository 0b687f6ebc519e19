"""Parsed YAML is stored by content, privately, and nothing depends on it."""

from pathlib import Path

import pytest

from tejat.config.files.yaml_cache import MAX_TEXT, YamlCache
from tejat.config.yaml_values import YamlError


def test_a_stored_value_is_the_parsed_one(tmp_path: Path) -> None:
    path = str(tmp_path / "state" / "cache.json")
    cache = YamlCache(path)
    parsed = cache.parse("a: [1, x]\n")
    cache.save()
    assert YamlCache(path).parse("a: [1, x]\n") == parsed == {"a": [1, "x"]}
    assert Path(path).stat().st_mode & 0o777 == 0o600


def test_errors_are_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    cache = YamlCache(str(path))
    for _ in range(2):
        with pytest.raises(YamlError):
            cache.parse("a: [1")
    cache.save()
    assert not path.exists()


@pytest.mark.parametrize("content", ["", "[]", "{", "\xff"])
def test_a_broken_store_is_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "cache.json"
    path.write_text(content, encoding="latin-1")
    cache = YamlCache(str(path))
    assert cache.parse("a: 1") == {"a": 1}
    cache.save()
    assert YamlCache(str(path)).parse("a: 1") == {"a": 1}
    assert path.read_text().startswith("{")


def test_a_store_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    cache = YamlCache(str(path))
    cache.parse("a: 1")
    cache.save()
    path.write_text(path.read_text().replace('"a":1', '"a":2'))
    assert YamlCache(str(path)).parse("a: 1") == {"a": 2}
    path.chmod(0o666)
    assert YamlCache(str(path)).parse("a: 1") == {"a": 1}


def test_long_texts_are_not_stored_and_no_path_stores_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    cache = YamlCache(str(path))
    cache.parse(f"a: {'x' * MAX_TEXT}")
    cache.save()
    assert not path.exists()
    nowhere = YamlCache("")
    assert nowhere.parse("a: 1") == {"a": 1}
    nowhere.save()
