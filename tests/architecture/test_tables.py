"""Tables over an enum have a value for each of its members, so that a lookup cannot fail."""

import ast
from collections.abc import Iterator, Mapping
from enum import Enum
from importlib import import_module

from support.source_tree import LOADED_BY_OTHERS, module_name, modules

# Tables that lack members on purpose, and why these are never looked up.
PARTIAL_TABLES = {
    ("app/extensions/description/server_tools.py", "_LABELS"): "a server whose tools were listed has no label",
    ("app/setup/doctor.py", "_KEY_VARIABLES"): "checked with `in` before",
    ("engine/calls/policy_loader.py", "_TIERS"): "defaults are no rules",
    ("mcp/client.py", "_STEP_ACTIONS"): "only the steps of a connection that have a time limit",
    ("models/openai/request.py", "_NEXT_JSON_MODE"): "checked with `in` before; the last has no next one",
    ("models/openai/request.py", "_NEXT_LIMIT"): "checked with `in` before; the last has no next one",
    ("tools/exit_plan_mode.py", "_MODES"): "a plan is approved for these modes only",
    ("ui/terminal/render/rich_output.py", "_SYSTEMS"): "without colours there is no system of them; checked before",
    ("ui/acp/permissions/elicitation_form.py", "_TYPES"): "looked up for these kinds only",
    ("workspace/paths/glob/wildcard_regex.py", "_PREFIXES"): "checked before",
    ("workspace/sandbox/bubblewrap.py", "_PLACEHOLDER_TEXTS"): "checked with `in` before",
    ("workspace/search/dialects.py", "_FIXED_SYNTAX"): "the others are handled before",
}


def looked_up_tables() -> Iterator[tuple[str, str, Mapping[Enum, object]]]:
    """Every table over an enum that is indexed with something unknown: file, name and table."""
    for file, tree in modules().items():
        if file in LOADED_BY_OTHERS:
            continue
        names = {
            node.value.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
            if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Constant)
        }
        for name in sorted(names - {"list", "dict", "tuple", "set", "type"}):
            table = getattr(import_module(module_name(file)), name, None)
            if isinstance(table, Mapping) and table and all(isinstance(key, Enum) for key in table):
                yield file, name, table


def test_tables_are_complete() -> None:
    found = dict[tuple[str, str], list[str]]()
    for file, name, table in looked_up_tables():
        members = {member for kind in {type(key) for key in table} for member in kind}
        if missing := members - set(table):
            found[file, name] = sorted(map(str, missing))
    assert {place: missing for place, missing in found.items() if place not in PARTIAL_TABLES} == {}
    assert set(PARTIAL_TABLES) <= set(found)


def test_tables_of_the_user_interfaces_are_seen() -> None:
    seen = {name for _, name, _ in looked_up_tables()}
    assert {"_STATE_LABELS", "_RISK_LABELS", "_KIND_LABELS", "_CODE_BY_REASON", "STEP_LABELS"} <= seen
