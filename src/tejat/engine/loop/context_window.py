"""The context window of the model in use, and how much of it a request may take."""

from tejat.core.i18n import lazy
from tejat.core.model import ContextOverflow, FailureKind, ModelClient, ModelFailure

LEAN_WINDOW = 8_192
"""Up to this window the lean profile is used: a short system prompt and few tools."""

SMALL_WINDOW = 32_768
"""Up to this window old tool results are left out before the conversation is summarised."""

_ANSWER_SHARE = 5
_MAX_ANSWER_TOKENS = 8_192
_FIRST_SCALE = 1.4
_SAFETY = 1.1
_MIN_SCALE, _MAX_SCALE = 0.8, 4.0
_MIN_COMPARED_TOKENS = 200
_OVERFLOW_SHARE = 0.8
_MIN_OVERFLOW_TOKENS = 1_000


class ContextTooSmall(ModelFailure):
    """A request that cannot be made short enough for the model. It has not been sent."""


class ContextWindow:
    """The window in tokens of the model, and its room in estimated tokens.

    Tokenizers differ, so estimates are corrected by what the service has counted. The window itself is what the model
    client says, until the service refuses a request and says another one.
    """

    def __init__(self) -> None:
        self._model: ModelClient | None = None
        self._stated = 0
        self._scale = _FIRST_SCALE

    def size(self, model: ModelClient) -> int:
        """Return the number of tokens of a request and its answer together."""
        self._use(model)
        return min(self._stated or model.context_window, model.context_window)

    def room(self, model: ModelClient) -> int:
        """Return how many estimated tokens a request may have, so that there is room for an answer."""
        size = self.size(model)
        return max(0, int((size - answer_tokens(size)) / self._scale))

    def is_small(self, model: ModelClient) -> bool:
        return self.size(model) <= SMALL_WINDOW

    def to_tokens(self, estimated: int) -> int:
        """Return the probable number of tokens of the model for an estimate."""
        return int(estimated * self._scale)

    def learn_count(self, model: ModelClient, estimated: int, counted: int) -> None:
        """Compare an estimate with the count of the service."""
        self._use(model)
        if estimated >= _MIN_COMPARED_TOKENS and counted:
            self._scale = min(max(_SAFETY * counted / estimated, _MIN_SCALE), _MAX_SCALE)

    def learn_overflow(self, model: ModelClient, estimated: int, overflow: ContextOverflow) -> None:
        """Learn from a request that was too long."""
        self._use(model)
        if overflow.tokens and estimated:
            self._scale = min(max(self._scale, _SAFETY * overflow.tokens / estimated), _MAX_SCALE)
        if overflow.window:
            self._stated = overflow.window
        elif estimated >= _MIN_OVERFLOW_TOKENS:
            # It is only known that the window is smaller than what was sent.
            self._stated = int(_OVERFLOW_SHARE * min(self.size(model), self.to_tokens(estimated)))

    def too_small(self, model: ModelClient, estimated: int) -> ContextTooSmall:
        """Return the failure for a request of this size."""
        message = lazy(
            "This request needs about {tokens:,} tokens, but the context window of {model} is "
            "{window:,} tokens, including the response. Send a shorter prompt, declare fewer tools "
            '("tools": {{"core": ["read_file", "replace"]}} in settings.json), or start the server '
            "with a larger window (llama.cpp: --ctx-size 16384, Ollama: OLLAMA_CONTEXT_LENGTH=16384, "
            "vLLM: --max-model-len 16384).",
            tokens=self.to_tokens(estimated),
            model=model.name,
            window=self.size(model),
        )
        return ContextTooSmall(message, FailureKind.CONTEXT_FULL)

    def _use(self, model: ModelClient) -> None:
        """Forget what is known of another model."""
        if self._model is not model:
            self._model, self._stated, self._scale = model, 0, _FIRST_SCALE


def is_lean_window(window: int) -> bool:
    """Return whether the lean profile is used for a window. A model without a window has no limit."""
    return 0 < window <= LEAN_WINDOW


def answer_tokens(window: int) -> int:
    """Return the number of tokens of a window to leave for an answer."""
    return min(window // _ANSWER_SHARE, _MAX_ANSWER_TOKENS)
