"""The cases in `tests/edit_cases`: each a file, the arguments of an edit, and the expected result."""

import asyncio
import json
from pathlib import Path

from tejat.core.tools.base import validate_and_execute
from tejat.tools.replace import EditTool
from tejat.workspace.context import Workspace

FOLDER = Path(__file__).parent.parent / "edit_cases"


def test_all_cases(root: Path, workspace: Workspace) -> None:
    cases = sorted(path.parent for path in FOLDER.glob("*/arguments.json"))
    assert len(cases) > 170
    failures = {case.name: failure for case in cases if (failure := _run(case, root, workspace))}
    assert failures == {}


def _run(case: Path, root: Path, workspace: Workspace) -> str:
    """Run a case and describe how it failed; empty if it passed."""
    (before,) = case.glob("before.*")
    path = root / f"{case.name}{before.suffix}"
    path.write_bytes(before.read_bytes())
    arguments = json.loads((case / "arguments.json").read_text()) | {"file_path": str(path)}
    result = asyncio.run(validate_and_execute(EditTool(workspace), arguments))
    if (case / "refused.txt").exists():
        error_type, *sentences = (case / "refused.txt").read_text().splitlines()
        missing = [sentence for sentence in sentences if sentence not in str(result.llm_content)]
        is_refused = result.error is not None and result.error.type == error_type
        return "" if is_refused and not missing and path.read_bytes() == before.read_bytes() else str(result)
    (after,) = case.glob("after.*")
    return "" if (result.error, path.read_bytes()) == (None, after.read_bytes()) else str(result)
