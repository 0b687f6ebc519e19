"""Each helper of `docs/design/overview.md` exists once, and is used instead of a hand-rolled form."""

import ast
from collections.abc import Iterator

from support.source_tree import modules


def nodes() -> Iterator[tuple[str, ast.AST]]:
    for file, tree in modules().items():
        for node in ast.walk(tree):
            yield file, node


def calls() -> Iterator[tuple[str, ast.Call, str]]:
    """Every call with the last name of what it calls."""
    for file, node in nodes():
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    yield file, node, name
                case _:
                    pass


def at(file: str, node: ast.AST) -> str:
    return f"{file}:{getattr(node, 'lineno', 0)}"


def test_sanitizing() -> None:
    """One line is made by `sanitize_line` or `sanitize_summary`, not by replacing line ends."""
    escapes = [
        at(file, node)
        for file, node in nodes()
        if isinstance(node, ast.Constant) and node.value in ("<U+000A>", "<U+0009>") and file != "core/sanitize.py"
    ]
    rewritten = [
        at(file, call)
        for file, call, name in calls()
        if name in ("replace", "splitlines") or (name == "split" and not call.args)
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Call)
        and isinstance(call.func.value.func, ast.Name)
        and call.func.value.func.id == "sanitize_text"
        and file != "core/sanitize.py"
    ]
    assert escapes + rewritten == []


def test_state_paths() -> None:
    """Files and directories of the program are properties of `AppPaths`."""
    joined = [
        at(file, call)
        for file, call, name in calls()
        if name == "join" and call.args and isinstance(call.args[0], ast.Attribute)
        if call.args[0].attr in ("state", "config") and file != "config/paths.py"
    ]
    hashed = [
        at(file, call)
        for file, call, name in calls()
        if name == "sha256" and "realpath" in ast.dump(call) and file != "config/paths.py"
    ]
    assert joined + hashed == []
