"""The cases in `tests/edit_cases`: each a file, the arguments of an edit, and what has to come of it."""

import asyncio
import json
from pathlib import Path

import pytest

from tejat.core.tools.base import validate_and_execute
from tejat.tools.replace import EditTool
from tejat.workspace.context import Workspace

FOLDER = Path(__file__).parent.parent / "edit_cases"
CASES = sorted(path.parent.name for path in FOLDER.glob("*/arguments.json"))


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, root: Path, workspace: Workspace) -> None:
    case = FOLDER / name
    (before,) = case.glob("before.*")
    path = root / f"file{before.suffix}"
    path.write_bytes(before.read_bytes())
    arguments = json.loads((case / "arguments.json").read_text()) | {"file_path": str(path)}
    result = asyncio.run(validate_and_execute(EditTool(workspace), arguments))
    if (case / "refused.txt").exists():
        error_type, *sentences = (case / "refused.txt").read_text().splitlines()
        assert result.error is not None
        assert result.error.type == error_type
        assert [sentence for sentence in sentences if sentence not in str(result.llm_content)] == []
        assert path.read_bytes() == before.read_bytes()
        return
    (after,) = case.glob("after.*")
    assert (result.error, path.read_bytes()) == (None, after.read_bytes())
