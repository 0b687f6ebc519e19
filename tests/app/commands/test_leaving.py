"""`/quit`."""

from pathlib import Path

import pytest

from desk_checks import Room, Sitting
from tejat.core.commands import Leave


@pytest.mark.parametrize("line", ["/quit", "/exit"])
def test_the_figures_come_last(tmp_path: Path, line: str) -> None:
    async def work(sitting: Sitting) -> tuple[object, list[str]]:
        await sitting.ask("hi")
        effect, shown = await sitting.obey(line)
        return effect, shown.splitlines()

    effect, lines = Room(tmp_path).sit(work)
    assert effect == Leave()
    assert lines[0] == "This session"
    assert "Tokens sent  10" in lines
