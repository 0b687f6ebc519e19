"""Stored API keys, in a file that only the user can read, and the choice between services of Google."""

from tejat.config.env_file import parse_env
from tejat.config.files.reader import AllowedWriters, path_exists, read_config_file
from tejat.config.paths import AppPaths
from tejat.config.settings.types import Settings

GEMINI_API_KEY = "gemini-api-key"
VERTEX_AI = "vertex-ai"
"""Authentication types of Gemini CLI."""

_VERTEX_SWITCHES = {VERTEX_AI: "true", GEMINI_API_KEY: "false"}
API_KEY_NAMES = frozenset({"GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"})


def read_api_keys(paths: AppPaths) -> dict[str, str]:
    """The keys by variable name. Raises ConfigurationError, also for a file that others can write."""
    path = paths.credentials
    if not path_exists(path):
        return {}
    text = read_config_file(path, writers=AllowedWriters.TRUSTED) or ""
    return {name: key for name, key in parse_env(text).items() if name in API_KEY_NAMES and key}


def vertex_switch(settings: Settings) -> dict[str, str]:
    """The variable that makes Gemini names mean the selected service; empty if the selected type does not say."""
    word = None if settings.auth_type is None else _VERTEX_SWITCHES.get(settings.auth_type.value)
    return {} if word is None else {"GOOGLE_GENAI_USE_VERTEXAI": word}
