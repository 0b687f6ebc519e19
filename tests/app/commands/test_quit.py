"""`/quit`."""

from pathlib import Path

import pytest

from support.interactive import InteractiveEnv, InteractiveRunner
from tejat.core.ui.commands import QuitAction


@pytest.mark.parametrize("line", ["/quit", "/exit"])
def test_the_figures_come_last(tmp_path: Path, line: str) -> None:
    async def work(runner: InteractiveRunner) -> tuple[object, list[str]]:
        await runner.prompt("hi")
        effect, shown = await runner.run_command(line)
        return effect, shown.splitlines()

    effect, lines = InteractiveEnv(tmp_path).run_with(work)
    assert effect == QuitAction()
    assert lines[0] == "This session"
    assert "Tokens sent  10" in lines
