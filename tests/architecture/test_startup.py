"""What is loaded for what: an import that sneaks in costs every start of the program."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tejat
from support.extensions import write_extension
from support.model_servers.gemini import ModelServer, text_reply

REPORT = """
import sys
before = set(sys.modules)
{work}
print(sorted(set(sys.modules) - before), file=sys.stderr)
"""
MAIN = """
from tejat.cli.main import main
assert main({words!r}) == 0
"""

NETWORK = {
    "socket",
    "_socket",
    "ssl",
    "_ssl",
    "http",
    "urllib.request",
    "ftplib",
    "smtplib",
    "h11",
    "httpx",
    "requests",
}
TERMINAL = {"curses", "readline", "termios", "tty", "pty", "prompt_toolkit", "rich", "textual", "pygments"}
PROTOCOL = {"mcp", "google", "openai", "anthropic", "tejat.mcp", "tejat.models"} | {
    "tejat.ui.terminal",
    "tejat.ui.headless",
    "tejat.ui.mcp_server",
}
FOREIGN = {"jsonschema_rs", "re2", "stringzilla", "tree_sitter", "tree_sitter_bash"}
FOR_COMMANDS = {
    *(
        "tejat.policy.shell.parser",
        "tejat.policy.effects.command",
        "tejat.policy.shell.wrappers",
        "tejat.policy.rules.rule_file",
    ),
    *(
        "tejat.workspace.processes.supervisor_client",
        "tejat.workspace.sandbox",
        "tejat.workspace.undo",
        "tejat.engine.calls.undo_recorder",
    ),
}
SLOW = {
    "asyncio",
    "concurrent",
    "multiprocessing",
    "importlib.metadata",
    "pathlib",
    "subprocess",
    "tempfile",
    "logging",
}
SEVEN = {
    "tejat.tools.list_directory",
    "tejat.tools.read_file",
    "tejat.tools.search_file_content",
    "tejat.tools.glob",
    "tejat.tools.replace",
    "tejat.tools.write_file",
    "tejat.tools.read_many_files",
}


# What a run that only talks has no use for, however quick it is to load. What asyncio loads cannot be helped.
NOT_FOR_TALKING = {
    *("argparse", "gettext", "shutil", "tempfile", "random", "ctypes", "sysconfig", "pathlib", "importlib.metadata"),
    *("multiprocessing", "email", "http", "uuid", "pickle"),
    *(
        "tejat.policy",
        "tejat.engine.calls.scheduler",
        "tejat.engine.calls.permission",
        "tejat.engine.calls.call_facts",
        "tejat.engine.calls.undo_recorder",
    ),
    *("tejat.workspace.sandbox", "tejat.workspace.processes", "tejat.workspace.undo", "tejat.workspace.web"),
    *(
        "tejat.workspace.sandbox.landlock_child",
        "tejat.config.trust.items",
        "tejat.config.custom_commands",
        "tejat.mcp",
    ),
    *(
        "yaml",
        "tejat.app.extensions",
        "tejat.config.extensions.loader",
        "tejat.config.extensions.manifest",
        "tejat.config.agents.directory",
        "tejat.config.agents.overrides",
        "tejat.config.agents.tool_list",
        "tejat.engine.subagents",
    ),
    *(
        "tejat.models.openai.client",
        "tejat.models.anthropic.client",
        "tejat.models.gemini.vertex",
        "tejat.models.recording.recorder",
    ),
    *(
        "tejat.ui.headless.json_output",
        "tejat.ui.headless.stream_output",
        "tejat.cli.interactive",
        "tejat.ui.plain.approver",
    ),
}
TALK = """
import os
os.environ.clear()
os.environ.update({environment!r})
from tejat.cli.main import main
assert main({words!r}) == 0
"""


def loaded_by(work: str, cwd: Path | None = None) -> set[str]:
    """The modules that this work loads into a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT.format(work=work)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(ast.literal_eval(done.stderr))


def within(loaded: set[str], packages: set[str]) -> set[str]:
    """Those of the loaded modules that are one of these packages or inside one."""
    return {module for module in loaded if any(module == name or module.startswith(f"{name}.") for name in packages)}


def test_the_package_itself_loads_nothing() -> None:
    assert loaded_by("import tejat") == {"tejat"}


COMMAND_LINE = {"tejat", "tejat.cli", "tejat.cli.main", "tejat.core", "tejat.core.exit_codes", "tejat.core.garbage"}


