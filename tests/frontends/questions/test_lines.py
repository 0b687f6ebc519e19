"""Lines of others."""

from tejat.frontends.questions.lines import Line, LineKind, command_lines, one_line, said


def test_every_line_of_others_has_a_mark_or_a_sign() -> None:
    marks = {kind: Line(kind, "").mark for kind in LineKind}
    assert {kind for kind, mark in marks.items() if not mark} == {
        LineKind.ADDED,
        LineKind.REMOVED,
        LineKind.CONTEXT,
        LineKind.HUNK,
        LineKind.LABEL,
    }


def test_line_by_line() -> None:
    assert said("a\n\x1bb") == [Line(LineKind.SAID, "a"), Line(LineKind.SAID, "<U+001B>b")]
    assert command_lines("a\nb") == [Line(LineKind.COMMAND, "a"), Line(LineKind.COMMAND_GOES_ON, "b")]
    assert one_line("a\nb\r") == "a<U+000A>b<U+000D>"


def test_what_only_looks_like_a_blank_is_shown_in_what_is_to_run() -> None:
    assert command_lines("ls\u00a0-l a\u2800b") == [Line(LineKind.COMMAND, "ls<U+00A0>-l a<U+2800>b")]
    assert one_line("a\u3000b c") == "a<U+3000>b c"
    assert said("dix\u00a0%") == [Line(LineKind.SAID, "dix\u00a0%")]
