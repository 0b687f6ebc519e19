"""Typed access to the fields of a JSON object that Tejat wrote."""

from collections.abc import Sequence
from typing import NoReturn, cast

from tejat.core.messages.types import JsonObject, JsonValue


class JsonFields:
    """A JSON object. Every method, also the constructor, raises ValueError. Unknown fields are ignored."""

    def __init__(self, value: object) -> None:
        if not isinstance(value, dict):
            raise ValueError("There is no object where one must be.")
        self._values = cast("dict[str, JsonValue]", value)

    def has(self, key: str) -> bool:
        return key in self._values

    def value(self, key: str) -> JsonValue:
        """Any value; None if the key is missing, too."""
        return self._values.get(key)

    def string(self, key: str) -> str:
        value = self._values.get(key)
        return value if isinstance(value, str) else self._fail(key)

    def string_or_none(self, key: str) -> str | None:
        return None if self._values.get(key) is None else self.string(key)

    def strings(self, key: str) -> tuple[str, ...]:
        texts = tuple(item for item in self.items(key) if isinstance(item, str))
        return texts if len(texts) == len(self.items(key)) else self._fail(key)

    def integer(self, key: str) -> int:
        value = self._values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else self._fail(key)

    def integer_or_none(self, key: str) -> int | None:
        return None if self._values.get(key) is None else self.integer(key)

    def integers(self, key: str) -> tuple[int, ...]:
        numbers = tuple(item for item in self.items(key) if isinstance(item, int) and not isinstance(item, bool))
        return numbers if len(numbers) == len(self.items(key)) else self._fail(key)

    def number(self, key: str) -> float:
        value = self._values.get(key)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else self._fail(key)

    def number_or_none(self, key: str) -> float | None:
        return None if self._values.get(key) is None else self.number(key)

    def boolean(self, key: str) -> bool:
        value = self._values.get(key)
        return value if isinstance(value, bool) else self._fail(key)

    def items(self, key: str) -> Sequence[JsonValue]:
        value = self._values.get(key)
        return value if isinstance(value, list) else self._fail(key)

    def object(self, key: str) -> JsonObject:
        value = self._values.get(key)
        return value if isinstance(value, dict) else self._fail(key)

    def nested(self, key: str) -> "JsonFields":
        return JsonFields(self._values.get(key))

    def _fail(self, key: str) -> NoReturn:
        raise ValueError(f"The field {key} is missing or of another kind.")
