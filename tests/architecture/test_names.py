"""Names are the field's own: nouns for modules, one meaning per public class, no private vocabulary."""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.source_tree import modules, support_modules

# Words that end in -ing and are nouns of the field.
# `testing` is what numpy, pandas, starlette and others call it.
NOUNS = {"encoding", "docstring", "string", "onboarding", "recording", "testing"}

# The old private vocabulary. Each word had a meaning that no reader could guess.
PRIVATE_WORDS = {
    *("house", "ground", "desk", "workshop", "succession", "played", "premises", "face", "scene", "stage", "sheet"),
    *("standing", "means", "barriers", "crew", "ghost", "ghosts", "keeper", "surroundings", "person", "deed", "wish"),
    *(
        "look",
        "looks",
        "looked",
        "tell",
        "tells",
        "told",
        "hear",
        "hears",
        "heard",
        "talk",
        "talks",
        "say",
        "says",
        "said",
    ),
    *("care", "most", "least", "whoever", "somebody", "nobody"),
}
# Names in which such a word is one of the field.
FIELD_NAMES = {
    "AT_LEAST_ONE",
    "_looks_like_a_file",
    "_looks_like_flag",
    "_looks_secret",
    "_most_specific_rule",  # as in CSS
    "say",  # a field of the scripted model's files
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


def declared_names(tree: ast.Module) -> Iterator[str]:
    """The names of classes, functions and parameters, and those assigned in a module or class."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case _:
                pass
        for statement in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    yield name
                case _:
                    pass


def private_words(name: str) -> set[str]:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return PRIVATE_WORDS & {word.lower() for word in words} if name not in FIELD_NAMES else set()


@pytest.mark.parametrize("files", [modules, support_modules])
def test_no_name_has_a_private_word(files: Callable[[], dict[str, ast.Module]]) -> None:
    found = {
        f"{file}: {name}"
        for file, tree in files().items()
        for name in (*declared_names(tree), *Path(file).with_suffix("").parts)
        if private_words(name)
    }
    assert sorted(found) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ShowScene", {"scene"}),
        ("_look_before", {"look"}),
        ("MAX_LOOKS", {"looks"}),
        ("lookup", set()),
        ("almost", set()),
    ],
)
def test_private_words_are_recognized(name: str, expected: set[str]) -> None:
    assert private_words(name) == expected


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
