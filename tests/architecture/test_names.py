"""Names are the field's own: nouns for modules, one meaning per public class, no private vocabulary."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from support.source_tree import modules

# Words that end in -ing and are nouns of the field.
NOUNS = {"encoding", "docstring", "string", "onboarding", "recording"}

# The old private vocabulary. Each word had a meaning that no reader could guess.
PRIVATE_WORDS = {
    *("House", "Ground", "Desk", "Workshop", "Succession", "Played", "Premises", "Face", "Scene", "Look", "Sheet"),
    *("Care", "Standing", "Stage", "Means", "Barriers", "Crew", "Ghosts", "Keeper", "Beginning", "Surroundings"),
}


def is_gerund(module: str) -> bool:
    last = module.rpartition("_")[2]
    return last.endswith("ing") and last not in NOUNS


def test_no_module_is_named_by_a_gerund() -> None:
    names = {part for file in modules() for part in Path(file).with_suffix("").parts}
    assert sorted(filter(is_gerund, names)) == []


@pytest.mark.parametrize(("name", "expected"), [("asking", True), ("mcp_looking", True), ("legacy_encoding", False)])
def test_gerunds_are_recognized(name: str, expected: bool) -> None:
    assert is_gerund(name) is expected


def test_a_public_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for file, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(file)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_no_class_has_a_private_word_in_its_name() -> None:
    found = [
        f"{file}: {node.name}"
        for file, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and PRIVATE_WORDS & set(re.findall(r"[A-Z][a-z]+", node.name))
    ]
    assert found == []


def test_no_module_is_named_like_its_package() -> None:
    files = (Path(file) for file in modules())
    assert [str(file) for file in files if file.stem == file.parent.name and file.parent != Path()] == []


def test_the_first_line_of_a_docstring_is_a_sentence() -> None:
    wrong: list[str] = []
    for file, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first, *_ = (ast.get_docstring(node) or "None.").splitlines()
                if not first.endswith((".", ":", "?")):
                    wrong.append(f"{file}: {first}")
    assert wrong == []


def test_every_module_has_a_docstring() -> None:
    assert [file for file, tree in modules().items() if not ast.get_docstring(tree)] == []
