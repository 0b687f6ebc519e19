"""Text shortened to one line."""

from tejat.ui.shared.labels.text_summary import summarize_line


def test_one_line() -> None:
    assert summarize_line("\n a\tb \n") == "a b"
    assert summarize_line("a\nb") == "a (and 1 more line)"
    assert summarize_line("x" * 20, limit=10) == "xxxxxxxxxx [...]"
    assert summarize_line(" \n ") == ""
