"""A table for terminals, lines for everything else."""

import io

import pytest

from support.terminal.live_output import open_output
from tejat.batch.progress.choice import progress_for
from tejat.batch.progress.lines import ProgressLines
from tejat.batch.progress.live_table import LiveTable


@pytest.mark.parametrize(("term", "expected"), [("xterm", LiveTable), ("dumb", ProgressLines), ("", ProgressLines)])
def test_terminals(term: str, expected: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    with open_output() as output:
        assert type(progress_for(output.stream)) is expected


def test_a_pipe_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert type(progress_for(io.StringIO())) is ProgressLines
