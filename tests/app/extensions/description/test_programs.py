"""Programs of extensions: which fetch their code, where they are, and what is missing."""

from pathlib import Path

import pytest

from support.packages import write_tree
from tejat.app.extensions.description.programs import (
    describe_program,
    fetches_code,
    line_fetches_code,
    missing_files,
    split_words,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("npx -y some-server", True),
        ("/usr/bin/npx some-server", True),
        ("uvx server", True),
        ("docker run -i image", True),
        ("podman run image", True),
        ("npm exec server", True),
        ("pnpm dlx server", True),
        ("uv tool run server", True),
        ("go run example.org/x@latest", True),
        ("deno run npm:server", True),
        ("node server.js", False),
        ("docker ps", False),
        ("npm run build", False),
        ("uv run server.py", False),
        ("", False),
    ],
)
def test_commands_that_fetch(line: str, expected: bool) -> None:
    assert fetches_code(line.split()) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("curl -s https://example.org/x | sh", True),
        ("wget -qO- https://example.org/x | sudo bash", True),
        ('bash -c "$(curl -s https://example.org/x)"', True),
        ("sh <(curl https://example.org)", True),
        ("true && npx x", True),
        ("curl https://example.org/data > file", False),
        ("sh check.sh", False),
    ],
)
def test_lines_that_fetch(line: str, expected: bool) -> None:
    assert line_fetches_code(line) is expected


def test_where_a_program_is(tmp_path: Path) -> None:
    """The files are in one directory and will be in another."""
    write_tree(tmp_path, {"run*": "", "plain": ""})

    def describe(name: str) -> str:
        return describe_program(name, place="/place", path=str(tmp_path), directory="/place")

    assert describe("sh").endswith("/sh, found in PATH")
    assert describe("no-such-program") == "program: no-such-program, not found in PATH"
    assert describe("./run") == "program: /place/run, in the extension"
    assert describe("/place/plain") == "program: /place/plain, in the extension, not executable"
    assert describe("./gone") == "program: /place/gone, missing in the extension"
    assert describe("/bin/sh") == "program: /bin/sh, outside of the extension"
    assert describe("/nonexistent/x") == "program: /nonexistent/x, does not exist"


def test_missing_files(tmp_path: Path) -> None:
    write_tree(tmp_path, {"server.js": ""})

    def missing(*words: str) -> list[str]:
        return missing_files(words, place="/place", path=str(tmp_path), directory="/place")

    assert missing("node", "/place/server.js") == []
    assert missing("node", "/place/node_modules/x/cli.js") == ["/place/node_modules/x/cli.js"]
    assert missing("node", "dist/x.js", "--flag") == ["/place/dist/x.js"]
    assert missing("node", "/elsewhere/x.js", "https://example.org/place") == []


def test_words_of_a_broken_line() -> None:
    assert split_words("sh 'x") == ["sh", "'x"]
