"""OpenAI's models on Azure."""

from urllib.parse import quote

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.model import FailureKind, ModelClient, ModelFailure
from tejat.models import ModelOptions
from tejat.models.base_url import read_api_key, resolve_base_url
from tejat.models.openai.client import OpenAIApi, OpenAIClient
from tejat.models.openai.responses_client import ResponsesClient
from tejat.models.wire.api_errors import ModelTarget

_ENDPOINT_VARIABLE, _KEY_VARIABLE, _TOKEN_VARIABLE = (
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_AD_TOKEN",
)
_VERSION_VARIABLES = ("AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION")
_VERSIONLESS = frozenset({"", "v1", "latest"})


def open_azure(deployment: str, options: ModelOptions) -> ModelClient:
    """Create a client for a deployment at `AZURE_OPENAI_ENDPOINT`.

    The key is `AZURE_OPENAI_API_KEY`, or a token of Entra in `AZURE_OPENAI_AD_TOKEN`. Without an API version, the v1
    API is used. Raises ModelFailure without a key, and UsageError for a missing or invalid endpoint.
    """
    key, token = read_api_key(options, _KEY_VARIABLE), read_api_key(options, _TOKEN_VARIABLE)
    if not key and not token:
        message = lazy("No API key for {model}. Set {key}.", model=deployment, key=_KEY_VARIABLE)
        raise ModelFailure(message, FailureKind.NO_KEY)
    if not options.environment.get(_ENDPOINT_VARIABLE, "").strip():
        message = lazy("Azure needs an endpoint. Set {name}.", name=_ENDPOINT_VARIABLE)
        raise UsageError(message)
    base = resolve_base_url(options, variable=_ENDPOINT_VARIABLE, default="", has_key=True)
    base = base.removesuffix("/openai/v1").removesuffix("/openai")
    target = ModelTarget(deployment, _KEY_VARIABLE if key else _TOKEN_VARIABLE, key or token)
    headers = {"api-key": key} if key else {"authorization": f"Bearer {token}"}
    version = _api_version(options)
    uses_responses = options.openai_api == OpenAIApi.RESPONSES
    if version in _VERSIONLESS:
        root, query = f"{base}/openai/v1", ""
    else:
        # Only chat completions have the deployment in their address.
        root = f"{base}/openai" if uses_responses else f"{base}/openai/deployments/{quote(deployment, safe='')}"
        query = f"?api-version={quote(version, safe='')}"
    if uses_responses:
        return ResponsesClient(target, f"{root}/responses{query}", options, headers=headers)
    return OpenAIClient(target, root, options, headers=headers, query=query)


def _api_version(options: ModelOptions) -> str:
    found = (options.environment.get(name, "").strip() for name in _VERSION_VARIABLES)
    return next(filter(None, found), "")
