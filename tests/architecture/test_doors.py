"""Heavy things come in through named doors, and importing a module does nothing."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tejat"

# The only files whose functions may import.
DOORS = {
    "__init__.py",  # public names
    "app/commands/registry.py",  # the command meant
    "app/session/interactive.py",  # a person runs a command themselves
    "app/tools/external_tools.py",  # tools of others are looked for, in the background
    "app/model_source.py",  # a run is written down or played again
    "app/session/prompt_expansion.py",  # a command is called
    "app/tools/tool_services.py",  # a part of the ground in use
    "app/inspection.py",  # a room in use
    "app/plugins/discovery.py",  # there is a plug-in to load
    "app/tools/toolset.py",  # tools in use
    "cli/run.py",  # what is wanted of a model
    "cli/headless.py",  # the output wanted
    "ui/terminal/app.py",  # somebody is asked
    "models/__init__.py",  # the service in use
    "ui/plain/approver.py",  # somebody is asked
    "cli/interactive.py",  # a screen to draw on, or the demo
    "cli/language.py",  # there is a catalogue to read
    "cli/main.py",  # the command meant
    "cli/startup.py",  # a person has no model yet
    "cli/mcp/main.py",  # the command meant
    "cli/tools/main.py",  # the command meant
    "config/custom_commands.py",  # there is a command to read
    "config/settings/file.py",  # there are settings to read
    "core/tools/base.py",  # a schema that somebody else wrote
    "mcp/features/tool.py",  # a schema that somebody else wrote
    "config/trust/decision.py",  # the folder brings something along
    "config/trust/store.py",  # there is a store to read or to write
    "core/tools/schema.py",  # a dataclass of somebody else's
    "models/http_errors.py",  # a service names a date
    "mcp/oauth/credentials.py",  # somebody logs in, or a token has run out
    "models/gemini/vertex.py",  # credentials are wanted
    "engine/calls/call_facts.py",  # a shell line is judged
    "ui/terminal/render/highlight.py",  # code in a language with colours
    "engine/calls/policy_loader.py",  # somebody wrote rules
    "policy/engine.py",  # a shell line is judged
    "policy/rules/patterns.py",  # a rule with a pattern is in force
    "policy/rules/rule_file.py",  # a rule has examples
    "workspace/web/html_worker.py",  # its limits are set
    "workspace/files/system_calls.py",  # a file is opened beneath a directory
    "workspace/helper_program.py",  # a program is looked for, fed or locked in
    "tools/__init__.py",  # a tool in use
}

# Who may import a package that is not part of Python: files, and directories with all that is in them.
OWNERS = {
    "google": {"models/gemini/vertex_credentials.py"},
    "h11": {"workspace/http/connection.py", "workspace/http/server.py"},
    "html_to_markdown": {"workspace/web/html_worker.py"},
    "httpx2": {"mcp/oauth/flow.py"},
    "jsonschema_rs": {"core/tools/schema_validation.py"},
    "mcp": {"mcp/oauth/flow.py"},
    "prompt_toolkit": {"frontends/terminal/"},
    "pydantic": {"mcp/oauth/flow.py"},
    "pygments": {"frontends/terminal/"},
    "re2": {"policy/rules/patterns.py", "workspace/paths/fuzzy_match.py", "workspace/search/character_class.py"},
    "rich": {"frontends/terminal/"},
    "stringzilla": {"workspace/files/line_slice.py", "workspace/text/text_edits.py"},
    "tree_sitter": {"policy/shell/grammar.py"},
    "tree_sitter_bash": {"policy/shell/grammar.py"},
    "wcwidth": {"frontends/terminal/"},
}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def trees() -> dict[str, ast.Module]:
    found = {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    assert len(found) > 20
    return found


def imports_in_functions(tree: ast.Module) -> list[int]:
    """The lines of imports that run only when a function does, written as statements or as calls."""
    return [
        inner.lineno
        for function in ast.walk(tree)
        if isinstance(function, FUNCTIONS)
        for inner in ast.walk(function)
        if isinstance(inner, ast.Import | ast.ImportFrom) or (isinstance(inner, ast.Call) and is_import_call(inner))
    ]


def is_import_call(call: ast.Call) -> bool:
    return ast.unparse(call.func) in {"__import__", "import_module", "importlib.import_module"}


def test_functions_import_only_at_the_doors() -> None:
    found = {name: imports_in_functions(tree) for name, tree in trees().items()}
    assert {name: lines for name, lines in found.items() if lines and name not in DOORS} == {}


def test_every_door_is_in_use() -> None:
    found = trees()
    assert [door for door in sorted(DOORS) if not imports_in_functions(found[door])] == []


def test_every_foreign_package_has_its_owners() -> None:
    owners: dict[str, set[str]] = {}
    for name, tree in trees().items():
        for module in imported_by(tree):
            package = module.partition(".")[0]
            if package != "tejat" and package not in sys.stdlib_module_names:
                directory = f"{name.rpartition('/')[0]}/"
                is_shared = directory in OWNERS.get(package, ())
                owners.setdefault(package, set()).add(directory if is_shared else name)
    assert owners == OWNERS


def imported_by(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


# Statements that may stand at the top of a module.
DECLARATIONS = (
    ast.Import,
    ast.ImportFrom,
    ast.Assign,
    ast.AnnAssign,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)
# A codec's error handler is known to the process by name or not at all.
REGISTRATIONS = {"codecs.register_error"}
GUARDS = {"TYPE_CHECKING", "__name__ == '__main__'"}


def is_declaration(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return ast.unparse(function) in REGISTRATIONS
        case ast.If(test=test):
            text = ast.unparse(test)
            return text in GUARDS or text.startswith(("sys.platform", "sys.version_info"))
        case _:
            return isinstance(statement, DECLARATIONS)


def test_a_module_only_declares() -> None:
    found = [
        f"{name}:{statement.lineno}"
        for name, tree in trees().items()
        for statement in tree.body
        if not is_declaration(statement)
    ]
    assert found == []


# Imports every module while watching what it does to the world around it.
WATCH = """
import importlib, os, sys, threading
source = sys.argv[1]
seen = []
WORK = ("subprocess.", "socket.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.mkdir", "os.remove",
        "os.rename", "os.putenv", "os.chdir", "shutil.", "tempfile.", "signal.")

def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            seen.append((event, str(path)))
        if isinstance(path, str) and path.startswith(source) and not path.endswith((".py", ".pyc")):
            seen.append((event, path))
    elif event.startswith(WORK):
        seen.append((event, str(arguments)))

environment = dict(os.environ)
directory = os.getcwd()
sys.addaudithook(watch)
for name in sys.argv[2:]:
    importlib.import_module(name)
watch = None
assert seen == [], seen
assert threading.active_count() == 1
assert dict(os.environ) == environment
assert os.getcwd() == directory
"""


def test_importing_does_no_work() -> None:
    """No file is written, no process or connection is made, nothing is printed, no thread is started."""
    modules = [
        ".".join(["tejat", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")
        for path in sorted(SOURCE.rglob("*.py"))
        if path.name != "__main__.py"
    ]
    done = subprocess.run(
        [sys.executable, "-B", "-c", WATCH, str(SOURCE), *modules],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
