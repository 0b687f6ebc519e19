"""Lines as a model is shown them: as they are, and never too much."""

from tejat.tools.edit.report.snippet import find_focus, format_lines, truncate_line


def test_short_lines_as_they_are() -> None:
    assert format_lines(["  a\t", "", "b"]) == "  a\t\n\nb"


def test_of_many_lines_the_first() -> None:
    assert format_lines(["x"] * 13) == "x\n" * 12 + "[1 more line]"
    assert format_lines(["x"] * 14) == "x\n" * 12 + "[2 more lines]"


def test_of_long_lines_fewer() -> None:
    assert format_lines(["x" * 250] * 6) == f"{'x' * 250}\n" * 4 + "[2 more lines]"


def test_of_a_very_long_line_what_is_around_the_place() -> None:
    line = "a" * 500 + "here" + "b" * 500
    assert truncate_line(line) == "a" * 300 + "... [characters 1-300 of 1004]"
    assert truncate_line(line, 500) == f"...{'a' * 100}here{'b' * 196}... [characters 401-700 of 1004]"
    assert truncate_line(line, 1_003) == f"...{'b' * 300} [characters 705-1004 of 1004]"
    assert format_lines([line], ["nowhere", "here"]) == truncate_line(line, 500)


def test_words_that_are_not_there() -> None:
    assert (find_focus("x" * 400, ["y"]), find_focus("x y", ["y"])) == (0, 0)
