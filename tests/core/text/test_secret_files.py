"""Files that usually hold secrets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.text.secret_files import find_secret_suspects, is_secret_directory, is_secret_file


@pytest.mark.parametrize(
    "path",
    [
        *(".env", "/w/sub/.env", ".ENV", ".env.local", ".env.production", "prod.env", ".envrc", ".netrc", ".npmrc"),
        *("id_rsa", "/home/me/.ssh/work", "certs/server.key", "server.pem", "store.jks", "a.kdbx", "secrets.yml"),
        *("/home/me/.aws/credentials", ".kube/config", ".docker/config.json", "credentials.json", "x.tfvars"),
    ],
)
def test_secret(path: str) -> None:
    assert is_secret_file(path)


@pytest.mark.parametrize(
    "path",
    [
        *(".env.example", ".env.sample", ".env.template", "id_rsa.pub", ".ssh/id_rsa.pub", "environment.py", "env"),
        *("credentials", "config", "src/keys.py", "monkey", "config.json", ".github/config", "secrets.py", "", "/"),
        *(".envoy.yaml", "README.md", ".ssh", "docs/.env.example/x"),
    ],
)
def test_not_secret(path: str) -> None:
    assert not is_secret_file(path)


def test_suspects() -> None:
    paths = ["a", "server.KEY", "src/credentials", "x.py", ".ssh/a", "config.py", "ſecrets.yml"]
    assert find_secret_suspects(paths) == ["server.KEY", "src/credentials", ".ssh/a", "config.py", "ſecrets.yml"]
    assert find_secret_suspects(["a", "b/c"]) == []
    assert find_secret_suspects([]) == []


_PARTS = st.sampled_from(
    (".aws", "credentials", ".env", "x.pem", "id_rsa", "gh", "hosts.yml", "token", "huggingface", ".ssh", "a", "B.KEY")
)


@given(st.lists(_PARTS, max_size=3), st.lists(_PARTS, min_size=1, max_size=3))
def test_a_secret_file_is_a_suspect_or_its_directory_is_secret(above: list[str], below: list[str]) -> None:
    directory, path = "/".join(["", *above]), "/".join(below)
    if is_secret_file(f"{directory}/{path}"):
        assert is_secret_directory(directory) or path in find_secret_suspects(["a", path])


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/h/.ssh", True), ("/h/.SSH/x", True), ("/.gnupg", True), ("/h/x.ssh", False), ("/h/.sshx", False), ("/", False)],
)
def test_secret_directories(path: str, expected: bool) -> None:
    assert is_secret_directory(path) == expected
