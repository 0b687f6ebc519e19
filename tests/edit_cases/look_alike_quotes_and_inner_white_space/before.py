def test():
    assert node(snapshot({}), "x") is None
