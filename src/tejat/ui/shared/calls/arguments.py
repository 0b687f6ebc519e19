"""Arguments of a tool call, read without trusting their types."""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from tejat.core.messages.types import Params
from tejat.ui.shared.path_labels import shorten_path
from tejat.ui.shared.text.urls import find_urls

_MAX_VALUE_CHARS = 60


class CallArguments:
    """Arguments as the model sent them, of any type. Paths are shortened, those below `folder` to relative ones."""

    def __init__(self, args: Params, folder: str) -> None:
        self._args = args
        self._folder = folder

    def text(self, *names: str) -> str:
        """Return the first of these arguments that is set."""
        found = next((self._args[name] for name in names if self._args.get(name) is not None), "")
        return found if isinstance(found, str) else _as_json(found)

    def path(self, *names: str) -> str:
        return shorten_path(self.text(*names), folder=self._folder)

    def paths(self, *names: str) -> list[str]:
        """Return a list of paths or patterns; a single one may be given without a list."""
        found = next((self._args[name] for name in names if self._args.get(name)), None)
        if not isinstance(found, list | tuple):
            return list(filter(None, [self.path(*names)]))
        return [shorten_path(str(each), folder=self._folder) for each in cast("Sequence[object]", found)]

    def number(self, name: str) -> int | None:
        found = self._args.get(name)
        return int(found) if isinstance(found, int | float) and abs(found) < 1e15 else None

    def is_set(self, name: str) -> bool:
        return self._args.get(name) is True

    def members(self, name: str, key: str) -> list[str]:
        """Return the texts under a key of each object in a list."""
        found = self._args.get(name)
        objects = cast("Sequence[object]", found) if isinstance(found, list | tuple) else ()
        values = (cast("Mapping[str, object]", each).get(key) for each in objects if isinstance(each, Mapping))
        return [value for value in values if isinstance(value, str)]

    def urls(self, *names: str) -> list[str]:
        """Return the addresses in a text, each once."""
        return list(dict.fromkeys(url for _place, url in find_urls(self.text(*names))))

    def summary(self) -> str:
        """Return all arguments as `name=value`, long values shortened."""
        return ", ".join(f"{name}={_short_value(value)}" for name, value in self._args.items())


def _short_value(value: object) -> str:
    text = _as_json(value)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}..."


def _as_json(given: object) -> str:
    try:
        return json.dumps(given, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(given)
