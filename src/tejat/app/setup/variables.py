"""Environment variables of Gemini CLI that have no effect here."""

from collections.abc import Iterator, Mapping

from tejat.core.i18n import lazy


def ineffective_variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables that are set and have no effect, each with the reason."""
    for name in sorted(name for name, value in environment.items() if value.strip()):
        reason = INEFFECTIVE_VARIABLES.get(name)
        if reason is None and name.startswith(_EDITOR_PREFIX):
            reason = _NO_EDITOR
        if reason is not None:
            yield name, reason


_NO_SIGN_IN = lazy("Tejat has no Google sign-in; use GEMINI_API_KEY or Vertex AI")
_NOT_SENT = lazy("telemetry is not sent anywhere")
_NO_LABEL = lazy("requests carry no such label")
_TOKEN_FILES = lazy("MCP server tokens are stored in files that only you can read")
_NO_EDITOR = lazy("there is no IDE companion yet")
_EDITOR_PREFIX = "GEMINI_CLI_IDE_"
INEFFECTIVE_VARIABLES: Mapping[str, str] = {
    "GOOGLE_CLOUD_ACCESS_TOKEN": _NO_SIGN_IN,
    "CODE_ASSIST_ENDPOINT": _NO_SIGN_IN,
    "CODE_ASSIST_API_VERSION": _NO_SIGN_IN,
    "CLOUD_SHELL": _NO_SIGN_IN,
    "GEMINI_CLI_SURFACE": _NO_LABEL,
    "SURFACE": _NO_LABEL,
    "NODE_OPTIONS": lazy("Tejat does not use Node.js"),
    "GEMINI_FORCE_FILE_STORAGE": _TOKEN_FILES,
    "GEMINI_FORCE_ENCRYPTED_FILE_STORAGE": _TOKEN_FILES,
    "GEMINI_CLI_EXTENSION_REGISTRY_URI": lazy("there is no extension registry"),
    "SANDBOX": lazy("it does not prove that there is a sandbox; Tejat tests what works here"),
    "GEMINI_TELEMETRY_TRACES_ENABLED": _NOT_SENT,
    "GEMINI_TELEMETRY_USE_COLLECTOR": _NOT_SENT,
    "GEMINI_TELEMETRY_USE_CLI_AUTH": _NOT_SENT,
    "OTLP_GOOGLE_CLOUD_PROJECT": _NOT_SENT,
}
"""Why each of these variables has no effect."""
