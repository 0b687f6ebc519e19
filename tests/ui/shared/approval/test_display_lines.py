"""Lines of others."""

from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind, command_lines, escape_line, quote_lines


def test_every_third_party_line_has_a_prefix() -> None:
    assert {kind for kind in DisplayLineKind if not DisplayLine(kind, "").prefix} == {DisplayLineKind.LABEL}


def test_line_by_line() -> None:
    assert quote_lines("a\n\x1bb") == [
        DisplayLine(DisplayLineKind.QUOTED, "a"),
        DisplayLine(DisplayLineKind.QUOTED, "<U+001B>b"),
    ]
    assert command_lines("a\nb") == [
        DisplayLine(DisplayLineKind.COMMAND, "a"),
        DisplayLine(DisplayLineKind.COMMAND_CONTINUATION, "b"),
    ]
    assert escape_line("a\nb\r") == "a<U+000A>b<U+000D>"


def test_what_only_looks_like_a_blank_is_shown_in_what_is_to_run() -> None:
    assert command_lines("ls\u00a0-l a\u2800b") == [DisplayLine(DisplayLineKind.COMMAND, "ls<U+00A0>-l a<U+2800>b")]
    assert escape_line("a\u3000b c") == "a<U+3000>b c"
    assert quote_lines("dix\u00a0%") == [DisplayLine(DisplayLineKind.QUOTED, "dix\u00a0%")]
