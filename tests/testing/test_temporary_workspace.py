"""Temporary workspaces: real files, away from the user's own."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tejat.testing import ScriptedModel, TemporaryWorkspace, call


def test_files_are_there_and_gone_afterwards() -> None:
    with TemporaryWorkspace({"src/a.txt": "ä\n", "b.bin": b"\xff"}) as workspace:
        assert (workspace.path / "src" / "a.txt").read_bytes() == "ä\n".encode()
        assert (workspace.path / "b.bin").read_bytes() == b"\xff"
        assert workspace.read("src/a.txt") == "ä\n"
        assert workspace.write("c/d.txt", "x") == workspace.path / "c" / "d.txt"
        assert str(workspace.path) in repr(workspace)
    assert not workspace.path.exists()


def test_within_a_directory_they_stay(tmp_path: Path) -> None:
    with TemporaryWorkspace(within=tmp_path) as workspace:
        workspace.write("a.txt", "x")
    assert (tmp_path / "project" / "a.txt").read_text() == "x"


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../b"])
def test_nothing_is_written_elsewhere(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not in the project"):
        TemporaryWorkspace({name: "x"}, within=tmp_path)


def test_nothing_is_left_if_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ValueError, match="is not in the project"):
        TemporaryWorkspace({"a.txt": "a", "../b.txt": "b"})
    assert list(tmp_path.iterdir()) == []


def test_agents_work_there_and_keep_their_sessions_there() -> None:
    answers = [call("write_file", file_path="new.txt", content="new\n"), "Done."]
    with TemporaryWorkspace() as workspace, ScriptedModel(answers) as model:

        async def main() -> str:
            async with workspace.agent(model, mode="yolo") as agent:
                return (await agent.ask("go")).text

        assert asyncio.run(main()) == "Done."
        assert workspace.read("new.txt") == "new\n"
        home = Path(workspace.environment["HOME"])
        assert home.parent == workspace.path.parent
        assert any(home.rglob("*.jsonl"))


@pytest.mark.parametrize("files", ["a.txt", ["a.txt"], {"a.txt": 5}])
def test_files_that_are_no_mapping(files: Any) -> None:
    with pytest.raises(TypeError, match="files must be a mapping from names to contents, not a"):
        TemporaryWorkspace(files)
