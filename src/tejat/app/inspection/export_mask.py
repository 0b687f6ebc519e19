"""Masking of secrets in a conversation that leaves this machine, with a count of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from tejat.config.env_expansion import is_secret
from tejat.core.frozen import replace
from tejat.core.messages.history import Message
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JsonObject,
    JsonValue,
    MessagePart,
    Opaque,
    Params,
    Text,
    Thought,
)
from tejat.core.text.secret_mask import MASK, replace_tokens
from tejat.engine.calls.secret_mask import SecretMask

# A name and a long value, as in settings, environments, JSON and code. The name decides whether it is a secret.
_ASSIGNMENT = (
    r"\b([A-Za-z][\w-]{2,60})[\"']?[ \t]{0,3}(?:=|:=|:)[ \t]{0,3}[\"']?([A-Za-z0-9+/=_~-]{16,500})(?![\w(.\[])"
)
_MIN_VALUE_CHARS = 16
_MIN_DIGITS = 2


class ExportMask:
    """Masks the user's own secrets, tokens of well-known shapes, and values whose names say that they are secret."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._own = SecretMask(secrets)
        self.count = 0
        """How many secrets were masked."""

    def mask_text(self, text: str) -> str:
        rest = text
        for secret in self._own.secrets:
            if secret in rest:
                self.count += rest.count(secret)
                rest = rest.replace(secret, "")
        text, count = replace_tokens(self._own.mask_text(text))
        self.count += count
        return re.sub(_ASSIGNMENT, self._mask_assignment, text) if "=" in text or ":" in text else text

    def mask_messages(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        return tuple(Message(message.role, tuple(map(self._mask_part, message.parts))) for message in messages)

    def _mask_part(self, part: MessagePart) -> MessagePart:
        match part:
            case Text(text) | Thought(text):
                return replace(part, text=self.mask_text(text))
            case FunctionCall(_name, args):
                return replace(part, args=cast("Params", self._mask_object(cast("JsonObject", args))))
            case FunctionResponse(_name, response):
                return replace(part, response=self._mask_object(response))
            case FileData(_type, file_uri):
                return replace(part, file_uri=self.mask_text(file_uri))
            case Opaque(_vendor, value):
                return replace(part, value=self._mask_object(value))
            case InlineData():
                return part

    def _mask_object(self, value: JsonObject) -> JsonObject:
        return {self.mask_text(key): self._mask_json(inner, key) for key, inner in value.items()}

    def _mask_json(self, value: JsonValue, key: str = "") -> JsonValue:
        match value:
            case str():
                return self._mask_value(key, value)
            case Mapping():
                return self._mask_object(value)
            case Sequence():
                return [self._mask_json(inner, key) for inner in value]
            case _:
                return value

    def _mask_value(self, key: str, value: str) -> str:
        if key and _is_key(key, value):
            self.count += 1
            return MASK
        return self.mask_text(value)

    def _mask_assignment(self, found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if not _is_key(name, value):
            return found[0]
        self.count += 1
        return found[0].replace(value, MASK)


def _is_key(name: str, value: str) -> bool:
    """Whether a value looks random, and its name says that it is secret."""
    if len(value) < _MIN_VALUE_CHARS or value.isdigit() or sum(map(str.isdigit, value)) < _MIN_DIGITS:
        return False
    is_one_word = re.fullmatch(r"[\x21-\x7e]+", value) is not None
    return is_one_word and is_secret(name.replace("-", "_"), "")
