"""Arguments as a person types them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.cli.tools.arguments import parse_arguments
from tejat.core.errors import UsageError

TYPES = {
    "path": "string",
    "limit": "number",
    "depth": "integer",
    "deep": "boolean",
    "paths": "array",
    "extra": "object",
}


def read(*words: str) -> object:
    return parse_arguments(words, TYPES.get)


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ([], {}),
        (['{"path": "a b", "limit": 5}'], {"path": "a b", "limit": 5}),
        (['  {"path": null}\n'], {"path": None}),
        (["{}"], {}),
        (["path=a"], {"path": "a"}),
        (["path="], {"path": ""}),
        (["path=a=b"], {"path": "a=b"}),
        (["path=5"], {"path": "5"}),
        (["path=true", "deep=true"], {"path": "true", "deep": True}),
        (["limit=5", "depth=7"], {"limit": 5, "depth": 7}),
        (["limit=2.5"], {"limit": 2.5}),
        (["deep=false"], {"deep": False}),
        (["deep=null"], {"deep": None}),
        (["paths=a"], {"paths": ["a"]}),
        (["paths=a", "path=x", "paths=b"], {"paths": ["a", "b"], "path": "x"}),
        (['paths=["a", "b"]', "paths=c"], {"paths": ["a", "b", "c"]}),
        (["paths="], {"paths": [""]}),
        (["paths=[]"], {"paths": []}),
        (['extra={"a": [1]}'], {"extra": {"a": [1]}}),
        (["unheard_of=5"], {"unheard_of": "5"}),
        (["path=a", "path=b"], {"path": "b"}),
        (["path={"], {"path": "{"}),
        (["path=日本\n語"], {"path": "日本\n語"}),
    ],
)
def test_words_become_arguments(words: list[str], arguments: dict[str, object]) -> None:
    assert read(*words) == arguments


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a.txt"], "Invalid argument 'a.txt'. Use one JSON object, or key=value words."),
        (["=5"], "Invalid argument '=5'. Use one JSON object, or key=value words."),
        ([""], "Invalid argument ''. Use one JSON object, or key=value words."),
        (["path=a", "{}"], "Invalid argument '{}'. Use one JSON object, or key=value words."),
        (["{}", "{}"], "Invalid argument '{}'. Use one JSON object, or key=value words."),
        (
            ["{"],
            "The arguments are not valid JSON: Expecting property name enclosed in double quotes at line 1, column 2",
        ),
        (["{'path': 'a'}"], "The arguments are not valid JSON: Expecting property name enclosed in double quotes"),
        (['["a"]'], 'The arguments must be one JSON object, for example \'{"path": "README.md"}\''),
        (['"a"'], 'The arguments must be one JSON object, for example \'{"path": "README.md"}\''),
        (["limit=many"], "limit must be number, not 'many'"),
        (["deep=yes"], "deep must be boolean, not 'yes'"),
        (["depth="], "depth must be integer, not ''"),
        (["limit=NaN"], "limit must be number, not 'NaN'"),
        (["paths=[a"], "'[a' is not a JSON array: "),
    ],
)
def test_what_cannot_be_read_is_said_by_word(words: list[str], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(*words)
    assert str(caught.value).startswith(told)


@given(
    st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()))
)
@settings(deadline=None)
def test_an_object_is_taken_as_it_is(arguments: dict[str, object]) -> None:
    assert read(json.dumps(arguments)) == arguments


@given(st.text(), st.lists(st.text().filter(lambda text: not text.startswith("[")), min_size=1))
@settings(deadline=None)
def test_text_is_never_changed(path: str, paths: list[str]) -> None:
    assert read(f"path={path}", *(f"paths={item}" for item in paths)) == {"path": path, "paths": paths}
