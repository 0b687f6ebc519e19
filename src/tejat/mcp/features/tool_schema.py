"""Input schemas of MCP tools for models: self-contained, bounded, and limited to widely supported keywords.

Arguments are still validated against the server's schema. Restrictions of a single service are left to its client in
`models/`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast
from urllib.parse import unquote

from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_text, strip_hidden

MAX_CHARACTERS = 64 * 1024
MAX_DEPTH = 32
"""Nesting of properties, items and alternatives."""

_Cleaned = dict[str, JsonValue]

_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean"})
_STRING_FORMATS = ("enum", "date-time")
_NUMBER_KEYWORDS = frozenset(
    [
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"),
    ]
)
_EMPTY_CONTENT: dict[str, JsonObject] = {"object": {"properties": {}}, "array": {"items": {}}}
_TEXT_KEYWORDS = frozenset({"title", "description"})
_RECURSIVE_NOTE = "(this part repeats itself; what it holds is not told again)"


def schema_for_model(schema: JsonObject | None, *, tool: str) -> JsonObject | str:
    """Return the schema for models or, as a text, why there is none. The given one is not changed. Never raises.

    The result is always an object with `properties` and without alternatives at the top level: those are merged.
    """
    if schema is None:
        return {"type": "object", "properties": {}}
    try:
        cleaned = _as_parameters(_Cleaner(schema).clean(schema, depth=0, parents=frozenset({"#"})))
        if len(dump_json(cleaned)) > MAX_CHARACTERS:
            raise _UnsupportedSchema(_TOO_LONG)
    except (_UnsupportedSchema, RecursionError) as hopeless:
        return lazy(
            "Skipped tool {tool}: its parameters cannot be sent to a model: {why}.",
            tool=tool,
            why=_TOO_DEEP if isinstance(hopeless, RecursionError) else hopeless,
        )
    return cleaned


_TOO_LONG = lazy("larger than {most} KiB", most=MAX_CHARACTERS // 1024)
_TOO_DEEP = lazy("nested more than {deepest} levels deep", deepest=MAX_DEPTH)


class _UnsupportedSchema(Exception):
    """The schema cannot be used; the message says why."""


class _Cleaner:
    """Cleans one document. `parents` are the references that lead to the part, to detect recursion."""

    def __init__(self, document: JsonObject) -> None:
        self._document = document
        self._budget = MAX_CHARACTERS

    def clean(self, given: JsonValue, *, depth: int, parents: frozenset[str]) -> _Cleaned:
        """Clean a schema. Anything but an object allows everything. Raises _UnsupportedSchema."""
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
            # Some services reject a default beside alternatives.
            kept.pop("default", None)
            _merge(kept, _choice(choices))
        return kept

    def _plain(self, node: JsonObject) -> _Cleaned:
        """Return the keywords without subschemas."""
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
                raise _UnsupportedSchema(lazy('a parameter is named "{name}"', name=sanitize_text(name)[:80]))
            if inner is not False:
                self._spend(len(name) + 4)
                properties[name] = _drop_redundant_title(name, self.clean(inner, depth=depth + 1, parents=parents))
        required = _strings(node.get("required"))
        for name in required:
            # Required, though not described.
            if name and _is_visible(name):
                properties.setdefault(name, {})
        kept: _Cleaned = {"properties": properties}
        known = list(dict.fromkeys(name for name in required if name in properties))
        return {**kept, "required": known} if known else kept

    def _items(self, node: JsonObject, depth: int, parents: frozenset[str]) -> _Cleaned:
        """Return the item schema; tuples become alternatives, as few services support more."""
        items = node.get("items")
        each = [*_as_list(node.get("prefixItems")), *_as_list(items)]
        if isinstance(items, Mapping):
            each.append(items)
        return _choice(self.clean(one, depth=depth + 1, parents=parents) for one in each)

    def _all_of(self, node: JsonObject, depth: int, parents: frozenset[str]) -> list[_Cleaned]:
        """Return the schemas that also apply: the target of a reference, and the members of `allOf`."""
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
        """Resolve a reference within the document; None if it leads nowhere or outside."""
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
        """Count characters: references can make a small document endless."""
        self._budget -= characters
        if self._budget < 0:
            raise _UnsupportedSchema(_TOO_LONG)


def _schema_types(node: JsonObject) -> tuple[list[str], bool]:
    """Return the declared or implied types without null, and whether null is allowed."""
    declared = node.get("type")
    names = [name.lower() for name in ([declared] if isinstance(declared, str) else _strings(declared))]
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
    """Return visible enum values that are strings or numbers, with their type if none is declared."""
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
    """Drop a title that repeats the name, as many servers add: every request would pay for it."""
    title = cleaned.get("title")
    if isinstance(title, str) and _letters(title) == _letters(name):
        del cleaned["title"]
    return cleaned


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def _recursive_placeholder(target: JsonValue) -> _Cleaned:
    """Return the placeholder for a recursive part."""
    types = _schema_types(target)[0] if isinstance(target, Mapping) else []
    known = {"type": types[0], **_EMPTY_CONTENT.get(types[0], {})} if len(types) == 1 else {}
    return {**known, "description": _RECURSIVE_NOTE}


def _split_type(kept: _Cleaned, type_name: str) -> _Cleaned:
    """Move the keywords of one type out of those for several types."""
    moved: _Cleaned = {"type": type_name}
    for name in ("properties", "required") if type_name == "object" else ("items",) if type_name == "array" else ():
        if name in kept:
            moved[name] = kept.pop(name)
    return moved


def _merge(kept: _Cleaned, other: _Cleaned) -> None:
    """Merge what also applies. Existing keywords win; properties are combined."""
    if other.get("description") == _RECURSIVE_NOTE and "description" in kept:
        kept["description"] = f"{kept['description']} {_RECURSIVE_NOTE}"
    if isinstance(other.get("properties"), dict) and isinstance(kept.get("properties"), dict):
        kept["properties"] = {**cast("_Cleaned", other["properties"]), **cast("_Cleaned", kept["properties"])}
    if "required" in other and "required" in kept:
        kept["required"] = list(dict.fromkeys([*_strings(kept["required"]), *_strings(other["required"])]))
    for name, inner in other.items():
        kept.setdefault(name, inner)


def _choice(branches: Iterable[_Cleaned]) -> _Cleaned:
    """Return alternatives. With an unrestricted one there is no restriction; a single one stands for itself."""
    different: list[_Cleaned] = []
    is_nullable = False
    for branch in branches:
        keywords = branch.keys() - _TEXT_KEYWORDS
        if not keywords:
            return {}
        is_nullable = is_nullable or branch.get("nullable") is True
        if keywords != {"nullable"} and branch not in different:
            different.append(branch)
    chosen = different[0] if len(different) == 1 else _merge_enumerations(different)
    if chosen is None:
        chosen = cast("_Cleaned", {"anyOf": different}) if different else {}
    return {**chosen, "nullable": True} if is_nullable else chosen


def _merge_enumerations(branches: Sequence[_Cleaned]) -> _Cleaned | None:
    """Merge enumerations; None if there is more to them."""
    if not all(branch.keys() == {"type", "enum"} and branch["type"] == branches[0]["type"] for branch in branches):
        return None
    values = dict.fromkeys(each for branch in branches for each in cast("list[str | float]", branch["enum"]))
    return {"type": branches[0]["type"], "enum": list(values)} if values else None


def _as_parameters(root: _Cleaned) -> _Cleaned:
    """Return the top level as an object; alternatives are merged into one with the properties of all."""
    if root.get("type", "object") != "object":
        return {"type": "object", "properties": {}}
    own = root.get("properties")
    properties = dict(own) if isinstance(own, dict) else {}
    alternatives: dict[str, list[_Cleaned]] = {}
    required = _strings(root.get("required"))
    branches = [branch for branch in _as_list(root.get("anyOf")) if isinstance(branch, dict) and "properties" in branch]
    for branch in branches:
        for name, inner in cast("dict[str, _Cleaned]", branch["properties"]).items():
            alternatives.setdefault(name, []).append(inner)
    for name, inners in alternatives.items():
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