@pytest.mark.parametrize("words", [["--version"], ["-V"], ["-v"]])
def test_the_version_loads_nothing_but_the_command_line(words: list[str]) -> None:
    assert loaded_by(MAIN.format(words=words)) == COMMAND_LINE | {"gc", "resource"}


@pytest.mark.parametrize("words", [["--help"], ["-h"]])
def test_help_loads_its_words_besides(words: list[str]) -> None:
    loaded = loaded_by(MAIN.format(words=words))
    names = {"tejat.cli.subcommands", "tejat.core.text", "tejat.core.text.edit_distance"}
    assert within(loaded, {"tejat"}) == COMMAND_LINE | names | {
        "tejat.cli.help",
        "tejat.cli.help.page",
        "tejat.cli.help.run_page",
        "tejat.cli.startup",
        "tejat.cli.startup.language",
        "tejat.core.frozen",
        "tejat.core.i18n",
    }
    assert within(loaded, NETWORK | TERMINAL | SLOW | {"argparse", "gettext", "inspect", "dataclasses"}) == set()


@pytest.mark.parametrize("words", [["tools", "list"], ["tools", "list", "--json"]])
class TestList:
    def test_no_network_no_protocol_no_terminal_library(self, words: list[str]) -> None:
        assert within(loaded_by(MAIN.format(words=words)), NETWORK | TERMINAL | PROTOCOL | {"tejat.policy"}) == set()

    def test_no_tool_and_no_file_work(self, words: list[str]) -> None:
        assert within(loaded_by(MAIN.format(words=words)), SEVEN | FOREIGN | {"tejat.workspace"}) == set()

    def test_nothing_slow_that_it_does_not_need(self, words: list[str]) -> None:
        assert within(loaded_by(MAIN.format(words=words)), SLOW) == set()


