def test_pages():
    pages = {path.stem for path in folder.glob('*.md')}
    assert pages == set(TOOLS)
