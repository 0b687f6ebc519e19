"""Which package may import which. Imports for type checking count: they are dependencies too."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"

LOWER_LAYERS = {"core", "workspace", "config", "policy", "models", "tools", "mcp", "engine"}

# What each package may import besides itself: packages, or single modules of them.
MAY_IMPORT: dict[str, set[str]] = {
    # Users convert the values themselves: `core/messages/sdk.py` reaches up, for that alone and only when it is called.
    "core": {"models.sdk"},
    "workspace": {"core"},
    "policy": {"core"},
    "config": {"core", "workspace"},
    "models": {"core", "workspace"},
    "tools": {"core", "workspace"},
    # Approved tools and logins are stored in private files, read and written like all others.
    "mcp": {*("core", "workspace", "config.env_expansion", "config.settings.types", "config.paths", "config.files")},
    "engine": {"core", "workspace", "config", "policy", "tools.registry"},
    # The MCP server is the one front end that is reached over HTTP.
    "ui": {
        *("core", "engine", "mcp.transports.ndjson", "mcp.protocol"),
        *("workspace.text.terminal_text", "workspace.http.server", "workspace.threads"),
        *("workspace.files.private_files", "workspace.files.file_lock", "workspace.files.regular_file"),
        # Front ends in other processes reach a session through a socket.
        *("workspace.files.unix_socket", "workspace.processes.socket_peer"),
    },
    "app": LOWER_LAYERS,
    # Runs many sessions, and reports on them as a front end does.
    "batch": {
        *("core", "workspace", "config", "app", "models.rate_limits", "models.names"),
        *("engine.sessions.session", "ui.headless", "ui.html", "ui.shared", "ui.signals"),
        *("ui.plain.style", "ui.terminal.render.cells", "ui.terminal.screen.renderer"),
    },
    # Adapters that benchmark harnesses load by their import path, and those for agent frameworks.
    "integrations": {"core", "app.tools", "sync_tools"},
    # The names, states and errors of MCP servers are values that subcommands show.
    "cli": {
        *("core", "app", "batch", "ui", "config", "tools.registry", "mcp.names", "mcp.types", "mcp.errors"),
        *("workspace.threads", "workspace.files.private_files"),
    },
    "notebook": {
        *("core", "sync_agent", "agent", "ui.html", "ui.shared", "workspace.threads.daemon"),
        *("app.session.replay", "app.session.transcript_export", "engine.prompt"),
    },
    "agent": {"core", "app", "engine.sessions.session"},
    "sync_agent": {"core", "agent", "sync_runs", "workspace.threads"},
    "sync_runs": {"core", "agent", "workspace.threads"},
    "sync_tools": {"core", "app", "tools.registry", "workspace.threads"},
    # For the tests of other programs.
    "testing": {"core", "models.scripted", "agent", "sync_agent"},
    "demo": set(),
    "__main__": {"cli"},
    "__init__": LOWER_LAYERS | {"app", "agent", "sync_agent", "sync_tools"},
}

# The root package holds the version and hands out the public names: who imports it depends on everything.
MAY_IMPORT_THE_ROOT = {
    "app/commands/about.py",
    "app/extensions/probe.py",
    "app/mcp/inspection.py",
    "app/mcp/manager.py",
    "app/session/status.py",
    "app/subagents/session_host.py",
    "app/tools/plain_rules.py",
    "batch/engines/ray/submission.py",
    "batch/engines/ray/worker.py",
    "cli/command_parser.py",
    "cli/commands/batch/run.py",
    "cli/commands/acp.py",
    "cli/main.py",
    "cli/mcp/serve.py",
}

# Imports against the direction of the layers, and why.
EXCEPTIONS = {
    (
        "core/ui/rich_value.py",
        "tejat.notebook.display",
    ): "a notebook asks a value for its HTML by its methods",
}

# Values and contracts do no I/O.
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


def package_of(path: Path) -> str:
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
    target = module.removeprefix("tejat.")
    package = package_of(path)
    if target.partition(".")[0] == package:
        return True
    return any(target == allowed or target.startswith(f"{allowed}.") for allowed in MAY_IMPORT[package])


def test_every_package_is_in_the_table() -> None:
    assert {package_of(path) for path in sources()} <= set(MAY_IMPORT)


def test_imports_follow_the_layers() -> None:
    forbidden = [
        f"{name_of(path)} imports {module}"
        for path in sources()
        for module in sorted(imported_modules(path))
        if (module == "tejat" or module.startswith("tejat.")) and not is_allowed(path, module)
        if (name_of(path), module) not in EXCEPTIONS
    ]
    assert forbidden == []


def test_exceptions_are_in_use() -> None:
    assert [place for place in EXCEPTIONS if place[1] not in imported_modules(SOURCE / "tejat" / place[0])] == []


def test_core_does_no_io() -> None:
    forbidden = [
        f"{name_of(path)} imports {module}"
        for path in sources()
        if package_of(path) == "core"
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
