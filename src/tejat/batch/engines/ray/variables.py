"""Environment variables that runs on other machines need."""

import os
from collections.abc import Iterable, Mapping

from tejat.config.credentials import read_api_keys
from tejat.config.paths import app_paths

MODEL_VARIABLES = frozenset(
    {
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
        *("AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_API_VERSION", "AZURE_OPENAI_ENDPOINT"),
        *("GEMINI_API_KEY", "GEMINI_API_KEY_AUTH_MECHANISM", "GEMINI_CLI_CUSTOM_HEADERS", "GEMINI_MODEL"),
        *("GOOGLE_API_KEY", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID"),
        *("GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_API_VERSION", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_VERTEX_BASE_URL"),
        *("OLLAMA_API_KEY", "OLLAMA_HOST", "OPENAI_API_KEY", "OPENAI_API_VERSION", "OPENAI_BASE_URL"),
    }
)
"""Keys and addresses of model services."""


def variables_to_pass(environment: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The variables of model services, stored keys included, and those that the user names.

    Credentials of clouds, such as those of AWS, are for more than models and are passed by name only. Raises
    ConfigurationError for a file of keys that others can write.
    """
    known = {**read_api_keys(app_paths(environment)), **environment}
    wanted = {*MODEL_VARIABLES, *names}
    return {name: value for name, value in known.items() if name in wanted}


def adopt_variables(variables: Mapping[str, str]) -> None:
    """Set them in this process, for the processes that it starts."""
    os.environ.update(variables)
