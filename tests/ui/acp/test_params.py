from pathlib import Path

import pytest

from tejat.ui.acp.params import directory_list, directory_param, meta_of, optional_string, string_param
from tejat.ui.jsonrpc.peer import RequestError


def test_strings() -> None:
    assert string_param({"a": "x"}, "a") == "x"
    assert optional_string({}, "a") is None
    assert optional_string({"a": None}, "a") is None
    for wrong in ({}, {"a": ""}, {"a": 1}, {"a": ["x"]}):
        with pytest.raises(RequestError, match="a must be a non-empty string"):
            string_param(wrong, "a")
    with pytest.raises(RequestError):
        optional_string({"a": 1}, "a")


def test_directories_are_absolute_and_exist(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert directory_param({"cwd": str(tmp_path)}, "cwd") == str(tmp_path)
    assert directory_list({}, "more") == ()
    assert directory_list({"more": [str(tmp_path)]}, "more") == (str(tmp_path),)
    for wrong, message in [
        ("relative", "must be an absolute path"),
        (str(tmp_path / "missing"), "is not a directory"),
        (str(file), "is not a directory"),
        ("/\0", "must be an absolute path"),
    ]:
        with pytest.raises(RequestError, match=message):
            directory_param({"cwd": wrong}, "cwd")
    with pytest.raises(RequestError, match="must be a list"):
        directory_list({"more": str(tmp_path)}, "more")
    with pytest.raises(RequestError, match="must be a list"):
        directory_list({"more": [1]}, "more")


def test_extensions() -> None:
    assert meta_of({"_meta": {"api-key": "x"}}) == {"api-key": "x"}
    assert meta_of({}) == meta_of({"_meta": None}) == meta_of({"_meta": []}) == {}
