"""Which terminals break rows anew."""

import pytest

from tejat.ui.terminal.screen.renderer import terminal_reflows


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
    assert terminal_reflows(environment) is breaks
