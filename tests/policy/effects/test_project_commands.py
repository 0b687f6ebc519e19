"""Test, build and check commands: how they begin, and which options are known."""

import pytest

from tejat.policy.effects.project_commands import ProjectCommand, find_project_command


def found(text: str) -> tuple[str, bool] | None:
    command = find_project_command(text.split())
    return None if command is None else (" ".join(command.prefix), command.is_understood)


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("pytest -xq tests/test_a.py::test_b", "pytest"),
        ("pytest --cov -q", "pytest"),
        ("pytest --cov src -n4", "pytest"),
        (".venv/bin/pytest -q", ".venv/bin/pytest"),
        ("./node_modules/.bin/eslint src", "./node_modules/.bin/eslint"),
        ("python3.13 -m unittest discover -s tests", "python3.13 -m unittest"),
        ("uv run python -m pytest -q", "uv run python -m pytest"),
        ("uv run ruff format --check .", "uv run ruff format --check"),
        ("npm run test:unit --silent", "npm run test:unit"),
        ("tox -e py312 -q", "tox -e py312"),
        ("make test -j8 lint", "make test"),
        ("cargo test name -- --nocapture --test-threads=1", "cargo test"),
        ("go test -run TestX ./...", "go test"),
    ],
)
def test_known_commands_with_known_options(text: str, prefix: str) -> None:
    assert found(text) == (prefix, True)


@pytest.mark.parametrize(
    "text",
    [
        "pytest -p x",
        "pytest -k",
        "pytest -k -p",
        "pytest --cov=src --basetemp=x",
        "pytest -- tests",
        "pytest @file",
        "pytest X=1",
        "tox -e",
        "make test X=1",
        "cargo clippy -- -C linker=x",
        "npm test -- --watch",
        "ruff check --fix",
    ],
)
def test_known_commands_with_other_options(text: str) -> None:
    command = find_project_command(text.split())
    assert command is not None
    assert not command.is_understood


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ls",
        "python x.py",
        "python -m http.server",
        "npm install",
        "make deploy",
        "/tmp/pytest",
        "./pytest",
        "uv run",
    ],
)
def test_other_commands(text: str) -> None:
    assert found(text) is None


def test_the_prefix_is_taken_from_the_words() -> None:
    assert find_project_command(("make", "test", "a b")) == ProjectCommand(("make", "test"), is_understood=False)
