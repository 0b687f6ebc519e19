"""Text shortened to one line."""

from tejat.ui.shared.labels.text_summary import summarize_line, thought_subject


def test_one_line() -> None:
    assert summarize_line("\n a\tb \n") == "a b"
    assert summarize_line("a\nb") == "a (and 1 more line)"
    assert summarize_line("x" * 20, limit=10) == "xxxxxxxxxx [...]"
    assert summarize_line(" \n ") == ""


def test_the_subject_of_thoughts_is_their_latest_heading() -> None:
    assert thought_subject("**One**\nwords **Two** more") == "Two"
    assert thought_subject("\nFirst line\nsecond") == "First line"
    assert thought_subject("") == ""
