def test_pages():
    pages = {path.stem for path in folder.glob('*.md')}
    assert pages == {*TOOLS, 'discovered'}  # what a command finds has a page of its own, as everything else
