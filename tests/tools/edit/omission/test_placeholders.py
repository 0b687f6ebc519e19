"""Placeholders for omitted text: found where a line is nothing else, and nowhere else."""

import pytest

from tejat.tools.edit.omission.placeholders import find_omission_placeholders


@pytest.mark.parametrize(
    ("line", "spelling"),
    [
        ("rest of ...", "rest of"),
        ("rest of method ...", "rest of method"),
        ("rest of methods ...", "rest of methods"),
        ("rest of code...", "rest of code"),
        ("unchanged code ...", "unchanged code"),
        ("unchanged method....", "unchanged method"),
        ("unchanged methods ........", "unchanged methods"),
        ("// rest of code ...", "rest of code"),
        ("    //rest of code ...  ", "rest of code"),
        ("(rest of code ...)", "rest of code"),
        ("// ( Rest   OF\tCode ... )", "rest of code"),
        ("# rest of code ...", "rest of code"),
        ("/* rest of code ... */", "rest of code"),
        ("<!-- rest of code ... -->", "rest of code"),
        ("rest of code ...\r", "rest of code"),
        ("# rest of file unchanged", "rest of file unchanged"),
        ("// ... rest of the file is unchanged ...", "rest of the file is unchanged"),
        ("The remaining code stays the same.", "the remaining code stays the same"),
    ],
)
def test_lines_that_stand_for_something(line: str, spelling: str) -> None:
    assert find_omission_placeholders(line) == {spelling}
    assert find_omission_placeholders(f"def f():\n{line}\n    pass\n") == {spelling}


@pytest.mark.parametrize(
    "line",
    [
        "",
        "rest of code",
        "rest of code ..",
        "rest of code ... and then some",
        "the rest of us ...",
        "print('rest of code ...')",
        'x = "rest of methods ..."',
        "run() // rest of code ...",
        "x = 1  # rest of file unchanged",
        "restof ...",
        "interest of ...",
        "unchanged ...",
        "The rest of the file is unchanged, as the log shows",
        "rest of\ncode ...",
        "rest of code ..." + " " * 300 + "x",
        "x" + " " * 300 + "rest of code ...",
    ],
)
def test_lines_that_are_meant(line: str) -> None:
    assert find_omission_placeholders(line) == set()


def test_all_of_them_are_found() -> None:
    text = "rest of code ...\nx\n// rest of methods ...\n(rest of code ...)\n# rest of file unchanged"
    assert find_omission_placeholders(text) == {"rest of code", "rest of methods", "rest of file unchanged"}


@pytest.mark.parametrize("text", ["rest of " * 300_000, "rest of x\n" * 20_000, "x\n" * 500_000, "(" * 10**6])
def test_large_texts(text: str) -> None:
    assert find_omission_placeholders(text) == set()
