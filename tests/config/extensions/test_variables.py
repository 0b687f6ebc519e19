"""Variables in the texts of an extension."""

import pytest

from tejat.config.extensions.active import fill_places
from tejat.config.extensions.variables import ExtensionVariables, find_references, leads_out

VARIABLES = ExtensionVariables(
    "/e/my ext",
    "/project",
    {"PLAIN": "p", "GITHUB_TOKEN": "ghp_secretsecret", "EMPTY": "", "NESTED": "$PLAIN"},
    {"MY_API_KEY": "sk-1", "ODD": "${extensionPath} $PLAIN"},
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${extensionPath}${/}x", "/e/my ext/x"),
        ("${workspacePath}${pathSeparator}y", "/project/y"),
        ("$PLAIN ${PLAIN} ${PLAIN:-z}", "p p p"),
        ("$MISSING ${MISSING} ${MISSING:-z} ${EMPTY:-z}", "$MISSING ${MISSING} z z"),
        ("$MY_API_KEY", "sk-1"),
        ("$GITHUB_TOKEN ${GITHUB_TOKEN}", "$GITHUB_TOKEN ${GITHUB_TOKEN}"),
        ("$ODD $NESTED", "${extensionPath} $PLAIN $PLAIN"),
        ("${other.thing} $1 $$", "${other.thing} $1 $$"),
    ],
)
def test_manifest_and_hooks(text: str, expected: str) -> None:
    assert VARIABLES.expand(text) == expected


def test_texts_for_the_model_get_no_values() -> None:
    text = "${extensionPath} ${workspacePath} ${MY_API_KEY} $PLAIN ${/}"
    assert fill_places(text, VARIABLES.places) == "/e/my ext /project ${MY_API_KEY} $PLAIN /"


def test_references() -> None:
    assert find_references("$A ${B} ${C:-x} $D_E ${extensionPath}", {"A", "B", "C", "D"}) == {"A", "B"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${extensionPath}/../x", True),
        ("${extensionPath}${/}..${/}x", True),
        ("node '${extensionPath}/a/../../x'", True),
        ("${extensionPath}/a/../x", False),
        ("${extensionPath} ../x", False),
        ("../x", False),
        ("PATH=${extensionPath}:..", False),
    ],
)
def test_paths_that_lead_out(text: str, expected: bool) -> None:
    assert leads_out(text) is expected
