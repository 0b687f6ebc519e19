"""Line breaks that were given for escapes."""

import tracemalloc

from tejat.tools.edit.line_breaks import with_escaped_breaks
from tejat.tools.edit.page import Page
from tejat.workspace.encoding import UTF_8
from tejat.workspace.splice import TextFile


def _page(text: str) -> Page:
    return Page(TextFile(text.encode(), UTF_8))


def test_lines_that_make_one_line_of_the_file_come_together() -> None:
    groups = with_escaped_breaks(["before", 'say("one', 'two")'], _page('before\nsay("one\\ntwo")\n'))
    assert groups == [["before"], ['say("one', "\\n", 'two")']]


def test_a_long_line_with_many_escapes_takes_little_memory() -> None:
    page, lines = _page("ab\\n" * 20_000), ["ab", "cd"]
    assert page.key_set
    tracemalloc.start()
    try:
        assert with_escaped_breaks(lines, page) == [["ab"], ["cd"]]
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()
