"""Environment variables for other machines."""

from pathlib import Path

import pytest

from tejat.batch.engines.ray.variables import variables_to_pass
from tejat.config.paths import app_paths
from tejat.core.errors import UsageError


def test_model_services_and_named_variables_are_passed(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "OPENAI_API_KEY": "one",
        "OLLAMA_HOST": "models.example.org",
        "AWS_SECRET_ACCESS_KEY": "two",
        "GITHUB_TOKEN": "three",
        "LANG": "C",
    }
    models = {"OPENAI_API_KEY": "one", "OLLAMA_HOST": "models.example.org"}
    assert variables_to_pass(environment, ()) == models
    named = {**models, "AWS_SECRET_ACCESS_KEY": "two"}
    assert variables_to_pass(environment, ("AWS_SECRET_ACCESS_KEY", "MISSING")) == named


def test_stored_keys_are_passed_unless_the_environment_has_one(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "OPENAI_API_KEY": "one"}
    stored = Path(app_paths(environment).credentials)
    stored.parent.mkdir(parents=True, mode=0o700)
    stored.write_text("OPENAI_API_KEY='two'\nGEMINI_API_KEY='three'\n", encoding="utf-8")
    stored.chmod(0o600)
    assert variables_to_pass(environment, ()) == {"OPENAI_API_KEY": "one", "GEMINI_API_KEY": "three"}
    stored.chmod(0o666)
    with pytest.raises(UsageError):
        variables_to_pass(environment, ())
