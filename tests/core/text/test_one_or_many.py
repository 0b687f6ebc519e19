"""One value or several."""

from pathlib import Path
from typing import Any

import pytest

from tejat.core.approval.confirmation import ExecConfirmation, InfoConfirmation
from tejat.core.text.one_or_many import OnePathOrMany, describe_wrong_mapping, list_names, list_paths
from tejat.core.tools.schema import Param


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ("./", ("./",)),
        (Path("/a/b"), ("/a/b",)),
        (["a", Path("b")], ("a", "b")),
        ((), ()),
        (iter(["a"]), ("a",)),
    ],
)
def test_paths(given: OnePathOrMany, paths: tuple[str, ...]) -> None:
    assert list_paths(given) == paths


def test_names() -> None:
    assert list_names("glob") == list_names(["glob"]) == ("glob",)
    assert list_names(()) == ()


@pytest.mark.parametrize("wrong", [b"glob", 5, None, {"glob": 1}])
def test_what_is_neither(wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"Expected a name or several names, not {wrong!r}"):
        list_names(wrong)
    with pytest.raises(TypeError, match=f"Expected a path or several paths, not {wrong!r}"):
        list_paths(wrong)
    with pytest.raises(TypeError, match="Expected a name, not"):
        list_names([wrong])
    with pytest.raises(TypeError, match="Expected a path, not"):
        list_paths([wrong])


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, ""),
        ({"A": "1"}, ""),
        ("A=1", "an object of the type str"),
        ({5: "1"}, "a mapping with a key of the type int"),
        ({"A": "1", "KEY": b"secret"}, "a mapping in which 'KEY' is of the type bytes"),
    ],
)
def test_mappings(given: object, wrong: str) -> None:
    assert describe_wrong_mapping(given, str) == wrong


def test_a_value_with_one_string_for_several() -> None:
    assert Param(aliases=("name")).aliases == ("name",)  # pyright: ignore[reportArgumentType]
    info = InfoConfirmation("Fetch", "", urls="https://example.org")  # pyright: ignore[reportArgumentType]
    assert info.urls == ("https://example.org",)
    command = ExecConfirmation("Run", "ls", "/", root_commands="ls", notes="in the background")  # pyright: ignore[reportArgumentType]
    assert (command.root_command, command.notes) == ("ls", ("in the background",))


def test_the_argument_is_named() -> None:
    wrong: Any = None
    with pytest.raises(TypeError, match=r"^excluded_tools must be a name or several names, not None\.$"):
        list_names(wrong, "excluded_tools")
    with pytest.raises(TypeError, match=r"^directories must be a path, not None\.$"):
        list_paths([wrong], "directories")
