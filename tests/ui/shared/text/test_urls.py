"""Web addresses are found without the punctuation of their sentence."""

import pytest

from tejat.ui.shared.text.urls import find_urls


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://x.example/a?b=1#c.", [(4, "https://x.example/a?b=1#c")]),
        ("(http://a.example), 'https://b.example'", [(1, "http://a.example"), (21, "https://b.example")]),
        ("https:// and http://.", []),
        ("ftp://x.example javascript:alert(1)", []),
    ],
)
def test_addresses(text: str, found: list[tuple[int, str]]) -> None:
    assert list(find_urls(text)) == found
