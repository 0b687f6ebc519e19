"""The source tree as data, for the architecture tests."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tejat"


@cache
def modules() -> dict[str, ast.Module]:
    """The syntax tree of every source file, by its path below the package."""
    trees = _parse_files(SOURCE)
    assert len(trees) > 300
    return trees


@cache
def support_modules() -> dict[str, ast.Module]:
    """The syntax tree of every file of test support."""
    return _parse_files(ROOT / "tests" / "support")


FRAMEWORK_ADAPTERS = {
    "integrations/google_adk.py",
    "integrations/langchain.py",
    "integrations/openai_agents.py",
    "integrations/pydantic_ai.py",
}
"""Adapters for agent frameworks, whose packages are extras."""
LOADED_BY_OTHERS = {"integrations/harbor.py", "integrations/inspect_swe.py", *FRAMEWORK_ADAPTERS}
"""Adapters that only the program of another project loads, whose packages Tejat does not depend on."""


def _parse_files(directory: Path) -> dict[str, ast.Module]:
    return {
        path.relative_to(directory).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(directory.rglob("*.py"))
    }


def module_name(file: str) -> str:
    """The dotted name of a source file."""
    parts = ("tejat", *Path(file).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def installed_pages() -> list[str]:
    """The pages of the documentation that are installed with the program, by their path below `docs`.

    The API reference is complete only in the site.
    """
    pages = (path.relative_to(ROOT / "docs").as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))
    return [page for page in pages if not page.startswith(("design/", "examples/", "python/reference/"))]
