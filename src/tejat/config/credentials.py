"""Stored API keys: a file that only the user can read."""

from tejat.config.env_file import parse_env
from tejat.config.files.reader import AllowedWriters, path_exists, read_config_file
from tejat.config.paths import AppPaths

API_KEY_NAMES = frozenset({"GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"})


def read_api_keys(paths: AppPaths) -> dict[str, str]:
    """The keys by variable name. Raises ConfigurationError, also for a file that others can write."""
    path = paths.credentials
    if not path_exists(path):
        return {}
    text = read_config_file(path, writers=AllowedWriters.TRUSTED) or ""
    return {name: key for name, key in parse_env(text).items() if name in API_KEY_NAMES and key}
