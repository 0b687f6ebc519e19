"""Authentication types: the one of a run, the selected and the enforced one."""

from collections.abc import Mapping

import pytest

from tejat.app.authentication import (
    auth_type_of,
    is_keyless_gateway,
    require_auth_type,
    selected_auth_type,
    without_sign_in,
)
from tejat.config.credentials import vertex_switch
from tejat.config.settings.types import Setting, Settings
from tejat.core.model import FailureKind, ModelFailure

BASE = {"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1"}
VERTEX = {"GOOGLE_GENAI_USE_VERTEXAI": "true"}


@pytest.mark.parametrize(
    ("model", "environment", "found"),
    [
        ("gemini-2.5-pro", {}, "gemini-api-key"),
        ("gemini:auto", {}, "gemini-api-key"),
        ("gemini-2.5-pro", BASE, "gateway"),
        ("gemini-2.5-pro", VERTEX, "vertex-ai"),
        ("vertex:gemini-2.5-pro", BASE, "vertex-ai"),
        ("claude-sonnet-5", {}, "other"),
        ("ollama:x", VERTEX, "other"),
        ("scripted:file", VERTEX, None),
    ],
)
def test_the_type_of_a_run(model: str, environment: Mapping[str, str], found: str | None) -> None:
    assert auth_type_of(model, Settings(), environment) == found
    for enforced in ("gemini-api-key", "vertex-ai", "gateway", "oauth-personal"):
        settings = Settings(enforced_auth_type=Setting(enforced, "FILE:3"))
        if found in (None, enforced):
            require_auth_type(model, settings, environment)
            continue
        with pytest.raises(ModelFailure, match=f"FILE:3 enforces {enforced}, but ") as raised:
            require_auth_type(model, settings, environment)
        assert raised.value.kind is FailureKind.AUTHENTICATION


def test_an_address_in_the_settings_is_a_gateway_too() -> None:
    settings = Settings(base_url=Setting("https://h"), enforced_auth_type=Setting("gemini-api-key", "F:1"))
    with pytest.raises(ModelFailure, match=r"^F:1 enforces gemini-api-key, but this run would use gateway\.$"):
        require_auth_type("gemini-2.5-pro", settings, {})


@pytest.mark.parametrize("enforced", ["oauth-personal", "compute-default-credentials", "cloud-shell"])
def test_no_run_signs_in(enforced: str) -> None:
    settings = Settings(enforced_auth_type=Setting(enforced, "F:1"))
    for environment in ({}, VERTEX, {"GOOGLE_GENAI_USE_GCA": "true"}):
        with pytest.raises(ModelFailure, match="Tejat has no Google sign-in"):
            require_auth_type("gemini-2.5-pro", settings, environment)


def test_the_selected_type() -> None:
    assert selected_auth_type(Settings(), {}) is None
    for name, kind in (
        ("GOOGLE_GENAI_USE_GCA", "oauth-personal"),
        ("GEMINI_CLI_USE_COMPUTE_ADC", "compute-default-credentials"),
    ):
        found = selected_auth_type(Settings(), {name: "True"})
        assert found is not None
        assert (found.value, found.source) == (kind, name)
        assert selected_auth_type(Settings(), {name: "false"}) is None
        own = Setting("gemini-api-key", "F:1")
        assert selected_auth_type(Settings(auth_type=own), {name: "1"}) is own


@pytest.mark.parametrize(
    ("selected", "variable"), [("vertex-ai", "true"), ("gemini-api-key", "false"), ("oauth-personal", None)]
)
def test_what_gemini_names_mean(selected: str, variable: str | None) -> None:
    switch = vertex_switch(Settings(auth_type=Setting(selected)))
    assert switch.get("GOOGLE_GENAI_USE_VERTEXAI") == variable
    assert vertex_switch(Settings()) == {}


def test_a_gateway_may_need_no_key() -> None:
    gateway = Settings(auth_type=Setting("gateway"))
    assert is_keyless_gateway(gateway, BASE)
    assert not is_keyless_gateway(gateway, {})
    assert not is_keyless_gateway(Settings(), BASE)


def test_a_missing_key_where_a_sign_in_is_selected() -> None:
    missing = ModelFailure("no key", FailureKind.NO_KEY)
    settings = Settings(auth_type=Setting("oauth-personal", "F:1"))
    told = without_sign_in(missing, settings, {})
    assert told.kind is FailureKind.NO_KEY
    assert str(told).startswith("F:1 selects oauth-personal, but Tejat has no Google sign-in. ")
    assert "GEMINI_API_KEY" in str(told)
    assert without_sign_in(missing, Settings(), {}) is missing
    other = ModelFailure("refused", FailureKind.AUTHENTICATION)
    assert without_sign_in(other, settings, {}) is other
