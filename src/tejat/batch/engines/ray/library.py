"""The Ray package, which is imported where a cluster is used only."""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # How long the driver waits for the head node to come back before Ray ends the process. Its own default is a minute.
    "RAY_gcs_rpc_server_reconnect_timeout_s": "30",
    "RAY_ENABLE_RECORD_ACTOR_TASK_LOGGING": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def has_ray() -> bool:
    """Whether the package is installed."""
    try:
        return find_spec("ray") is not None
    except (ImportError, ValueError):
        return False


def load_ray() -> Any:
    """The module `ray`. Raises ImportError."""
    import ray

    return ray


def ray_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a Ray driver: no statistics are sent, and a lost cluster is noticed soon."""
    return {**_SETTINGS, **environment, "RAY_USAGE_STATS_ENABLED": "0"}


def hide_cluster_token() -> None:
    """Remove what Ray has read already from the environment: with the token, an agent could start anything."""
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        os.environ.pop(name, None)
