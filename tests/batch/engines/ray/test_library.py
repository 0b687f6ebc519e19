"""The Ray package and its environment."""

import os

import pytest

from tejat.batch.engines.ray.library import hide_cluster_token, ray_environment


def test_ray_never_sends_statistics() -> None:
    assert ray_environment({})["RAY_USAGE_STATS_ENABLED"] == "0"
    assert ray_environment({"RAY_USAGE_STATS_ENABLED": "1"})["RAY_USAGE_STATS_ENABLED"] == "0"


def test_the_settings_of_the_user_count() -> None:
    name = "RAY_gcs_rpc_server_reconnect_timeout_s"
    assert ray_environment({})[name] == "30"
    assert ray_environment({name: "90", "PATH": "/bin"}) == {**ray_environment({}), name: "90", "PATH": "/bin"}


def test_the_token_of_a_cluster_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    hide_cluster_token()
    assert "RAY_AUTH_TOKEN" not in os.environ
    assert os.environ["RAY_AUTH_MODE"] == "token"
