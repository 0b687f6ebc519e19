"""Files that usually hold secrets."""

import pytest

from tejat.core.text.secret_files import is_secret_file


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
