"""The name of the block that a line opens."""

import pytest

from tejat.tools.edit.match.block_names import find_block_name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def total(items):", ["total"]),
        ("    async def total(items):", ["total"]),
        ("export default class Foo extends Bar {", ["Foo"]),
        ("func (r *Reader) Next() error {", ["Next"]),
        ('  "es": {', ["es"]),
        ("en:", ["en"]),
        ("const routes = [", ["routes"]),
        (".btn-pink {", ["btn", "pink"]),
        ("  render(props) {", ["render"]),
        ("static int count_of(int a, int b) {", ["count_of"]),
        ('<Foo id="a">', ["Foo"]),
        ("case A.B:", ["A", "B"]),
        ("[tool.ruff]", ["tool", "ruff"]),
        ("CREATE TABLE IF NOT EXISTS users (", ["users"]),
        ("it('adds two numbers', () => {", ["adds", "two", "numbers"]),
        ('input[type="text"] {', ["input", "type", "text"]),
        ("['c', 'a', 'f']", []),
        ("if (x) {", []),
        ("} else if (x) {", []),
        ("for x in items:", []),
        ('"""Base class for all."""', []),
        ("total = sum(items)", []),
        ("return {", []),
        ("}", []),
        ("", []),
        (f"def {'a' * 500}():", []),
    ],
)
def test_name(line: str, name: list[str]) -> None:
    assert find_block_name(line) == name
