"""Heavy modules are imported lazily at a short list of places, and importing a module has no side effects."""

import ast
import subprocess
import sys
from collections.abc import Iterator

from support.source_tree import LOADED_BY_OTHERS, SOURCE, module_name, modules

# The only files whose functions may import, and when they do.
LAZY_IMPORTS = {
    "__init__.py": "a public name is used",
    "core/agent/prices.py": "a program has a model with a price",
    "core/agent/settings.py": "a prompt has parts",
    "core/approval/approver.py": "the approver of a program replies",
    "app/diagnostics/log_file.py": "there is a record",
    "core/messages/value_check.py": "a value has a wrong field",
    "core/tools/hints/annotations.py": "a parameter of a program has a Param",
    "core/tools/result_check.py": "a result is more than text",
    "engine/calls/permission.py": "a call needs approval",
    "app/commands/registry.py": "a slash command is run",
    "app/inspection/openers.py": "a subcommand looks at a service",
    "app/model_source.py": "a run is recorded or replayed, or the router chooses the model",
    "app/session/preferences.py": "a theme of Gemini CLI is chosen",
    "app/mcp/manager.py": "a server has prompts or resources, or needs a login",
    "app/mcp/server_plan.py": "a server is remote, or belongs to the project",
    "app/plugins/discovery.py": "there is a plugin to load",
    "app/session/approval_mode.py": "plan mode is used",
    "app/session/initial_state.py": "a chat is imported",
    "app/session/interactive.py": "the user runs a shell line",
    "app/session/lifespan.py": "a run needs the service",
    "app/session/undo/prefetch.py": "a session begins in a large project",
    "app/session/manager.py": "plan mode or a sub-agent is used",
    "app/setup/notes.py": "a settings file has a name that is not in the schema",
    "app/session/session_parts.py": "the model recalls earlier messages",
    "app/subagents/session_host.py": "an agent has MCP servers of its own, or works in a copy",
    "app/subagents/definitions.py": "there are agent files to read, or settings for agents",
    "app/session/prompt/expansion.py": "a custom command is called",
    "app/session/status.py": "sandboxed commands may run without asking",
    "app/session/definitions.py": "the user can type meanwhile",
    "app/session/prompt/context.py": "the context window is small",
    "app/session/prompt/instructions.py": "the folder is trusted, and its instructions are pinned",
    "cli/args.py": "a word is misspelled",
    "cli/flags.py": "a flag is misspelled",
    "core/messages/message_json.py": "a session is read",
    "engine/loop/compressor.py": "the conversation is compressed",
    "engine/loop/conversation.py": "the model calls tools",
    "engine/loop/tool_declarations.py": "an index of tools is declared to a small model",
    "engine/models/fallback.py": "the user is asked about another model",
    "engine/sessions/figures/run_recorder.py": "a call is recorded",
    "engine/sessions/journal_format.py": "a session is read",
    "engine/sessions/session_store.py": "a session is resumed",
    "models/gemini/client.py": "the service answers with an error",
    "models/gemini/response.py": "the service sends an error",
    "models/wire/http_model.py": "the service is not that of Gemini",
    "tools/registry.py": "a tool of the caller or of an extension is added",
    "workspace/files/private_files.py": "a file is replaced",
    "workspace/paths/git_repository.py": "git is asked for its configuration",
    "workspace/paths/ignore_rules.py": "there is an ignore file",
    "app/tools/external_tools.py": "external tools are discovered, in the background",
    "app/tools/policy_report.py": "the doctor lists rules",
    "app/tools/sandbox/service.py": "commands are sandboxed",
    "app/tools/served_session.py": "a client enters plan mode",
    "app/tools/tool_services.py": "a service is used for the first time",
    "app/skills/consent.py": "a skill is activated",
    "app/skills/service.py": "a skill is activated",
    "app/tools/skill_tools.py": "there are skills",
    "app/tools/plain_rules.py": "rules are not known to be plain",
    "app/tools/toolset.py": "tools are used",
    "core/text/digest.py": "something is hashed",
    "core/frozen.py": "a value becomes a dict, or a dict a value",
    "core/ui/rich_value.py": "a notebook shows a value",
    "core/messages/value_reader.py": "the first value is read",
    "notebook/__init__.py": "a public name is used",
    "notebook/front_end.py": "something is shown in a notebook",
    "ui/remote/session_socket.py": "the first screen is drawn, or the first request is on its way",
    "ui/acp/server.py": "a client opens a session; it waits for the answer to `initialize` before",
    "ui/headless/runner.py": "the output format is known",
    "cli/commands/acp.py": "a client opens a session, or the user asks for help or logs in",
    "cli/commands/docs.py": "a page is shown at a terminal",
    "cli/help/parsers.py": "the flags of a subcommand are looked up",
    "cli/command_parser.py": "--debug is given",
    "cli/interactive.py": "the front end is known",
    "cli/main.py": "the subcommand is known",
    "cli/startup/lazy_modules.py": "asyncio makes its logger",
    "cli/startup/language.py": "there is a translation to load",
    "cli/startup/module_cache.py": "the cache is written",
    "cli/extensions/main.py": "the subcommand is known",
    "cli/mcp/main.py": "the subcommand is known",
    "cli/commands/agents.py": "examples are played",
    "batch/engines/ray/library.py": "tasks run on a Ray cluster",
    "batch/engines/registry.py": "the engine is known",
    "batch/progress/live_table.py": "the terminal gets narrower",
    "batch/runner/template.py": "a template process starts",
    "cli/commands/batch/main.py": "the subcommand is known",
    "cli/commands/sessions/main.py": "sessions are searched or counted",
    "cli/skills/main.py": "the subcommand is known",
    "cli/skills/validate.py": "examples are played",
    "cli/run.py": "the mode of the run is known",
    "app/extensions/session/activation.py": "an extension has rules, hooks or settings",
    "app/run_config.py": "the user adds headers to requests, or has extensions",
    "app/startup.py": "the user has no model yet, or an extension to review",
    "cli/tools/main.py": "the subcommand is known",
    "cli/tools/view.py": "a file was changed",
    "config/agents/registry.py": "there are agent files to read, or settings for agents",
    "config/files/yaml_cache.py": "a YAML text is not stored yet",
    "config/context/discovery.py": "there is a context file to read",
    "config/custom_commands.py": "there is a command to read",
    "config/extensions/manifest.py": "an extension has servers or themes",
    "config/extensions/settings_values.py": "an extension has secrets, and the package keyring is there",
    "config/extensions/source_rules.py": "the settings restrict sources",
    "config/extensions/enablement.py": "an extension is turned on or off",
    "config/skills/discovery.py": "there is a skill to parse",
    "config/yaml_values.py": "there is YAML to parse",
    "config/settings/file.py": "there are settings to read",
    "config/settings/inspection.py": "a hook is for an event that is not one of Gemini CLI",
    "config/settings/loader.py": "there are settings to merge",
    "config/settings/parsers.py": "there is a setting of the terminal to read",
    "config/trust/decision.py": "the folder has something that needs trust",
    "config/trust/store.py": "there is a trust store to read or write",
    "app/tools/sdk_answers.py": "a response of an SDK is answered",
    "core/messages/sdk.py": "a value is converted for an SDK",
    "core/tools/base.py": "a schema of an external tool is checked",
    "core/tools/hints/pydantic_types.py": "a parameter has a type of pydantic",
    "core/tools/schema.py": "a third-party dataclass or other hints are used as parameters",
    "engine/calls/call_facts.py": "a shell line is judged",
    "engine/plans/storage.py": "a session with plans is deleted",
    "engine/calls/path_lookup.py": "a command runs git",
    "engine/calls/policy_loader.py": "there are rules to read",
    "engine/calls/approval/auto_allow.py": "the user switches the setting",
    "engine/calls/approval/refusals.py": "there is no user to ask",
    "mcp/features/tool.py": "an external tool is called",
    "mcp/oauth/credentials.py": "the user logs in, or a token has expired",
    "models/__init__.py": "the service is known",
    "models/gemini/vertex.py": "credentials are needed",
    "models/names.py": "a name may be an alias",
    "models/wire/common.py": "there is a picture to check",
    "models/wire/http_errors.py": "a service sends a date",
    "models/openai/client.py": "the API of the server is known",
    "policy/engine.py": "a shell line is judged",
    "policy/rules/patterns.py": "a rule has a pattern",
    "policy/rules/rule_file.py": "a rule has examples",
    "testing/__init__.py": "a public name is used",
    "testing/pytest_plugin.py": "a test uses a fixture",
    "testing/temporary_workspace.py": "an agent is made",
    "tools/agent_offer.py": "a model calls an agent by its name",
    "tools/__init__.py": "a tool is used for the first time",
    "ui/plain/approver.py": "the user is asked",
    "ui/plain/diff.py": "a diff is drawn in colours",
    "ui/shared/diff/word_marks.py": "two lines are compared",
    "ui/terminal/app.py": "the user is asked",
    "ui/terminal/render/theme.py": "a named theme is chosen",
    "ui/shared/text/languages.py": "there is code to highlight",
    "tools/files/content.py": "the text of a document is extracted, or an editor has the file open",
    "tools/files/media_content.py": "a picture is scaled down",
    "tools/files/current_file.py": "a file has changed since it was read",
    "workspace/context.py": "a file is read, or an editor shares its buffers",
    "workspace/files/line_slice.py": "the lines of a large file are counted",
    "workspace/files/read_tracker.py": "the text of an editor is compared",
    "workspace/files/system_calls.py": "a file is opened beneath a directory",
    "workspace/helper_program.py": "a helper program is started",
    "workspace/files/session_directory.py": "commands are sandboxed",
    "workspace/sandbox/selection.py": "a sandbox has to be tried, or a container is wanted",
    "workspace/files/media/media_worker.py": "the limits of the worker are set",
    "workspace/web/html_worker.py": "the limits of the worker are set",
}

