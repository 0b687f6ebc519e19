"""Tables in plain text."""

import pytest

from tejat.ui.plain.table import print_table


def test_columns_are_padded_except_the_last(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([("NAME", "COUNT", "WHAT"), ("a", "1", "x"), ("long name", "1,000", "y\x1b[2J")], numeric=(1,))
    assert capsys.readouterr().out.splitlines() == [
        "NAME       COUNT  WHAT",
        "a              1  x",
        "long name  1,000  y<U+001B>[2J",
    ]
