"""The input schema of a server's tool as models are told it: whole in itself, bounded, of words that all of them take.

What is left out here still counts: the arguments of a call are checked against the schema that the server gave. What
only one service cannot take is left to its client in `models/`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast
from urllib.parse import unquote

from tejat.core.i18n import gettext_lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_text, strip_hidden

MAX_CHARACTERS = 64 * 1024
MAX_DEPTH = 32
"""Levels of properties, items and choices within each other."""

_Cleaned = dict[str, JsonValue]

_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean"})
_STRING_FORMATS = ("enum", "date-time")
_NUMBER_KEYWORDS = frozenset(
    [
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"),
    ]
)
_TEXT_KEYWORDS = frozenset({"title", "description"})
_RECURSIVE_NOTE = "(this part repeats itself; what it holds is not told again)"


def schema_for_model(schema: JsonObject | None, *, tool: str) -> JsonObject | str:
    """The schema for models, or, as a text, why there is none. The given one is not changed. Raises nothing.

    The result is always that of an object with `properties`, and has no choice at its top: those of the given one are
    told as one object that holds the properties of all.
    """
    if schema is None:
        return {"type": "object", "properties": {}}
    try:
        told = _as_parameters(_Cleaner(schema).clean(schema, depth=0, parents=frozenset({"#"})))
        if len(dump_json(told)) > MAX_CHARACTERS:
            raise _UnsupportedSchema(_TOO_LONG)
    except _UnsupportedSchema as hopeless:
        return gettext_lazy(
            "The tool {tool} was left out, because its parameters cannot be told to a model: {why}.",
            tool=tool,
            why=hopeless,
        )
    except RecursionError:
        return gettext_lazy(
            "The tool {tool} was left out, because its parameters cannot be told to a model: {why}.",
            tool=tool,
            why=_TOO_DEEP,
        )
    return told


_TOO_LONG = gettext_lazy("they take more than {most} KiB", most=MAX_CHARACTERS // 1024)
_TOO_DEEP = gettext_lazy("they are nested deeper than {deepest} levels", deepest=MAX_DEPTH)


class _UnsupportedSchema(Exception):
    """The tool cannot be told to a model; the message says why."""


class _Cleaner:
    """Cleans the parts of one document. `within` holds the references that lead to the part, so that none repeats."""

    def __init__(self, document: JsonObject) -> None:
        self._document = document
        self._budget = MAX_CHARACTERS

    def clean(self, given: JsonValue, *, depth: int, parents: frozenset[str]) -> _Cleaned:
        """Raises _Hopeless. What is no schema says nothing, as `true` does."""
        if depth > MAX_DEPTH:
            raise _UnsupportedSchema(_TOO_DEEP)
        self._spend(2)
        if not isinstance(given, Mapping):
            return {}
        types, is_nullable = _schema_types(given)
        kept = self._plain(given)
        if is_nullable:
            kept["nullable"] = True
        if "object" in types:
            kept |= self._object(given, depth, parents)
        if "array" in types:
            kept["items"] = self._items(given, depth, parents)
        if len(types) == 1:
            kept["type"] = types[0]
        for branch in self._all_of(given, depth, parents):
            _merge(kept, branch)
        choices = self._choices(given, depth, parents)
        if len(types) > 1 and not choices:
            choices = [_split_type(kept, each) for each in types]
        if choices:
            # What a choice would be by default, some services take for a mistake.
            kept.pop("default", None)
            _merge(kept, _choice(choices))
        return kept

    def _plain(self, node: JsonObject) -> _Cleaned:
        """Everything that holds no other schema."""
        kept: _Cleaned = {}
        for name in ("title", "description"):
            words = node.get(name)
            if isinstance(words, str) and (shown := strip_hidden(words).strip()):
                kept[name] = shown
        for name, number in node.items():
            if name in _NUMBER_KEYWORDS and isinstance(number, int | float) and not isinstance(number, bool):
                kept[name] = number
        if node.get("uniqueItems") is True:
            kept["uniqueItems"] = True
        pattern, form = node.get("pattern"), node.get("format")
        if isinstance(pattern, str) and _is_visible(pattern):
            kept["pattern"] = pattern
        if isinstance(form, str) and (form in _STRING_FORMATS or node.get("type") in ("integer", "number")):
            kept["format"] = form
        kept |= _enumeration(node)
        if node.get("default") is not None and _is_visible(dump_json(node["default"])):
            kept["default"] = node["default"]
        if kept:
            self._spend(len(dump_json(kept)))
        return kept

    def _object(self, node: JsonObject, depth: int, parents: frozenset[str]) -> _Cleaned:
        properties: _Cleaned = {}
        given = node.get("properties")
        for name, inner in given.items() if isinstance(given, Mapping) else ():
            if not name or not _is_visible(name):
                raise _UnsupportedSchema(gettext_lazy('a parameter is called "{name}"', name=sanitize_text(name)[:80]))
            if inner is not False:
                self._spend(len(name) + 4)
                properties[name] = _drop_redundant_title(name, self.clean(inner, depth=depth + 1, parents=parents))
        required = _strings(node.get("required"))
        for name in required:
            # One that nobody described must be given all the same.
            if name and _is_visible(name):
                properties.setdefault(name, {})
        kept: _Cleaned = {"properties": properties}
        known = list(dict.fromkeys(name for name in required if name in properties))
        return {**kept, "required": known} if known else kept

    def _items(self, node: JsonObject, depth: int, parents: frozenset[str]) -> _Cleaned:
        """What a list holds. Of one with a schema for each place just the choice is told: few services know more."""
        items = node.get("items")
        each = [*_as_list(node.get("prefixItems")), *_as_list(items)]
        if isinstance(items, Mapping):
            each.append(items)
        return _choice(self.clean(one, depth=depth + 1, parents=parents) for one in each)

    def _all_of(self, node: JsonObject, depth: int, parents: frozenset[str]) -> list[_Cleaned]:
        """What else holds for the same thing: the target of a reference, and every part of `allOf`."""
        branches: list[_Cleaned] = []
        reference = node.get("$ref")
        if isinstance(reference, str):
            place = reference.rstrip("/") or "#"
            target = self._target(place)
            if place in parents:
                branches.append(_recursive_placeholder(target))
            else:
                branches.append(self.clean(target, depth=depth + 1, parents=parents | {place}))
        return branches + [
            self.clean(branch, depth=depth + 1, parents=parents) for branch in _as_list(node.get("allOf"))
        ]

    def _choices(self, node: JsonObject, depth: int, parents: frozenset[str]) -> list[_Cleaned]:
        given = _as_list(node.get("anyOf")) or _as_list(node.get("oneOf"))
        return [self.clean(branch, depth=depth + 1, parents=parents) for branch in given if branch is not False]

    def _target(self, place: str) -> JsonValue:
        """What a reference within the document leads to; None where it leads nowhere, or out of the document."""
        if place != "#" and not place.startswith("#/"):
            return None
        found: JsonValue = self._document
        for step in place[1:].split("/")[1:]:
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping):
                found = cast("JsonObject", found).get(name)
            else:
                place_in_list = int(name) if re.fullmatch("[0-9]{1,6}", name) else -1
                found = next((one for number, one in enumerate(_as_list(found)) if number == place_in_list), None)
        return found

    def _spend(self, characters: int) -> None:
        """References can make a small document endless."""
        self._budget -= characters
        if self._budget < 0:
            raise _UnsupportedSchema(_TOO_LONG)


def _schema_types(node: JsonObject) -> tuple[list[str], bool]:
    """The types that it names or that it must mean, without null, and whether it may be null."""
    told = node.get("type")
    names = [name.lower() for name in ([told] if isinstance(told, str) else _strings(told))]
    is_nullable = "null" in names or node.get("nullable") is True or _allows_only_null(node)
    types = list(dict.fromkeys(name for name in names if name in _TYPES))
    if not types and "null" not in names:
        if isinstance(node.get("properties"), Mapping):
            return ["object"], is_nullable
        if isinstance(node.get("items"), Mapping) or _as_list(node.get("prefixItems")):
            return ["array"], is_nullable
    return types, is_nullable


def _allows_only_null(node: JsonObject) -> bool:
    return ("const" in node and node["const"] is None) or None in _as_list(node.get("enum"))


def _enumeration(node: JsonObject) -> _Cleaned:
    """The values to choose from, where they are texts or numbers that can be seen, with their type if none is told."""
    given = [node["const"]] if "const" in node else _as_list(node.get("enum"))
    values = [each for each in given if isinstance(each, str | int | float) and not isinstance(each, bool)]
    if len(values) + sum(each is None for each in given) < len(given):
        return {}
    seen = [each for each in dict.fromkeys(values) if not isinstance(each, str) or _is_visible(each)]
    if not seen:
        return {}
    if isinstance(node.get("type"), str | list):
        return {"enum": seen}
    if all(isinstance(each, str) for each in seen):
        return {"type": "string", "enum": seen}
    return {"enum": seen} if any(isinstance(each, str) for each in seen) else {"type": "number", "enum": seen}


def _drop_redundant_title(name: str, cleaned: _Cleaned) -> _Cleaned:
    """Many servers give each parameter a title that is just its name once more, and every request would pay for it."""
    title = cleaned.get("title")
    if isinstance(title, str) and _letters(title) == _letters(name):
        del cleaned["title"]
    return cleaned


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def _recursive_placeholder(target: JsonValue) -> _Cleaned:
    """What stands for a part that holds itself."""
    types = _schema_types(target)[0] if isinstance(target, Mapping) else []
    known: _Cleaned = {"type": types[0]} if len(types) == 1 else {}
    match known.get("type"):
        case "object":
            known["properties"] = {}
        case "array":
            known["items"] = {}
        case _:
            pass
    return {**known, "description": _RECURSIVE_NOTE}


def _split_type(kept: _Cleaned, type_name: str) -> _Cleaned:
    """Of what was said for several types, the part that is about one of them, which moves there."""
    told: _Cleaned = {"type": type_name}
    for name in ("properties", "required") if type_name == "object" else ("items",) if type_name == "array" else ():
        if name in kept:
            told[name] = kept.pop(name)
    return told


def _merge(kept: _Cleaned, other: _Cleaned) -> None:
    """Add what else holds for the same thing. What is there already has precedence; properties are put together."""
    if other.get("description") == _RECURSIVE_NOTE and "description" in kept:
        kept["description"] = f"{kept['description']} {_RECURSIVE_NOTE}"
    if isinstance(other.get("properties"), dict) and isinstance(kept.get("properties"), dict):
        kept["properties"] = {
            **cast("_Cleaned", other["properties"]),
            **cast("_Cleaned", kept["properties"]),
        }
    if "required" in other and "required" in kept:
        kept["required"] = list(dict.fromkeys([*_strings(kept["required"]), *_strings(other["required"])]))
    for name, inner in other.items():
        kept.setdefault(name, inner)


def _choice(branches: Iterable[_Cleaned]) -> _Cleaned:
    """One of these. A choice in which anything goes says nothing; one that is no choice is what it holds."""
    different: list[_Cleaned] = []
    is_nullable = False
    for branch in branches:
        said = branch.keys() - _TEXT_KEYWORDS
        if not said:
            return {}
        is_nullable = is_nullable or branch.get("nullable") is True
        if said != {"nullable"} and branch not in different:
            different.append(branch)
    chosen = different[0] if len(different) == 1 else _merge_enumerations(different)
    if chosen is None:
        chosen = cast("_Cleaned", {"anyOf": different}) if different else {}
    return {**chosen, "nullable": True} if is_nullable else chosen


def _merge_enumerations(branches: Sequence[_Cleaned]) -> _Cleaned | None:
    """Single values to choose from, told together; None where there is more to them."""
    if not all(branch.keys() == {"type", "enum"} and branch["type"] == branches[0]["type"] for branch in branches):
        return None
    values = dict.fromkeys(each for branch in branches for each in cast("list[str | float]", branch["enum"]))
    return {"type": branches[0]["type"], "enum": list(values)} if values else None


def _as_parameters(root: _Cleaned) -> _Cleaned:
    """The top of a schema as that of an object; a choice between objects becomes one with the properties of all."""
    if root.get("type", "object") != "object":
        return {"type": "object", "properties": {}}
    own = root.get("properties")
    properties = dict(own) if isinstance(own, dict) else {}
    told: dict[str, list[_Cleaned]] = {}
    required = _strings(root.get("required"))
    branches = [branch for branch in _as_list(root.get("anyOf")) if isinstance(branch, dict) and "properties" in branch]
    for branch in branches:
        for name, inner in cast("dict[str, _Cleaned]", branch["properties"]).items():
            told.setdefault(name, []).append(inner)
    for name, inners in told.items():
        properties.setdefault(name, _choice(inners))
        if name not in required and all(name in _strings(branch.get("required")) for branch in branches):
            required.append(name)
    kept: _Cleaned = {"type": "object"}
    if "description" in root:
        kept["description"] = root["description"]
    kept["properties"] = properties
    return {**kept, "required": required} if required else kept


def _is_visible(text: str) -> bool:
    return sanitize_text(text) == text


def _as_list(given: JsonValue) -> list[JsonValue]:
    return given if isinstance(given, list) else []


def _strings(given: JsonValue) -> list[str]:
    return [each for each in _as_list(given) if isinstance(each, str)]
