"""What `tejat doctor` tells about settings, trust, model and network: where from, and never a secret."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tejat.app.run_config import load_run_config
from tejat.app.setup.doctor import configuration_checks
from tejat.config.paths import app_paths
from tejat.config.trust.decision import trust_folder
from tejat.core.approval.policy_report import DoctorCheck

SECRET = "hush-hush-hush"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "home" / ".gemini").mkdir(parents=True)
    (tmp_path / "project" / ".gemini").mkdir(parents=True)
    return tmp_path.resolve()


def all_checks(base: Path, environment: Mapping[str, str] | None = None) -> list[DoctorCheck]:
    own = {"HOME": str(base / "home"), **(environment or {})}
    run_config = load_run_config([str(base / "project")], environment=own)
    found = configuration_checks(run_config, process_environment=own, default_model="gemini-2.5-pro")
    assert SECRET not in repr(found)
    return found


def checks(base: Path, environment: Mapping[str, str] | None = None) -> list[DoctorCheck]:
    """The checks, whoever runs this."""
    return [check for check in all_checks(base, environment) if check.group != "user"]


def named(found: list[DoctorCheck], group: str, name: str) -> list[DoctorCheck]:
    return [check for check in found if (check.group, check.name) == (group, name)]


def write(path: Path, value: object) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    path.chmod(0o600)
    return path


def test_nothing_is_set(base: Path) -> None:
    root = base / "project"
    *told, locale = checks(base)
    (prices,) = named(told, "model", "prices")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d, [\d,]+ days? old, built-in(?:\. For current prices: .*)?", prices.detail)
    assert told == [
        DoctorCheck("model", "name", passed=True, detail="gemini-2.5-pro (default)"),
        DoctorCheck(
            "model",
            "key",
            passed=False,
            detail="none: GEMINI_API_KEY or GOOGLE_API_KEY is not set",
            fix="export GEMINI_API_KEY=YOUR_KEY",
        ),
        prices,
        DoctorCheck("policy", "mode at start", passed=True, detail="default"),
        DoctorCheck("files", "sessions", passed=True, detail=f"{base}/home/.local/state/tejat/sessions"),
        DoctorCheck(
            "trust",
            "unknown",
            passed=False,
            detail=f"{root} is not trusted: not decided yet.",
            fix=f"tejat trust {root}",
        ),
    ]
    assert (locale.group, locale.name, locale.detail) == ("terminal", "locale", "not set, file names are utf-8")


@pytest.mark.skipif(os.geteuid() != 0, reason="for root")
def test_root_is_told(base: Path) -> None:
    detail = "running as root: edits and commands can reach every file. Use an ordinary account"
    expected = DoctorCheck("user", "account", passed=False, detail=detail, fix="su - YOUR_USER")
    assert named(all_checks(base), "user", "account") == [expected]


def test_everything_with_where_it_came_from(base: Path) -> None:
    root = base / "project"
    settings = {"model": {"name": "gemini-x", "baseUrl": f"https://{SECRET}@host:8443/{SECRET}"}, "web": {}}
    settings["web"] = {"searchUrl": f"http://localhost:8888/?key={SECRET}"}
    user = write(base / "home" / ".gemini" / "settings.json", settings)
    project = write(root / ".gemini" / "settings.json", {"theme": "x"})
    file = write(root / ".env", f"GEMINI_API_KEY={SECRET}\n")
    trust_folder(app_paths({"HOME": str(base / "home")}), str(root))
    keys = write(base / "home" / ".config" / "tejat" / "keys.env", f"GEMINI_API_KEY={SECRET}\n")
    proxies = {"https_proxy": f"http://me:{SECRET}@proxy:3128/x", "HTTP_PROXY": "proxy2:80", "LANG": "de_DE.UTF-8"}
    assert [check for check in checks(base, proxies)[:-1] if check.name != "prices"] == [
        DoctorCheck("model", "name", passed=True, detail=f"gemini-x ({user}:1)"),
        DoctorCheck("model", "key", passed=True, detail=f"GEMINI_API_KEY from {keys}"),
        DoctorCheck("model", "address", passed=True, detail=f"https://host:8443 ({user}:1)"),
        DoctorCheck("network", "proxy", passed=True, detail="http://proxy:3128 (https_proxy)"),
        DoctorCheck("network", "proxy", passed=True, detail="proxy2:80 (HTTP_PROXY)"),
        DoctorCheck("network", "web search", passed=True, detail=f"http://localhost:8888 ({user}:1)"),
        DoctorCheck("policy", "mode at start", passed=True, detail="default"),
        DoctorCheck("files", "settings", passed=True, detail=str(user)),
        DoctorCheck("files", "settings", passed=True, detail=str(project)),
        DoctorCheck("files", "environment", passed=True, detail=str(file)),
        DoctorCheck("files", "sessions", passed=True, detail=f"{base}/home/.local/state/tejat/sessions"),
        DoctorCheck("trust", "trusted", passed=True, detail=f"{root} is trusted: you trusted it."),
        DoctorCheck("trust", "environment file", passed=True, detail=".env"),
        DoctorCheck("trust", "settings", passed=True, detail=".gemini/settings.json"),
    ]
    assert checks(base, proxies)[-1].detail.startswith("LANG=de_DE.UTF-8, ")


def test_a_folder_that_has_changed(base: Path) -> None:
    root = base / "project"
    trust_folder(app_paths({"HOME": str(base / "home")}), str(root))
    path = write(root / ".gemini" / "settings.json", {"theme": "x"})
    write(root / ".env", f"GEMINI_API_KEY={SECRET}\n")
    found = checks(base)
    fix = f"tejat trust {root}"
    expected = DoctorCheck("files", "not trusted", passed=False, detail=str(path), fix=fix)
    assert named(found, "files", "not trusted") == [expected]
    assert named(found, "files", "settings") == named(found, "files", "environment") == []
    assert [check.passed for check in found if check.group == "trust"] == [False, False, False]
    assert [check.detail for check in found if check.group == "trust"][1:] == [
        ".env (changed)",
        ".gemini/settings.json (changed)",
    ]


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        ({"GEMINI_API_KEY": SECRET}, "GEMINI_API_KEY from the environment"),
        ({"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": SECRET}, "GOOGLE_API_KEY from the environment"),
        ({"GEMINI_MODEL": "ollama:llama"}, "none needed"),
        ({"GEMINI_MODEL": "scripted:x"}, "none needed"),
        ({"GEMINI_MODEL": "openai:gpt-5", "OPENAI_API_KEY": SECRET}, "OPENAI_API_KEY from the environment"),
        (
            {"GEMINI_MODEL": "openai:x", "OPENAI_BASE_URL": "http://localhost:1"},
            "none; your own server may not need one",
        ),
        ({"GEMINI_MODEL": "claude-opus-5", "ANTHROPIC_API_KEY": SECRET}, "ANTHROPIC_API_KEY from the environment"),
        (
            {"GEMINI_MODEL": "claude-opus-5", "ANTHROPIC_AUTH_TOKEN": SECRET},
            "ANTHROPIC_AUTH_TOKEN from the environment",
        ),
        ({"GEMINI_MODEL": "vertex:gemini-x", "GOOGLE_API_KEY": SECRET}, "GOOGLE_API_KEY from the environment"),
    ],
)
def test_a_key_that_is_there(base: Path, environment: dict[str, str], key: str) -> None:
    assert named(checks(base, environment), "model", "key") == [DoctorCheck("model", "key", passed=True, detail=key)]


def test_credentials_of_google_cloud(base: Path) -> None:
    environment = {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_VERTEX_BASE_URL": "https://vertex.example/v1"}
    (missing,) = named(checks(base, environment), "model", "key")
    assert (missing.passed, missing.detail) == (False, "none: GOOGLE_CLOUD_PROJECT or GOOGLE_API_KEY is not set")
    environment["GOOGLE_CLOUD_PROJECT"] = "mine"
    found = checks(base, environment)
    (missing,) = named(found, "model", "key")
    assert (missing.passed, missing.detail) == (False, "none: GOOGLE_APPLICATION_CREDENTIALS is not set")
    (address,) = named(found, "model", "address")
    assert address.detail == "https://vertex.example (GOOGLE_VERTEX_BASE_URL)"
    stored = base / "home" / ".config" / "gcloud" / "application_default_credentials.json"
    os.makedirs(stored.parent)
    stored.write_text("{}")
    assert named(checks(base, environment), "model", "key") == [
        DoctorCheck("model", "key", passed=True, detail=str(stored))
    ]
    environment["CLOUDSDK_CONFIG"] = str(base)
    assert not named(checks(base, environment), "model", "key")[0].passed


def test_a_model_by_the_file(base: Path) -> None:
    file = write(base / "home" / ".env", "GEMINI_MODEL=gemini-y\n")
    assert named(checks(base), "model", "name")[0].detail == f"gemini-y (GEMINI_MODEL in {file})"
    assert named(checks(base, {"GEMINI_MODEL": "gemini-z"}), "model", "name")[0].detail == "gemini-z (GEMINI_MODEL)"


def test_a_model_by_a_preset(base: Path) -> None:
    presets = {"mine": {"extends": "chat-base", "modelConfig": {"model": "gemini-2.5-flash"}}}
    settings = {"model": {"name": "mine"}, "modelConfigs": {"customAliases": presets}}
    path = write(base / "home" / ".gemini" / "settings.json", settings)
    assert named(checks(base), "model", "name") == [
        DoctorCheck("model", "name", passed=True, detail=f"mine: gemini-2.5-flash ({path}:1)")
    ]
    presets["mine"]["extends"] = "mine"
    write(path, settings)
    (broken,) = named(checks(base), "model", "name")
    assert (broken.passed, broken.exit_code) == (False, 52)


def test_a_model_that_nobody_serves(base: Path) -> None:
    (name,) = named(checks(base, {"GEMINI_MODEL": "unheard-of"}), "model", "name")
    assert not name.passed
    assert name.detail.startswith("Unknown model 'unheard-of'.")
    assert named(checks(base, {"GEMINI_MODEL": "unheard-of"}), "model", "key") == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (f"http://{SECRET}@h:1", "http://h:1"),
        ("[::1]:80", "::1:80"),
        ("http://h:nonsense", "an invalid address"),
        ("http://[", "an invalid address"),
    ],
)
def test_proxies_by_host_only(base: Path, value: str, told: str) -> None:
    (proxy,) = named(checks(base, {"ALL_PROXY": value}), "network", "proxy")
    assert proxy.detail == f"{told} (ALL_PROXY)"