# Who may import a third-party package: files, and directories with everything below them.
OWNERS = {
    "IPython": {"notebook/"},
    "ipywidgets": {"notebook/"},
    "google": {"models/gemini/vertex_credentials.py", "integrations/google_adk.py"},
    "harbor": {"integrations/harbor.py"},
    "inspect_ai": {"integrations/inspect_swe.py"},
    "agents": {"integrations/openai_agents.py"},
    "langchain_core": {"integrations/langchain.py"},
    "pydantic_ai": {"integrations/pydantic_ai.py"},
    "pydantic_core": {"integrations/pydantic_ai.py"},
    "ray": {"batch/engines/ray/library.py"},
    "h11": {"workspace/http/server.py"},
    "html_to_markdown": {"workspace/web/html_worker.py"},
    "PIL": {"workspace/files/media/media_worker.py"},
    "pypdf": {"workspace/files/media/media_worker.py"},
    "httpx2": {"mcp/oauth/flow.py"},
    "jsonschema_rs": {"core/tools/schema_validation.py"},
    "markdown_it": {"ui/html/"},
    "mcp": {"mcp/oauth/flow.py"},
    "prompt_toolkit": {"ui/terminal/"},
    "pydantic": {"mcp/oauth/flow.py"},
    "pygments": {"ui/shared/text/"},
    "pytest": {"testing/pytest_plugin.py"},
    "re2": {
        "config/extensions/source_rules.py",
        "policy/rules/patterns.py",
        "workspace/paths/fuzzy_match.py",
        "workspace/search/character_class.py",
    },
    "rich": {"ui/terminal/"},
    "stringzilla": {
        *("app/inspection/history/search_words.py", "workspace/files/line_slice.py", "workspace/text/text_edits.py")
    },
    "tree_sitter": {"policy/shell/grammar.py"},
    "tree_sitter_bash": {"policy/shell/grammar.py"},
    "wcwidth": {"ui/terminal/"},
    "yaml": {"config/yaml_values.py"},
}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


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


