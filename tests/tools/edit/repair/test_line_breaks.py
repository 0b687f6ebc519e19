"""Line breaks that were given for escapes."""

import tracemalloc

from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.repair.line_breaks import group_escaped_breaks
from tejat.workspace.text.encoding import UTF_8
from tejat.workspace.text.text_edits import TextFile


def _target(text: str) -> IndexedFile:
    return IndexedFile(TextFile(text.encode(), UTF_8))


def test_lines_that_make_one_line_of_the_file_come_together() -> None:
    groups = group_escaped_breaks(["before", 'say("one', 'two")'], _target('before\nsay("one\\ntwo")\n'))
    assert groups == [["before"], ['say("one', "\\n", 'two")']]


def test_a_long_line_with_many_escapes_takes_little_memory() -> None:
    target, lines = _target("ab\\n" * 20_000), ["ab", "cd"]
    assert target.key_set
    tracemalloc.start()
    try:
        assert group_escaped_breaks(lines, target) == [["ab"], ["cd"]]
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()
