def test():
    assert node(snapshot({}), "x") is None
    assert node(snapshot({}), "y") is None
