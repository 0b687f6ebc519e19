"""Mistakes that can be found without running an extension."""

import json
from pathlib import Path

import pytest

from support.extension_trees import write_demo, write_plain
from support.packages import write_tree
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.validation import ValidationResult, validate_extension
from tejat.app.run_config import load_run_config


@pytest.fixture
def environment(tmp_path: Path) -> ExtensionEnvironment:
    (tmp_path / "home").mkdir()
    return ExtensionEnvironment(load_run_config([str(tmp_path)], environment={"HOME": str(tmp_path / "home")}))


def errors_of(result: ValidationResult) -> str:
    return "\n".join(map(str, result.errors))


def test_manifest(environment: ExtensionEnvironment, tmp_path: Path) -> None:
    assert "is not a directory" in errors_of(validate_extension(environment, str(tmp_path / "gone")))
    (tmp_path / "demo").mkdir()
    assert "does not exist" in errors_of(validate_extension(environment, str(tmp_path / "demo")))
    write_tree(tmp_path / "demo", {"gemini-extension.json": '{"name": "demo",\n "version": 7}'})
    assert "version" in errors_of(validate_extension(environment, str(tmp_path / "demo")))


def test_mistakes(environment: ExtensionEnvironment, tmp_path: Path) -> None:
    tree = write_demo(
        tmp_path / "other",
        "one",
        contextFileName=["GONE.md"],
        mcpServers={
            "a": {"command": "no-such-program-here"},
            "b": {"command": "sh", "args": ["${extensionPath}/gone.sh"]},
            "c": {"command": "${extensionPath}/../out"},
        },
        surprise=True,
    )
    write_tree(tree, {"notes.txt": "key\nAIzaSyA1234567890abcdefghijklmnopqrstuvw\n", "late.sh": "#!/bin/sh\n"})
    (tree / "out").symlink_to("/etc")
    result = validate_extension(environment, str(tree))
    errors, warnings = errors_of(result), "\n".join(map(str, result.warnings))
    for text in (
        "the context file GONE.md is missing",
        "no-such-program-here",
        f"{tree}/gone.sh does not exist",
        "the server c uses a path that leads out",
        "notes.txt:2: this looks like a secret",
        "leads out of the extension",
    ):
        assert text in errors, text
    for text in (
        "the directory is not called demo",
        "version one is not of the form 1.2.3",
        "the field surprise is not known",
        "allow read_file: not used",
        "late.sh is a script without the executable bit",
    ):
        assert text in warnings, text
    assert "AIzaSy" not in errors
    found = result.to_json()
    assert found["valid"] is False
    json.dumps(found)


def test_reserved_names(environment: ExtensionEnvironment, tmp_path: Path) -> None:
    assert "reserved" in errors_of(validate_extension(environment, str(write_plain(tmp_path / "all", "all"))))
