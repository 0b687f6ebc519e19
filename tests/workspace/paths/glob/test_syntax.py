"""The text of a pattern becomes the parts that it is made of. What they match is tested in test_glob_pattern.py."""

import pytest

from tejat.core.errors import ErrorType, ToolFailure
from tejat.workspace.paths.glob.syntax import ANY_DIRECTORIES, Extglob, ExtglobKind, GlobSegments, parse_glob
from tejat.workspace.paths.glob.wildcard_regex import Wildcard


def shape(parts: GlobSegments) -> object:
    """The parts with groups as plain values, which can be compared."""
    return [[_shape_of_node(node) for node in part] for part in parts]


def _shape_of_node(node: object) -> object:
    if not isinstance(node, Extglob):
        return node
    return (node.kind, *([_shape_of_node(inner) for inner in alternative] for alternative in node.alternatives))


STAR = Wildcard.WITHIN_NAME


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a/*.b", [["a"], [STAR, r"\.", "b"]]),
        ("**/a", [[Wildcard.DIRECTORIES], ["a"]]),
        ("***/**/a", [[Wildcard.DIRECTORIES], ["a"]]),
        ("a**", [["a", STAR, STAR]]),
        ("a//./b", [["a"], ["b"]]),
        ("a/", [["a"], []]),
        ("\\*\\a\\", [[r"\*", "a", r"\\"]]),
        ("a\\/b", [["a"], ["b"]]),
        ("?", [["[^/]"]]),
        ("[", [[r"\["]]),
        ("@(a|*)b", [[(ExtglobKind.EXACTLY_ONE, ["a"], [STAR]), "b"]]),
        ("!(a|@(b|))", [[(ExtglobKind.NEGATED, ["a"], [(ExtglobKind.EXACTLY_ONE, ["b"], [])])]]),
        ("*()", [[(ExtglobKind.ANY_NUMBER, [])]]),
        ("+(a", [[r"\+", r"\(", "a"]]),
        ("?(a", [["[^/]", r"\(", "a"]]),
        ("\\@(a)", [["@", r"\(", "a", r"\)"]]),
    ],
)
def test_parts(text: str, expected: object) -> None:
    assert shape(parse_glob(text, text)) == expected


def test_any_directories_are_known_by_equality() -> None:
    assert parse_glob("**", "**") == (ANY_DIRECTORIES,)


@pytest.mark.parametrize("text", ["/a", "\\/a", "..", "a/../b"])
def test_leading_out(text: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        parse_glob(text, "{as,written}")
    assert caught.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE
    assert '"{as,written}"' in caught.value.message


@pytest.mark.parametrize("text", ["@(a/b)", "x!(a|b/c)y", "*(a)" * 51])
def test_refused(text: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        parse_glob(text, text)
    assert caught.value.error_type is ErrorType.INVALID_TOOL_PARAMS


@pytest.mark.parametrize("text", ["\\@(a/b)", "(a/b)", "@(a)/b(c)"])
def test_a_slash_outside_of_groups_is_fine(text: str) -> None:
    assert len(parse_glob(text, text)) == 2
