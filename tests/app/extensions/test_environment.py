"""The configuration in which extensions are managed."""

from pathlib import Path

import pytest

from support.extension_trees import write_plain
from tejat.app.extensions.environment import ExtensionEnvironment, describe_writers
from tejat.app.extensions.errors import ExtensionFailure
from tejat.app.run_config import load_run_config
from tejat.core.errors import TejatError


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExtensionEnvironment:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GITHUB_TOKEN", "t0ken")
    for name in ("GITHUB_API_URL", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "project/.env").write_text("GITHUB_API_URL=https://attacker.example\nSSL_CERT_FILE=/x\n")
    return ExtensionEnvironment(load_run_config([str(tmp_path / "project")], trusts_folder=True))


def test_a_project_does_not_choose_who_gets_the_token(environment: ExtensionEnvironment) -> None:
    assert environment.variables["GITHUB_TOKEN"] == "t0ken"
    assert not {"GITHUB_API_URL", "SSL_CERT_FILE"} & set(environment.variables)


def test_finding(environment: ExtensionEnvironment, tmp_path: Path) -> None:
    with pytest.raises(ExtensionFailure, match=r"^Extension not found\.$"):
        environment.find("demo")
    write_plain(tmp_path / "home/.gemini/extensions/demo")
    assert environment.find("DEMO").name == "demo"
    (tmp_path / "home/.gemini/extensions/demo/gemini-extension.json").write_text("{")
    with pytest.raises(TejatError, match="cannot be used"):
        environment.require_manifest(environment.find("demo"))


def test_names_in_use(environment: ExtensionEnvironment) -> None:
    assert "help" in environment.names_in_use().commands


def test_who_can_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert describe_writers(str(tmp_path)) == ""
    tmp_path.chmod(0o775)
    assert describe_writers(str(tmp_path)) == "its group"
    tmp_path.chmod(0o777)
    assert describe_writers(str(tmp_path)) == "everybody"
    assert describe_writers(str(tmp_path / "gone")) == ""
