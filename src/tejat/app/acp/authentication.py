"""Ways to get a key for a model service that a client of the protocol can offer."""

from collections.abc import Sequence

from tejat.core.i18n import _
from tejat.core.ui.client_session import AuthenticationMethod


def authentication_methods() -> Sequence[AuthenticationMethod]:
    """One method for each service that takes an API key. The id for Gemini is the one of Gemini CLI."""
    return [
        AuthenticationMethod(
            "gemini-api-key", _("Gemini API key"), _describe("GEMINI_API_KEY"), "google", "GEMINI_API_KEY"
        ),
        AuthenticationMethod(
            "anthropic-api-key",
            _("Anthropic API key"),
            _describe("ANTHROPIC_API_KEY"),
            "anthropic",
            "ANTHROPIC_API_KEY",
        ),
        AuthenticationMethod(
            "openai-api-key", _("OpenAI API key"), _describe("OPENAI_API_KEY"), "openai", "OPENAI_API_KEY"
        ),
    ]


def _describe(variable: str) -> str:
    return _("Uses {variable} from the environment, or a key that you enter in your editor", variable=variable)
