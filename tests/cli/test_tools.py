"""`tejat tools`: what may be said there, and the list of the tools."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.cli.tools import run

TEJAT = [sys.executable, "-m", "tejat", "tools"]
NAMES = [
    "list_directory",
    "read_file",
    "search_file_content",
    "glob",
    "replace",
    "write_file",
    "read_many_files",
]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.py").write_text("print('hello')\n")
    return tmp_path


def tools(
    *words: str | Path, cwd: Path, given: bytes | None = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*TEJAT, *words],
        input=given,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


def told(done: subprocess.CompletedProcess[bytes]) -> dict[str, object]:
    """The one JSON object that was printed."""
    assert done.stdout.endswith(b"\n")
    assert done.stdout.count(b"\n") == 1
    return json.loads(done.stdout)


class TestList:
    def test_a_table_for_people(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["list"]) == 0
        header, *rows = capsys.readouterr().out.splitlines()
        assert header.split() == ["NAME", "SHOWN", "AS", "KIND", "WHAT", "IT", "DOES"]
        assert [row.split()[:3] for row in rows] == [
            ["list_directory", "ReadFolder", "search"],
            ["read_file", "ReadFile", "read"],
            ["search_file_content", "SearchText", "search"],
            ["glob", "FindFiles", "search"],
            ["replace", "Edit", "edit"],
            ["write_file", "WriteFile", "edit"],
            ["read_many_files", "ReadManyFiles", "read"],
        ]
        assert all(len(row.split()) > 4 for row in rows)

    def test_the_declarations_for_a_model(self, workspace: Path) -> None:
        done = tools("list", "--json", cwd=workspace)
        assert (done.returncode, done.stderr) == (0, b"")
        declared = json.loads(done.stdout)
        assert [declaration["name"] for declaration in declared] == NAMES
        for declaration in declared:
            assert list(declaration) == ["name", "description", "parametersJsonSchema"]
            assert declaration["description"]
            schema = declaration["parametersJsonSchema"]
            assert list(schema) == ["type", "properties", "required"]
            assert schema["type"] == "object"
            assert set(schema["required"]) <= set(schema["properties"])


class TestWords:
    @pytest.mark.parametrize(
        "order",
        [
            ["--json", "read_file", "PATH"],
            ["read_file", "--json", "PATH"],
            ["read_file", "PATH", "--json"],
            ["read_file", "--root", ".", "PATH", "--json"],
            ["read_file", "PATH", "--json", "limit=2"],
        ],
    )
    def test_options_may_stand_anywhere(self, workspace: Path, order: list[str]) -> None:
        path = f"path={workspace}/a.txt"
        done = tools("call", *(path if word == "PATH" else word for word in order), cwd=workspace)
        assert (done.returncode, done.stderr) == (0, b"")
        assert told(done)["name"] == "read_file"

    @pytest.mark.parametrize(
        "words",
        [
            ["call"],
            ["call", "read_file", "a.txt"],
            ["call", "read_file", "{"],
            ["call", "read_file", "[]"],
            ["call", "read_file", "limit=many"],
            ["call", "read_file", "--unheard-of"],
            ["call", "read_file", "--root"],
            ["call", "read_file", "--root", "missing", "path=a.txt"],
            ["call", "read_file", "--root", "a.txt", "path=a.txt"],
            ["call", "--jsonl", "read_file"],
            ["unheard_of"],
            [],
            ["list", "more"],
        ],
    )
    def test_bad_usage(self, workspace: Path, words: list[str]) -> None:
        done = tools(*words, cwd=workspace)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"tejat" in done.stderr
        assert b"Traceback" not in done.stderr

    @pytest.mark.parametrize("words", [["--help"], ["list", "--help"], ["call", "--help"]])
    def test_help(self, workspace: Path, words: list[str]) -> None:
        done = tools(*words, cwd=workspace)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(b"usage: tejat tools")
