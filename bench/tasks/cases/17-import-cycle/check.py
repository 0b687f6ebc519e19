"""Every module can be the first, the graph has no circle, and all names behave as before."""

import ast
import subprocess
import sys
import unittest
from pathlib import Path

PUBLIC = {
    "customers": ("Customer", "find_customer"),
    "orders": ("Order", "UnknownCustomer", "OPEN", "PAID", "place_order"),
    "events": ("LISTENERS", "subscribe", "publish"),
    "audit": ("LIMIT", "TRAIL", "record"),
}


class CycleTest(unittest.TestCase):
    def test_every_module_can_be_first(self) -> None:
        for module in _modules():
            names = PUBLIC.get(module.rpartition(".")[2], ())
            line = f"import {module}" + "".join(f"; {module}.{name}" for name in names)
            done = subprocess.run(
                [sys.executable, "-B", "-c", line], capture_output=True, text=True, check=False, timeout=60
            )
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_circle(self) -> None:
        graph = {module: _imports(path) & set(_modules()) for module, path in _modules().items()}
        while graph:
            leaves = {module for module, targets in graph.items() if not targets & set(graph)}
            self.assertTrue(leaves, f"imports in a circle: {graph}")
            graph = {module: targets for module, targets in graph.items() if module not in leaves}

    def test_imports_are_at_the_top(self) -> None:
        for path in _modules().values():
            tree = ast.parse(path.read_text(encoding="utf-8"))
            top = {id(node) for node in tree.body}
            for node in ast.walk(tree):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    self.assertIn(id(node), top, f"{path}:{node.lineno}")
            text = ast.unparse(tree)
            self.assertNotIn("importlib", text)
            self.assertNotIn("__import__", text)
            self.assertNotIn("sys.modules", text)

    def test_behaviour(self) -> None:
        from crm import audit, customers, events, orders

        seen = list[tuple[str, str]]()
        events.subscribe(lambda kind, text: seen.append((kind, text)))
        ada = customers.Customer("Ada")
        order = orders.place_order([ada], "Ada", 500)
        orders.place_order([ada], "Ada", 70)
        self.assertTrue(order.is_open())
        self.assertEqual(ada.revenue(), 0)
        order.pay()
        ada.rename("Ada L.")
        self.assertEqual((ada.revenue(), order.state, order.customer is ada), (500, orders.PAID, True))
        expected = [("placed", "Ada: 500"), ("placed", "Ada: 70"), ("paid", "Ada: 500"), ("renamed", "Ada -> Ada L.")]
        self.assertEqual(seen, expected)
        self.assertEqual(audit.TRAIL, expected)
        with self.assertRaises(orders.UnknownCustomer):
            orders.place_order([ada], "Bo", 1)
        self.assertTrue(issubclass(orders.UnknownCustomer, LookupError))

    def test_dropped_entries_are_published(self) -> None:
        line = (
            "from crm import audit, events; seen = []; events.subscribe(lambda *event: seen.append(event))\n"
            "for number in range(audit.LIMIT + 1): events.publish('n', str(number))\n"
            "assert seen[-2:] == [('dropped', '51 left'), ('n', '100')], seen[-2:]\n"
            "assert audit.TRAIL[-1] == ('dropped', '51 left'), audit.TRAIL[-1]\n"
            "assert len(audit.TRAIL) == 52 and len(seen) == 102, (len(audit.TRAIL), len(seen))\n"
            "audit.TRAIL.clear(); audit.record('direct', '')\n"
            "assert audit.TRAIL == [('direct', '')] and len(seen) == 102\n"
            "audit.TRAIL.extend([('n', '')] * audit.LIMIT); audit.record('direct', '')\n"
            "assert seen[-1][0] == 'dropped' and len(seen) == 103, seen[-1]\n"
        )
        done = subprocess.run(
            [sys.executable, "-B", "-c", line], capture_output=True, text=True, check=False, timeout=60
        )
        self.assertEqual(done.returncode, 0, done.stderr)


def _modules() -> dict[str, Path]:
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in Path("crm").rglob("*.py")}


def _imports(path: Path) -> set[str]:
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "crm" if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            named = {f"{module}.{alias.name}" for alias in node.names}
            found |= (named & set(_modules())) or {module}
    return found
