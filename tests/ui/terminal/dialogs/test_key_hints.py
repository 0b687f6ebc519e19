"""Key hints of dialogs."""

import pytest

from support.terminal.dialogs import PLAIN_ASCII, UNICODE
from tejat.ui.terminal.dialogs.key_hints import joined_hints


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (80, "Enter to confirm · Esc to cancel · v view"),
        (41, "Enter to confirm · Esc to cancel · v view"),
        (40, "Enter to confirm · Esc to cancel"),
        (20, "Enter to confirm"),
        (8, "Enter t…"),
    ],
)
def test_as_many_as_fit(width: int, shown: str) -> None:
    hints = ["Enter to confirm", "Esc to cancel", "v view"]
    assert joined_hints(hints, UNICODE, width=width).plain == shown


def test_in_ascii() -> None:
    assert joined_hints(["a", "b"], PLAIN_ASCII, width=80).plain == "a | b"
