"""Files and functions stay small enough to be read at one sitting."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]

FILE_LINES = 400
FUNCTION_LINES = 60
TEST_FILE_LINES = 800


def too_long(directory: str, limit: int) -> dict[str, int]:
    files = sorted((ROOT / directory).rglob("*.py"))
    assert files
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    return {name: count for name, count in lines.items() if count > limit}


def test_source_files() -> None:
    assert too_long("src", FILE_LINES) == {}


def test_test_files() -> None:
    assert too_long("tests", TEST_FILE_LINES) == {}


def test_functions() -> None:
    lengths = {
        f"{path.relative_to(ROOT).as_posix()}:{node.name}": (node.end_lineno or 0) - first_line(node) + 1
        for path in sorted((ROOT / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(lengths) > 100
    assert {name: count for name, count in lengths.items() if count > FUNCTION_LINES} == {}


def first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