def test_functions_import_only_at_the_listed_places() -> None:
    found = {name: imports_in_functions(tree) for name, tree in modules().items()}
    assert {name: lines for name, lines in found.items() if lines and name not in LAZY_IMPORTS} == {}


def test_every_listed_place_is_in_use() -> None:
    found = modules()
    assert [file for file in LAZY_IMPORTS if file not in found or not imports_in_functions(found[file])] == []


def test_every_third_party_package_has_its_owners() -> None:
    owners: dict[str, set[str]] = {}
    for name, tree in modules().items():
        for module in imported_by(tree):
            package = module.partition(".")[0]
            if package != "tejat" and package not in sys.stdlib_module_names:
                shared = [owner for owner in OWNERS.get(package, ()) if owner.endswith("/") and name.startswith(owner)]
                owners.setdefault(package, set()).add(shared[0] if shared else name)
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
        case ast.Try(body=body, handlers=[ast.ExceptHandler(type=ast.Name(id="ImportError"), body=[ast.Raise()])]):
            # An extra that is not installed is named.
            return all(isinstance(inner, ast.Import | ast.ImportFrom) for inner in body)
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
        for name, tree in modules().items()
        for statement in tree.body
        if not is_declaration(statement)
    ]
    assert found == []


# Imports every module and watches what it does to its environment.
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
    names = [module_name(file) for file in modules() if file not in {"__main__.py", *LOADED_BY_OTHERS}]
    done = subprocess.run(
        [sys.executable, "-B", "-c", WATCH, str(SOURCE), *names],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
