"""The same output and errors as before for many inputs, in short functions."""

import ast
import importlib.util
import inspect
import random
import unittest
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import statement

ORIGINAL = Path(__file__).parent / "files" / "statement.py"
WORDS = ("rent", "fee", "refund", "a", "extraordinarily-long-word-without-end", "Straße", "  ", "\t", "of", "tea")


def load_original() -> Callable[..., str]:
    spec = importlib.util.spec_from_file_location("original_statement", ORIGINAL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.render_statement


class StatementTest(unittest.TestCase):
    def test_same_results(self) -> None:
        original, chance = load_original(), random.Random(5)
        kinds = set[str]()
        for number in range(1500):
            arguments, options = _random_input(chance)
            expected = _outcome(original, arguments, options)
            with self.subTest(number):
                self.assertEqual(_outcome(statement.render_statement, arguments, options), expected)
            kinds.add(expected.partition(":")[0] if expected.startswith("ValueError") else "text")
        self.assertEqual(kinds, {"text", "ValueError"})

    def test_signature(self) -> None:
        self.assertEqual(inspect.signature(statement.render_statement), inspect.signature(load_original()))

    def test_functions_are_short(self) -> None:
        tree = ast.parse(Path("statement.py").read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
        self.assertEqual({name: length for name, length in lengths.items() if length > 20}, {})
        self.assertEqual({node.name for node in functions if _depth(node.body) > 3}, set())
        self.assertNotIn("exec", {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})


def _depth(body: list[ast.stmt]) -> int:
    blocks = (ast.For, ast.While, ast.If, ast.With, ast.Try)
    return max((_depth_of(node) for node in body if isinstance(node, blocks)), default=0)


def _depth_of(node: Any) -> int:
    inside = [*node.body, *getattr(node, "finalbody", ())]
    for handler in getattr(node, "handlers", ()):
        inside += handler.body
    rest = getattr(node, "orelse", [])
    chained = isinstance(node, ast.If) and len(rest) == 1 and isinstance(rest[0], ast.If)
    return max(1 + _depth(inside), _depth(rest) if chained else 1 + _depth(rest))


def _random_input(chance: random.Random) -> tuple[tuple[Any, ...], dict[str, Any]]:
    day, entries = date(2026, 1, 30), []
    for _ in range(chance.randrange(7)):
        day += timedelta(days=chance.choice((0, 0, 0, 1, 3, 3, 3, -1 if chance.random() < 0.1 else 0)))
        text = " ".join(chance.choices(WORDS, k=chance.randrange(1, 9)))
        entries.append((day, text, chance.choice((0, 1, -1, 99, -100, 123456789, -123456))))
    options = {
        "opening": chance.choice((0, 0, 1, -1, -500, 10**9)),
        "currency": chance.choice(("EUR", "Fr.")),
        "group": chance.random() < 0.6,
    }
    given = {name: value for name, value in options.items() if chance.random() < 0.8}
    return (chance.choice(("Ada", "", "x" * 60, "Müller & Söhne")), entries), given


def _outcome(function: Callable[..., str], arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
    try:
        return function(*arguments, **options)
    except Exception as error:  # noqa: BLE001 - whatever the original raises is what is expected
        return f"{type(error).__name__}: {error}"
