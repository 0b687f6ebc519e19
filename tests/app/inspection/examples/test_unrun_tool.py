"""Tools that are not run have the arguments and questions of the real ones."""

import asyncio
from pathlib import Path

from support.skills import SkillPlace
from tejat.app.inspection.examples.unrun_tool import replace_tools
from tejat.core.approval.confirmation import ExecConfirmation
from tejat.core.tools.base import ToolContext


def test_replaced_tools(tmp_path: Path) -> None:
    place = SkillPlace(tmp_path)
    with place.tools() as toolset:
        registry = toolset.registry
        before = {entry.name: entry.declaration for entry in registry.entries()}
        replaced = replace_tools(registry, lambda tool, params: f"{tool} {params['command']}")
        assert replaced >= {"run_shell_command", "web_fetch", "stop_background_process"}
        assert not replaced & {"read_file", "write_file", "replace", "glob", "ask_user"}
        assert {entry.name: entry.declaration for entry in registry.entries()} == before
        tool = registry["run_shell_command"]
        assert tool.rejection({}) is not None
        params = {"command": "touch MARK"}
        confirmation = asyncio.run(tool.should_confirm_execute(params))
        assert isinstance(confirmation, ExecConfirmation)
        assert confirmation.command == "touch MARK"
        result = asyncio.run(tool.execute(params, ToolContext(approved=confirmation)))
    assert result.llm_content == "run_shell_command touch MARK"
    assert not (place.project / "MARK").exists()
