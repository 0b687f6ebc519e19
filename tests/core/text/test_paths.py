from tejat.core.text.paths import is_beneath, is_beneath_any


def test_beneath() -> None:
    assert is_beneath("/a", "/a")
    assert is_beneath("/a/b", "/a")
    assert is_beneath("/a", "/")
    assert not is_beneath("/ab", "/a")
    assert not is_beneath("/a", "/a/b")


def test_beneath_any() -> None:
    assert is_beneath_any("/a/b", ("/x", "/a"))
    assert not is_beneath_any("/ab", ("/x", "/a"))
    assert not is_beneath_any("/a", ())
