"""Yes-or-no questions on standard error."""

import io

import pytest

from tejat.cli.messages import confirm


@pytest.mark.parametrize(
    ("typed", "expected", "shown"),
    [
        ("y\n", True, "Sure? "),
        ("YES\n", True, "Sure? "),
        ("n\n", False, "Sure? "),
        ("what\n\nno\n", False, "Sure? Type y or n.\nSure? Type y or n.\nSure? "),
        ("", False, "Sure? \n"),
        ("maybe", False, "Sure? \n"),
    ],
)
def test_asks_until_it_is_answered(
    typed: str, expected: bool, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert confirm("Sure?") is expected
    assert capsys.readouterr() == ("", shown)
