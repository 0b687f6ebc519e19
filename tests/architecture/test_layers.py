"""Which room may import which. Imports for type checking count: they say who knows whom."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"

EVERYTHING_BELOW = {"core", "workspace", "config", "policy", "models", "tools", "mcp", "engine"}

# A room, or one file of it, that each room may know besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "workspace": {"core"},
    "policy": {"core"},
    "config": {"core", "workspace"},
    "models": {"core", "workspace"},
    "tools": {"core", "workspace"},
    # What was allowed is kept in a file of ours, which is read and written as all of them are.
    "mcp": {
        *("core", "workspace", "config.references", "config.settings"),
        *("config.lock", "config.own_file", "config.places", "config.write_own_file"),
    },
    "engine": {"core", "workspace", "config", "policy", "tools.registry"},
    # Our own MCP server is the one front end that is reached over HTTP.
    "frontends": {"core", "engine", "mcp.framing", "mcp.protocol", "workspace.terminal_text", "workspace.http.serving"},
    "app": EVERYTHING_BELOW,
    # What servers may be called, what is known of them and what went wrong are values that commands show.
    "cli": {"core", "app", "frontends", "config", "tools.registry", "mcp.names", "mcp.values", "mcp.failures"},
    "agent": {"core", "app", "engine.session"},
    "sync_agent": {"core", "agent"},
    "demo": set(),
    "__main__": {"cli"},
    "__init__": EVERYTHING_BELOW | {"app", "agent", "sync_agent"},
}

# The root package holds the version and hands out public names; knowing it means knowing everything.
MAY_IMPORT_THE_ROOT = {
    "app/commands/about.py",
    "app/mcp/inspection.py",
    "app/mcp/manager.py",
    "cli/main.py",
    "cli/mcp/serve.py",
}

# Values and contracts touch nothing outside the process.
NOT_IN_CORE = {
    "asyncio",
    "ctypes",
    "io",
    "os",
    "pathlib",
    "shutil",
    "socket",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
}


def sources() -> list[Path]:
    found = sorted((SOURCE / "tejat").rglob("*.py"))
    assert len(found) > 20
    return found


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE / "tejat").as_posix()


def room_of(path: Path) -> str:
    return name_of(path).partition("/")[0].removesuffix(".py")


def imported_modules(path: Path) -> set[str]:
    """Every module that the file names in an import, wherever it stands, `from package import module` resolved."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}:{node.lineno}: relative import"
            assert node.module is not None
            modules |= {_named_by(node.module, alias.name) for alias in node.names}
    return modules


def _named_by(package: str, name: str) -> str:
    inner = SOURCE / package.replace(".", "/") / name
    return f"{package}.{name}" if inner.is_dir() or inner.with_suffix(".py").is_file() else package


def is_allowed(path: Path, module: str) -> bool:
    if module == "tejat":
        return name_of(path) in MAY_IMPORT_THE_ROOT
    inside = module.removeprefix("tejat.")
    room = room_of(path)
    if inside.partition(".")[0] == room:
        return True
    return any(inside == allowed or inside.startswith(f"{allowed}.") for allowed in MAY_IMPORT[room])


def test_every_room_is_in_the_table() -> None:
    assert {room_of(path) for path in sources()} <= set(MAY_IMPORT)


def test_arrows_point_one_way() -> None:
    forbidden = [
        f"{name_of(path)} imports {module}"
        for path in sources()
        for module in sorted(imported_modules(path))
        if (module == "tejat" or module.startswith("tejat.")) and not is_allowed(path, module)
    ]
    assert forbidden == []


def test_core_touches_nothing_outside_the_process() -> None:
    forbidden = [
        f"{name_of(path)} imports {module}"
        for path in sources()
        if room_of(path) == "core"
        for module in imported_modules(path)
        if module.partition(".")[0] in NOT_IN_CORE
    ]
    assert forbidden == []


@pytest.mark.parametrize(
    ("file", "module", "allowed"),
    [
        ("tools/glob.py", "tejat.workspace.files.roots", True),
        ("tools/glob.py", "tejat.tools.files.display_path", True),
        ("tools/glob.py", "tejat.engine.calls.scheduler", False),
        ("tools/glob.py", "tejat", False),
        ("engine/calls/scheduler.py", "tejat.tools.registry", True),
        ("engine/calls/scheduler.py", "tejat.tools.glob", False),
        ("engine/calls/scheduler.py", "tejat.tools", False),
        ("workspace/files/roots.py", "tejat.tools.registry", False),
        ("workspace/files/roots.py", "tejat.core.errors", True),
        ("cli/tools/main.py", "tejat.workspace.context", False),
        ("app/tools/toolset.py", "tejat.cli.main", False),
    ],
)
def test_the_rule_itself(file: str, module: str, allowed: bool) -> None:
    assert is_allowed(SOURCE / "tejat" / file, module) == allowed