def test_a_call_loads_only_the_tool_that_is_called(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    words = ["tools", "call", "read_file", f"path={tmp_path / 'a.txt'}"]
    loaded = loaded_by(MAIN.format(words=words), cwd=tmp_path)
    assert within(loaded, SEVEN) == {"tejat.tools.read_file"}
    assert within(loaded, TERMINAL - {"termios"} | PROTOCOL | FOREIGN - {"stringzilla"} | FOR_COMMANDS) == set()


def test_a_public_name_loads_only_its_own_room() -> None:
    loaded = within(loaded_by("from tejat import BaseTool"), {"tejat"})
    assert within(loaded, {"tejat.workspace", "tejat.engine", "tejat.cli", "tejat.tools", "tejat.app"}) == set()
    assert "tejat.core.tools.base" in loaded


PUBLIC = """
import tejat
names = {names!r}
assert [name for name in names if name not in dir(tejat)] == []
for name in names:
    getattr(tejat, name)
try:
    tejat.unheard_of
except AttributeError as error:
    assert str(error) == "module 'tejat' has no attribute 'unheard_of'"
else:
    raise AssertionError
"""


def test_every_public_name_is_told_to_type_checkers_and_can_be_touched() -> None:
    package = Path(__file__).parents[2] / "src" / "tejat" / "__init__.py"
    tree = ast.parse(package.read_text(encoding="utf-8"))
    declared = {
        alias.asname: node.module
        for guard in tree.body
        if isinstance(guard, ast.If)
        for node in guard.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    assert {"BaseTool", "ToolRegistry", "ToolResult", "Workspace"} <= set(declared)
    assert declared == tejat._NAMES
    loaded_by(PUBLIC.format(names=sorted(map(str, declared))))


class TestTalking:
    """`tejat -p hi`, the run that is timed against other agents."""

    def loaded(self, directory: Path, words: list[str], **environment: str) -> set[str]:
        home, project = directory / "home", directory / "project"
        home.mkdir(exist_ok=True)
        (project / ".git").mkdir(parents=True)
        (project / ".gitignore").write_text("*.o\n")
        around = {"HOME": str(home), "PATH": os.defpath, **environment}
        return loaded_by(TALK.format(environment=around, words=[*words, "-p", "hi"]), cwd=project)

    def tools(self) -> set[str]:
        """The modules of tools, of which none has been called."""
        directory = Path(tejat.__file__).parent / "tools"
        kept = {"__init__", "registry", "agent_offer"}
        return {f"tejat.tools.{path.stem}" for path in directory.iterdir() if path.stem not in kept}

    def test_with_a_script(self, tmp_path: Path) -> None:
        script = tmp_path / "script.toml"
        script.write_text('[[answer]]\nsay = "Hello."\n')
        loaded = self.loaded(tmp_path, ["--model", f"scripted:{script}"])
        assert within(loaded, NOT_FOR_TALKING | TERMINAL | FOREIGN | self.tools()) == set()
        assert (
            within(loaded, {"h11", "dataclasses", "urllib", "tejat.workspace.http", "tejat.models.gemini.client"})
            == set()
        )
        assert "tejat.models.scripted.model" in loaded

    @pytest.mark.parametrize(("key", "is_known"), [("vimMode", True), ("devtools", False)])
    def test_the_table_of_settings_only_for_names_that_are_not_in_the_schema(
        self, tmp_path: Path, key: str, *, is_known: bool
    ) -> None:
        (tmp_path / "home" / ".gemini").mkdir(parents=True)
        (tmp_path / "home" / ".gemini" / "settings.json").write_text(f'{{"general": {{"{key}": true}}}}')
        script = tmp_path / "script.toml"
        script.write_text('[[answer]]\nsay = "Hello."\n')
        loaded = self.loaded(tmp_path, ["--model", f"scripted:{script}"])
        assert ("tejat.config.settings.known_keys" in loaded) != is_known

    def test_with_a_service(self, tmp_path: Path) -> None:
        with ModelServer([text_reply("Hello.")]) as server:
            loaded = self.loaded(tmp_path, [], GEMINI_API_KEY="key", GOOGLE_GEMINI_BASE_URL=server.address)
        assert within(loaded, NOT_FOR_TALKING | TERMINAL | FOREIGN | self.tools()) == set()
        assert within(loaded, {"tomllib", "datetime", "shlex", "tejat.models.scripted.model"}) == set()
        assert "tejat.models.gemini.client" in loaded


FIRST_SCREEN = """
import gc
import os
import sys

def count_collections():
    return sum(each["collections"] for each in gc.get_stats())

def watch(descriptor, data):
    written = write(descriptor, data)
    if b"/help for commands" in bytes(data):
        with open({report!r}, "w") as file:
            file.write(repr([sorted(sys.modules), count_collections() - before]))
        os._exit(0)
    return written

write, os.write = os.write, watch
from tejat.cli.main import program
before = count_collections()
program()
"""

NOT_FOR_THE_FIRST_SCREEN = {
    *("yaml", "tejat.app.skills", "tejat.tools.activate_skill", "tejat.engine.subagents"),
    *("tejat.config.agents.directory", "tejat.config.agents.definition", "tejat.config.skills.discovery"),
    *("tejat.config.front_matter", "tejat.config.files.yaml_cache", "tejat.config.files.parse_cache"),
}


class TestFirstScreen:
    """`tejat` at a terminal, until the first prompt is drawn."""

    def start(self, directory: Path) -> tuple[set[str], int]:
        """The modules that are loaded, and how often garbage was collected."""
        report, home = directory / "report", directory / "home"
        controller, line = os.openpty()
        environment = {"HOME": str(home), "PATH": os.defpath, "TERM": "xterm", "GEMINI_API_KEY": "none"}
        try:
            subprocess.run(
                [sys.executable, "-c", FIRST_SCREEN.format(report=str(report))],
                stdin=line,
                stdout=line,
                stderr=line,
                cwd=directory / "project",
                env={**environment, "COLORFGBG": "15;0"},
                start_new_session=True,
                timeout=60,
                check=True,
            )
        finally:
            os.close(controller)
            os.close(line)
        modules, collections = ast.literal_eval(report.read_text())
        return set(modules), collections

    def test_skills_and_agents_are_read_later(self, tmp_path: Path) -> None:
        (tmp_path / "project").mkdir()
        extension = write_extension(
            tmp_path / "home/.gemini/extensions/demo",
            files={
                "skills/audit/SKILL.md": "---\nname: audit\ndescription: Audits.\n---\nBody\n",
                "agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nYou help.\n",
            },
        )
        for path in (extension, *extension.rglob("*")):
            path.chmod(0o755)
        modules, collections = self.start(tmp_path)
        assert within(modules, NOT_FOR_THE_FIRST_SCREEN) == set()
        assert "tejat.config.extensions.pins" in modules
        assert collections == 0
