"""The opposite of a word is told wherever names have it."""

import pytest

from tejat.tools.edit.match.antonyms import are_antonyms


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("lib.setItem(x)", "lib.getItem(x)"),
        ("is_valid", "is_invalid"),
        ("unmount(node)", "mount(node)"),
        ("async_call", "sync_call"),
        ("MAX_SIZE", "MIN_SIZE"),
        ('fetch("http://a")', 'fetch("https://a")'),
        ("excludeAll", "includeAll"),
        ("decrement", "increment"),
    ],
)
def test_opposites(given: str, found: str) -> None:
    assert are_antonyms(given, found)
    assert are_antonyms(found, given)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("reed_all", "read_all"),
        ("get(set)", "set(get)"),
        ("getItem", "getItem"),
        ("colour", "color"),
        ("put", "output"),
    ],
)
def test_others(given: str, found: str) -> None:
    assert not are_antonyms(given, found)
