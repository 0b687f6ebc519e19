"""Short declarations: every built-in tool stays callable with fewer words."""

from tejat.app.tools.listed_tools import builtin_registry
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.tokens import estimate_declaration_tokens
from tejat.engine.loop.lean_declarations import LEAN_TOOLS, shorten_declaration


def test_built_in_tools() -> None:
    entries = {entry.name: entry.declaration for entry in builtin_registry().entries()}
    assert set(LEAN_TOOLS) <= entries.keys()
    for declaration in entries.values():
        short = shorten_declaration(declaration)
        assert short.name == declaration.name
        assert 10 < len(short.description) <= 160
        schema, properties = short.parameters_json_schema, short.parameters_json_schema["properties"]
        assert isinstance(properties, dict)
        assert schema["required"] == declaration.parameters_json_schema["required"]
        assert properties.keys() >= set(schema["required"])  # pyright: ignore[reportArgumentType]
    total = sum(estimate_declaration_tokens(shorten_declaration(entries[name])) for name in LEAN_TOOLS)
    assert total < 1000


def test_strange_schemas() -> None:
    plain = FunctionDeclaration("x", "One sentence without end " * 20, {"type": "object"})
    short = shorten_declaration(plain)
    assert (len(short.description), short.description[-1]) == (160, "…")
    odd = FunctionDeclaration("x", "", {"properties": {"a": True, "b": {"description": 1}, "c": {}}, "required": ["c"]})
    properties = shorten_declaration(odd).parameters_json_schema["properties"]
    assert properties == {"a": True, "b": {"description": 1}, "c": {}}
