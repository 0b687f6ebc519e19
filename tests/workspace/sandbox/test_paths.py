from tejat.workspace.sandbox.paths import ancestors, is_beneath


def test_beneath() -> None:
    assert is_beneath("/a", "/a")
    assert is_beneath("/a/b", "/a")
    assert is_beneath("/a", "/")
    assert not is_beneath("/ab", "/a")
    assert not is_beneath("/a", "/a/b")


def test_ancestors() -> None:
    assert ancestors("/a/b/c/d", "/a") == ["/a/b", "/a/b/c"]
    assert ancestors("/a/b", "/a") == []
    assert ancestors("/a/b/c", "/") == ["/a", "/a/b"]
    assert ancestors("/a", "/") == []
    assert ancestors("/x/y", "/a") == []
