"""Which terminals break rows anew."""

import pytest

from tejat.frontends.terminal.renderer import breaks_rows


@pytest.mark.parametrize(
    ("environment", "breaks"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, False),
        ({"TERM": "screen-256color", "TMUX": "/tmp/tmux"}, True),
        ({"TERM": "screen-256color"}, False),
        ({"TERM": "linux"}, False),
        ({}, True),
    ],
)
def test_which_terminals_break_rows(environment: dict[str, str], breaks: bool) -> None:
    assert breaks_rows(environment) is breaks
