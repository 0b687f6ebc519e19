"""One value or several."""

from pathlib import Path

import pytest

from tejat.core.text.one_or_many import OnePathOrMany, list_names, list_paths


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
