"""Files, functions and folders stay small enough to be read at one sitting."""

import ast
from pathlib import Path

from support.source_tree import ROOT, SOURCE, modules

FILE_LINES = 400
FUNCTION_LINES = 60
TEST_FILE_LINES = 800
FOLDER_ENTRIES = 18

# One file per tool, slash command and kind of configuration, and the packages of all layers beside those that programs
# import (`tejat.testing`, `tejat.notebook`): as many as there are.
LONG_FOLDERS = {"tools", "app/commands", "config", "."}


def long_files(directory: str, limit: int) -> dict[str, int]:
    files = sorted((ROOT / directory).rglob("*.py"))
    assert files
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    return {name: count for name, count in lines.items() if count > limit}


def test_source_files() -> None:
    assert long_files("src", FILE_LINES) == {}


def test_test_files() -> None:
    assert long_files("tests", TEST_FILE_LINES) == {}


def test_functions() -> None:
    lengths = {
        f"{file}:{node.name}": (node.end_lineno or 0) - first_line(node) + 1
        for file, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(lengths) > 100
    assert {name: count for name, count in lengths.items() if count > FUNCTION_LINES} == {}


def first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def test_folders() -> None:
    folders = {(SOURCE / file).parent for file in modules()}
    sizes = {folder.relative_to(SOURCE).as_posix(): entries(folder) for folder in folders}
    long = {name: count for name, count in sizes.items() if count > FOLDER_ENTRIES}
    assert set(long) <= LONG_FOLDERS, long


def entries(folder: Path) -> int:
    """The modules and subpackages of a package."""
    return sum(
        1
        for path in folder.iterdir()
        if (path.suffix == ".py" and path.name != "__init__.py") or (path.is_dir() and (path / "__init__.py").is_file())
    )
