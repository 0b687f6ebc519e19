"""The rooms put together: settings, rules, tools, long results, undo, jobs and memory in one session."""

import asyncio
import os
import re
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.external_tools import ExternalToolsEnv, hostile_server
from support.mcp.clients import living_pids
from support.note_tool import NoteParams, NoteTool
from support.tool_results import list_tree
from tejat.app.inspection.openers import open_jobs, open_policy, open_undo, run_checks
from tejat.app.plugins.discovery import Plugins, PythonTool
from tejat.app.run_config import load_run_config
from tejat.app.tools.listed_tools import builtin_registry
from tejat.app.tools.open_tools import open_tools
from tejat.app.tools.toolset import Toolset, open_toolset, run_blocking_inline
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Approver, ExecConfirmation, Outcome, Scope
from tejat.core.approval.modes import ModeName, SandboxName
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import ErrorType, SandboxUnavailable, UsageError
from tejat.core.exit_codes import EXIT_NO_SANDBOX
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall, Params
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import ToolContext, ToolError, ToolResult
from tejat.core.tools.call_events import CallState, Event, StateChanged
from tejat.core.undo import RestoreResult
from tejat.workspace.jobs.store import JobState
from tejat.workspace.threads.offload import run_inline

SHELL = "run_shell_command"
Call = tuple[str, Params]


class Machine:
    """A home, a project and a directory of whoever runs the machine."""

    def __init__(self, base: Path) -> None:
        self.home, self.project, self.admin = (base / name for name in ("home", "project", "admin"))
        for directory in (self.home, self.project, self.admin):
            directory.mkdir()
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "TEJAT_ADMIN_DIRECTORY": str(self.admin),
        }

    @property
    def outputs(self) -> Path:
        return self.home / ".local" / "state" / "tejat" / "outputs"

    def open(
        self,
        stack: ExitStack,
        *,
        mode: ModeName | None = None,
        allowed: Sequence[str] = (),
        sandbox: SandboxName | None = "off",
        approver: Approver | None = None,
    ) -> Toolset:
        return stack.enter_context(
            open_tools(
                [str(self.project)],
                approver,
                allowed_tools=allowed,
                mode=mode,
                sandbox=sandbox,
                environment=self.environment,
            )
        )

    def run(
        self,
        *calls: Call,
        mode: ModeName | None = None,
        allowed: Sequence[str] = (),
        sandbox: SandboxName | None = "off",
        approver: Approver | None = None,
    ) -> list[ToolResult]:
        """The results of the calls, one after the other in one session."""
        with ExitStack() as stack:
            session = self.open(stack, mode=mode, allowed=allowed, sandbox=sandbox, approver=approver)
            return run(session, *calls)


def run(session: Toolset, *calls: Call) -> list[ToolResult]:
    async def main() -> list[ToolResult]:
        return [await session.scheduler.run(FunctionCall(name, arguments)) for name, arguments in calls]

    return asyncio.run(main())


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path.resolve())
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    return machine


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    for private in (path, path.parent):
        private.chmod(private.stat().st_mode & ~0o022)
    return str(path)


def text_of(result: ToolResult) -> str:
    assert isinstance(result.llm_content, str)
    return result.llm_content


def writing(name: str, content: str = "x\n") -> Call:
    return "write_file", {"file_path": name, "content": content}


def shell(command: str, **more: object) -> Call:
    return SHELL, {"command": command, **more}


def kinds(results: Sequence[ToolResult]) -> list[ErrorType | None]:
    return [None if result.error is None else result.error.type for result in results]


class TestSettings:
    def test_without_any_every_tool_is_there(self, machine: Machine) -> None:
        with ExitStack() as stack:
            assert machine.open(stack).registry.names() == builtin_registry().names()

    @pytest.mark.parametrize("where", ["home", "project", "admin"])
    def test_whoever_excludes_a_tool_it_is_gone(self, machine: Machine, where: str) -> None:
        path = {
            "home": machine.home / ".gemini" / "settings.json",
            "project": machine.project / ".gemini" / "settings.json",
            "admin": machine.admin / "settings.json",
        }[where]
        write(path, '{"tools": {"exclude": ["WriteFileTool"]}}')
        with ExitStack() as stack:
            session = machine.open(stack, mode="yolo")
            expected = [name for name in builtin_registry().names() if name != "write_file"]
            assert session.registry.names() == expected
            assert kinds(run(session, writing("a"))) == [ErrorType.TOOL_NOT_REGISTERED]

    def test_an_excluded_command_is_denied_and_the_shell_stays(self, machine: Machine) -> None:
        write(machine.project / ".gemini" / "settings.json", '{"excludeTools": ["run_shell_command(touch)"]}')
        calls = [shell("touch a"), shell("ls && env touch a"), shell("true")]
        assert kinds(machine.run(*calls, mode="yolo")) == [
            ErrorType.POLICY_VIOLATION,
            ErrorType.POLICY_VIOLATION,
            None,
        ]
        assert list_tree(machine.project) == [".gemini", ".gemini/settings.json"]

    def test_a_list_of_tools_in_use(self, machine: Machine) -> None:
        write(machine.home / ".gemini" / "settings.json", '{"coreTools": ["read_file", "ShellTool(ls)"]}')
        with ExitStack() as stack:
            session = machine.open(stack, mode="yolo")
            assert session.registry.names() == ["read_file", SHELL]
            assert kinds(run(session, shell("ls"), shell("touch a"), writing("a"))) == [
                None,
                ErrorType.POLICY_VIOLATION,
                ErrorType.TOOL_NOT_REGISTERED,
            ]

    def test_the_word_of_whoever_runs_the_machine_holds(self, machine: Machine) -> None:
        theirs = write(
            machine.admin / "policies" / "a.toml",
            '[[rule]]\ntool = "write_file"\npath = "secret/**"\ndecision = "deny"\nmessage = "Hands off."\n',
        )
        write(
            machine.home / ".gemini" / "policies" / "a.toml",
            '[[rule]]\ntool = "write_file"\ndecision = "allow"\npriority = 999\n',
        )
        told = "Tool execution denied by policy. Hands off."
        denied = ToolResult(told, f"{told} ({theirs}:1)", ToolError(told, ErrorType.POLICY_VIOLATION))
        for mode in (None, "auto_edit", "yolo"):
            result, other = machine.run(writing("secret/a"), writing("b"), mode=mode, allowed=["write_file"])
            assert (result, other.error) == (denied, None)
        assert list_tree(machine.project) == ["b"]

    def test_what_a_project_allows_counts_for_nothing(self, machine: Machine) -> None:
        its = write(
            machine.project / ".gemini" / "settings.json", '{"tools": {"allowed": ["write_file"], "sandbox": "off"}}'
        )
        write(
            machine.project / ".gemini" / "policies" / "a.toml", '[[rule]]\ntool = "write_file"\ndecision = "allow"\n'
        )
        with ExitStack() as stack:
            session = machine.open(stack)
            assert kinds(run(session, writing("a"))) == [ErrorType.POLICY_VIOLATION]
            assert (session.settings.allowed, session.settings.ignored_files) == (None, (its,))

    @pytest.mark.parametrize(
        ("path", "text"),
        [
            ("home/.gemini/settings.json", "{"),
            ("home/.gemini/settings.json", '{"tools": {"sandbox": ["perhaps"]}}'),
            ("project/.gemini/settings.json", '{"excludeTools": 3}'),
            ("project/.gemini/policies/a.toml", "[[rule]\n"),
            ("admin/policies/a.toml", '[[rule]]\ndecision = "perhaps"\n'),
        ],
    )
    def test_what_cannot_be_read_stops_the_run_and_is_named(self, machine: Machine, path: str, text: str) -> None:
        named = write(machine.home.parent / path, text)
        with pytest.raises(UsageError, match=re.escape(named)):
            machine.run()

    @pytest.mark.parametrize("wish", ["maybe", ""])
    def test_no_such_sandbox(self, machine: Machine, wish: str) -> None:
        with pytest.raises(UsageError) as refused:
            run_checks([str(machine.project)], wish)
        assert str(refused.value) == (
            "The sandbox must be one of auto, required, off, true, false, docker, podman, runsc, lxc, sandbox-exec, "
            f"windows-native, not {wish!r}."
        )

    def test_a_directory_that_is_missing(self, machine: Machine) -> None:
        missing = str(machine.project / "missing")
        with pytest.raises(UsageError, match=re.escape(missing)), open_tools([missing], None):
            pass

    def test_a_sandbox_that_is_required_and_not_to_be_had(self, machine: Machine) -> None:
        opened = open_tools(["/"], None, sandbox="required", environment=machine.environment)
        with pytest.raises(SandboxUnavailable), opened:
            pass


class TestAnswers:
    def test_a_saved_answer_holds_in_the_next_session_and_only_in_its_project(self, machine: Machine) -> None:
        asked: list[ApprovalRequest] = []

        class User:
            async def ask(self, question: ApprovalRequest) -> ApprovalReply:
                asked.append(question)
                return ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.PROJECT)

        first, again = machine.run(shell("touch a"), shell("touch b"), approver=User())
        assert (first.error, again.error, len(asked)) == (None, None, 1)
        assert isinstance(asked[0].confirmation, ExecConfirmation)
        assert asked[0].confirmation.notes == ("No sandbox: the sandbox is turned off.",)
        assert kinds(machine.run(shell("touch c"))) == [None]
        other = machine.home.parent / "other"
        other.mkdir()
        with open_tools([str(other)], None, sandbox="off", environment=machine.environment) as session:
            assert kinds(run(session, shell("touch d"))) == [ErrorType.POLICY_VIOLATION]
        assert (list_tree(machine.project), list_tree(other)) == (["a", "b", "c"], [])
        with open_policy(PolicyOptions((str(machine.project),))) as book:
            (saved,) = [rule for rule in book.rules() if rule.id]
            assert book.revoke(saved.id or "") == saved.text
        assert kinds(machine.run(shell("touch e"))) == [ErrorType.POLICY_VIOLATION]


class Chatty(NoteTool):
    """A tool of a server that says more than a model can take."""

    def __init__(self) -> None:
        super().__init__("far__chat", kind=Kind.OTHER)
        self.server_name = "far"

    async def run(self, params: NoteParams, context: ToolContext) -> ToolResult:
        return ToolResult("".join(f"{params.text} {number}\n" for number in range(2000)))


class TestLongResults:
    def test_of_a_server_are_kept_and_can_be_read_in_pages(self, machine: Machine) -> None:
        write(machine.home / ".gemini" / "settings.json", '{"tools": {"truncateToolOutputThreshold": 500}}')
        with ExitStack() as stack:
            session = machine.open(stack, mode="yolo")
            session.registry.register(Chatty())
            (result,) = run(session, ("far__chat", {"text": "word"}))
            (kept,) = machine.outputs.iterdir()
            assert f"For full output see: {kept}\nword 0\n" in text_of(result)
            assert len(text_of(result)) < 1000
            (page,) = run(session, ("read_file", {"file_path": str(kept), "offset": 1000, "limit": 2}))
            assert page.error is None
            assert text_of(page).endswith("]\nword 1000\nword 1001")

    def test_of_a_command_too(self, machine: Machine) -> None:
        with ExitStack() as stack:
            session = machine.open(stack, mode="yolo")
            (result,) = run(session, shell("seq 1 30000"))
            found = re.search(r"For full output see: (\S+)", text_of(result))
            assert found is not None
            assert Path(found[1]).parent == machine.outputs
            (page,) = run(session, ("read_file", {"file_path": found[1], "offset": 20_000, "limit": 1}))
            assert re.search(r"^20001$", text_of(page), re.MULTILINE)

    def test_no_limit(self, machine: Machine) -> None:
        write(machine.home / ".gemini" / "settings.json", '{"tools": {"truncateToolOutputThreshold": 0}}')
        with ExitStack() as stack:
            session = machine.open(stack, mode="yolo")
            session.registry.register(Chatty())
            (result,) = run(session, ("far__chat", {"text": "word"}))
            assert text_of(result).count("\n") == 2000
            assert list(machine.outputs.iterdir()) == []

    def test_nothing_else_of_the_program_can_be_read_or_written(self, machine: Machine) -> None:
        secret = write(machine.outputs.parent / "jobs" / "x", "s3cr3t")
        kept = write(machine.outputs / "kept.txt", "kept")
        results = machine.run(
            ("read_file", {"file_path": secret}),
            ("read_file", {"file_path": kept}),
            ("list_directory", {"dir_path": str(machine.outputs.parent)}),
            ("search_file_content", {"pattern": "kept", "dir_path": str(machine.outputs.parent)}),
            writing(kept, "changed"),
            writing(f"{machine.outputs}/new"),
            ("replace", {"file_path": kept, "old_string": "kept", "new_string": "changed"}),
            shell("touch new", directory=str(machine.outputs)),
            mode="yolo",
        )
        outside = ErrorType.PATH_NOT_IN_WORKSPACE
        assert kinds(results) == [outside, None, *[outside] * 6]
        assert {path.name: path.read_text() for path in machine.outputs.iterdir()} == {"kept.txt": "kept"}


class TestUndo:
    def test_whatever_made_a_change_it_can_be_taken_back(self, machine: Machine) -> None:
        write(machine.project / "a.txt", "one\ntwo\n")
        write(machine.project / "b.txt", "kept\n")
        before = {name: (machine.project / name).read_bytes() for name in list_tree(machine.project)}
        results = machine.run(
            writing("new/c.txt"),
            ("read_file", {"file_path": "a.txt"}),
            ("replace", {"file_path": f"{machine.project}/a.txt", "old_string": "two", "new_string": "three"}),
            shell("rm b.txt; echo x > d.txt; ls"),
            shell("ls"),
            ("save_memory", {"fact": "I like tea"}),
            mode="yolo",
        )
        assert kinds(results) == [None] * 6
        assert list_tree(machine.project) == ["a.txt", "d.txt", "new", "new/c.txt"]
        journal = open_undo([str(machine.project)])
        try:
            entries = journal.entries()
            assert [entry.tool for entry in entries] == ["save_memory", SHELL, "replace", "write_file"]
            for entry in entries:
                done = journal.restore(entry.id)
                assert done == RestoreResult(done.restored, entry_id=done.entry_id)
                assert len(done.restored) == len(entry.changes)
        finally:
            journal.close()
        assert {name: (machine.project / name).read_bytes() for name in list_tree(machine.project)} == before
        assert not (machine.home / ".gemini").exists()

    def test_what_was_refused_leaves_no_trace(self, machine: Machine) -> None:
        machine.run(writing("a"), shell("touch b"), ("save_memory", {"fact": "x"}))
        journal = open_undo([str(machine.project)])
        try:
            assert (journal.entries(), list_tree(machine.project)) == ([], [])
        finally:
            journal.close()


class TestJobs:
    def test_a_second_session_finds_reads_and_stops_what_the_first_left_running(self, machine: Machine) -> None:
        (started,) = machine.run(shell("echo ready; sleep 60", is_background=True), mode="yolo")
        assert started.error is None
        (job,) = open_jobs().list_jobs().jobs
        try:
            assert (job.state, job.command) == (JobState.RUNNING, "echo ready; sleep 60")
            listed, output, stopped, after = machine.run(
                ("list_background_processes", {}),
                ("read_background_output", {"pid": job.pid, "delay_ms": 300}),
                ("stop_background_process", {"pid": job.pid}),
                ("list_background_processes", {}),
                mode="yolo",
            )
        finally:
            open_jobs().stop(job.pid)
        assert text_of(listed).startswith(f"PID {job.pid}: running, ")
        assert text_of(output).endswith("\nready\n")
        assert stopped.error is None
        assert f"PID {job.pid}: running" not in text_of(after)

    def test_in_a_sandbox_it_goes_on_too(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        """And it can still use the temporary files of the session that started it."""
        monkeypatch.setattr(tempfile, "tempdir", str(machine.home.parent))
        command = 'sleep 0.7; echo x > "${TMPDIR:-/tmp}/x" && echo written; sleep 60'
        (started,) = machine.run(shell(command, is_background=True), mode="yolo", sandbox="auto")
        assert started.error is None
        (job,) = open_jobs().list_jobs().jobs
        try:
            (output,) = machine.run(
                ("read_background_output", {"pid": job.pid, "delay_ms": 1500}), mode="yolo", sandbox="auto"
            )
        finally:
            open_jobs().stop(job.pid)
        assert text_of(output).endswith("\nwritten\n")


class TestSandbox:
    def test_nothing_is_left_of_it_where_it_worked(self, machine: Machine) -> None:
        write(machine.project / "plant", "mkdir -p .gemini && echo {} > .gemini/settings.json\n")
        with ExitStack() as stack:
            session = self.fenced(stack, machine)
            hi, made, refused, _ = run(
                session,
                shell("sleep 60 & echo hi"),
                shell("git init -q . && git -c user.name=x -c user.email=x commit -q --allow-empty -m x"),
                shell("bash plant"),
                shell("sleep 0.3", is_background=True, delay_ms=0),
            )
            assert "Stdout: hi\n" in text_of(hi)
            assert "Exit Code: 0" in text_of(made)
            assert "Exit Code: 1" in text_of(refused)
            pid = int(text_of(hi).partition("Background PIDs: ")[2].split()[0])
            assert Path(f"/proc/{pid}/comm").read_text() == "sleep\n"
            (job,) = open_jobs().list_jobs().jobs
            until = time.monotonic() + 60
            while open_jobs().get(job.pid).state is JobState.RUNNING and time.monotonic() < until:
                time.sleep(0.02)
        assert not Path(f"/proc/{pid}").exists()
        assert sorted(os.listdir(machine.project)) == [".git", "plant"]

    def test_what_a_job_needs_stays_as_long_as_it_runs(self, machine: Machine) -> None:
        with ExitStack() as stack:
            run(self.fenced(stack, machine), shell("sleep 60", is_background=True))
        (job,) = open_jobs().list_jobs().jobs
        try:
            assert ".gemini" in os.listdir(machine.project)
            with ExitStack() as stack:
                self.fenced(stack, machine)
            assert ".gemini" in os.listdir(machine.project)
        finally:
            open_jobs().stop(job.pid)
        with ExitStack() as stack:
            self.fenced(stack, machine)
        assert os.listdir(machine.project) == []

    def fenced(self, stack: ExitStack, machine: Machine) -> Toolset:
        (sandbox, *_) = run_checks([str(machine.project)], "auto")
        if sandbox.detail != "bubblewrap":
            pytest.skip(f"SANDBOX MISSING: bubblewrap does not work here: {sandbox.detail}")
        return machine.open(stack, mode="yolo", sandbox="required")


class TestMemory:
    @pytest.mark.parametrize(
        ("settings", "name"), [("{}", "GEMINI.md"), ('{"contextFileName": ["NOTES.md", "GEMINI.md"]}', "NOTES.md")]
    )
    def test_it_is_kept_where_gemini_has_its_home(self, machine: Machine, settings: str, name: str) -> None:
        elsewhere = machine.home.parent / "elsewhere"
        machine.environment["GEMINI_CLI_HOME"] = str(elsewhere)
        write(elsewhere / ".gemini" / "settings.json", settings)
        assert kinds(machine.run(("save_memory", {"fact": "I like tea"}), mode="yolo")) == [None]
        assert (elsewhere / ".gemini" / name).read_text() == "## Gemini Added Memories\n- I like tea\n"
        assert not (machine.home / ".gemini").exists()

    def test_it_asks(self, machine: Machine) -> None:
        assert kinds(machine.run(("save_memory", {"fact": "I like tea"}))) == [ErrorType.POLICY_VIOLATION]
        assert not (machine.home / ".gemini").exists()


class TestWithoutAHome:
    @pytest.fixture(params=["nothing", "a file", "not writable"])
    def homeless(self, machine: Machine, request: pytest.FixtureRequest) -> tuple[Machine, str]:
        """A machine whose home is of no use, and what is said about it."""
        write(machine.project / "a.txt", "hello\n")
        match request.param:
            case "nothing":
                home, said = os.devnull, "No home directory found. Set HOME."
            case "a file":
                home = write(machine.home / "file", "x")
                said = f"Could not create the directory {home}/.local/state/tejat/sandbox: Not a directory."
            case _:
                home = "/proc"  # where not even root can make a directory
                said = "Could not create the directory /proc/.local/state/tejat/sandbox: No such file or directory."
        machine.environment["HOME"] = home
        return machine, said

    @pytest.mark.parametrize("sandbox", ["auto", "off"])
    def test_reading_works_and_the_shell_says_what_is_missing(
        self, homeless: tuple[Machine, str], sandbox: SandboxName
    ) -> None:
        machine, said = homeless
        read, listed, found, command, jobs = machine.run(
            ("read_file", {"file_path": "a.txt"}),
            ("list_directory", {"dir_path": "."}),
            ("search_file_content", {"pattern": "hel+o"}),
            shell("ls"),
            ("list_background_processes", {}),
            mode="yolo",
            sandbox=sandbox,
        )
        assert read == ToolResult("hello\n")
        assert (listed.error, found.error) == (None, None)
        for result in (command, jobs):
            assert result == ToolResult(
                f"Error: Tool call execution failed. Reason: {said}", said, ToolError(said, ErrorType.EXECUTION_FAILED)
            )

    def test_what_could_not_be_undone_is_not_done_without_a_person(self, homeless: tuple[Machine, str]) -> None:
        machine, _ = homeless
        written, memory = machine.run(writing("new.txt"), ("save_memory", {"fact": "x"}), mode="yolo")
        assert kinds([written]) == [ErrorType.POLICY_VIOLATION]
        assert "This cannot be undone: " in text_of(written)
        assert not (machine.project / "new.txt").exists()
        assert kinds([memory]) == [ErrorType.MEMORY_TOOL_EXECUTION_ERROR]


class TestEnvironment:
    def test_a_command_gets_what_the_session_was_given_without_its_secrets(self, machine: Machine) -> None:
        machine.environment |= {"GEMINI_API_KEY": "s3cr3t", "MY_TOKEN": "s3cr3t", "LANG": "C.UTF-8"}
        write(machine.home / ".gemini" / "settings.json", '{"tools": {"shell": {"environment": ["MY_SETTING"]}}}')
        machine.environment["MY_SETTING"] = "kept"
        (result,) = machine.run(shell("env"), mode="yolo")
        assert "s3cr3t" not in text_of(result)
        assert {f"HOME={machine.home}", "MY_SETTING=kept"} <= set(text_of(result).splitlines())

    def test_a_limit_of_silence_from_the_settings(self, machine: Machine) -> None:
        write(machine.home / ".gemini" / "settings.json", '{"tools": {"shell": {"inactivityTimeout": 1}}}')
        assert kinds(machine.run(shell("sleep 30"), mode="yolo")) == [ErrorType.TIMEOUT]


RULES = """
[[rule]]
tool = "run_shell_command"
command = ["git status", "echo", "make test"]
decision = "allow"

[[rule]]
tool = "run_shell_command"
command = "rm"
decision = "deny"

[[rule]]
tool = "write_file"
path = "generated/**"
decision = "allow"

[[rule]]
tool = "glob"
arguments = "secret"
decision = "deny"

[[rule]]
tool = "list_directory"
decision = "ask"
"""
CALLS: list[Call] = [
    ("read_file", {"file_path": "a.txt"}),
    ("read_file", {"file_path": ".env"}),
    ("read_many_files", {"include": ["*.txt"]}),
    ("search_file_content", {"pattern": "a"}),
    ("grep_search", {"pattern": "a"}),
    ("glob", {"pattern": "*"}),
    ("glob", {"pattern": "secret*"}),
    ("list_directory", {"dir_path": "."}),
    writing("new.txt"),
    writing("generated/a"),
    writing("generated/../b"),
    writing(".git/hooks/pre-commit"),
    writing("generated/.bashrc"),
    writing("linked/x"),
    ("save_memory", {"fact": "I like tea"}),
    ("list_background_processes", {}),
    ("read_background_output", {"pid": 1}),
    *map(
        shell,
        (
            *("ls", "git status", "git status --short", "git log", "echo a", "echo a; echo b", "echo a && rm -f b"),
            *("echo a > b", "echo a > /dev/null", "echo $HOME", "echo $(echo a)", "echo `rm -f b`", "rm -f b"),
            *("env rm -f b", "bash -c 'rm -f b'", "X=1 echo a", "e''cho a", "\\echo a", "echo a | cat"),
            *("touch .bashrc", "git -c a=b status", "sudo -n true", "echo a 2>&1", "ls *", "./a.txt", "echo a >> /a/b"),
            *("echo a &", "echo 'a", "if true; then echo a; fi", "command echo a", "echo a\nrm -f b", "make test", "."),
        ),
    ),
    shell("echo a", network=True),
    shell("echo a", directory="inner"),
    shell("echo a", is_background=True),
]


class TestExplaining:
    @pytest.mark.parametrize("mode", [None, "auto_edit", "yolo", "plan"])
    def test_what_is_explained_is_what_happens(self, machine: Machine, mode: ModeName | None) -> None:
        write(machine.home / ".gemini" / "policies" / "a.toml", RULES)
        write(machine.project / "a.txt", "one\n")
        for name in ("inner", "generated", "linked to"):
            (machine.project / name).mkdir()
        (machine.project / "linked").symlink_to("generated")
        path = str(machine.project / "a.txt")
        calls = [*CALLS, ("replace", {"file_path": path, "old_string": "one", "new_string": "two"})]
        with open_policy(PolicyOptions((str(machine.project),), ("ShellTool(git log)",), mode)) as book:
            explained = [book.decide(name, arguments).decision == "allow" for name, arguments in calls]
        started: set[int] = set()
        with ExitStack() as stack:
            session = machine.open(stack, mode=mode, allowed=["ShellTool(git log)"])
            for index, (name, arguments) in enumerate(calls):

                def watch(event: Event, index: int = index) -> None:
                    if isinstance(event, StateChanged) and event.state is CallState.EXECUTING:
                        started.add(index)

                asyncio.run(session.scheduler.run(FunctionCall(name, arguments), watch))
        ran = [index in started for index in range(len(calls))]
        assert dict(zip(map(str, calls), ran, strict=True)) == dict(zip(map(str, calls), explained, strict=True))
        assert any(ran)
        assert not all(ran)

    def test_what_is_switched_off_can_be_asked_about(self, machine: Machine) -> None:
        mine = write(machine.home / ".gemini" / "settings.json", '{"excludeTools": ["glob"]}')
        with open_policy(PolicyOptions((str(machine.project),))) as book:
            found = book.decide("glob", {"pattern": "*"})
        assert (found.decision, found.source) == ("deny", f"{mine}:1 (tools.exclude)")

    def test_taking_back_needs_no_rules_that_can_be_read(self, machine: Machine) -> None:
        write(machine.project / ".gemini" / "policies" / "a.toml", "[[rule]\n")
        with open_policy(PolicyOptions((str(machine.project),))) as book:
            assert list(book.revoke_all()) == []
            with pytest.raises(UsageError, match=r"a\.toml:1"):
                book.rules()


class TestForeignTools:
    """Those that are not there at once."""

    @pytest.fixture
    def env(self, tmp_path: Path) -> ExternalToolsEnv:
        return ExternalToolsEnv(tmp_path, {"GEMINI_CLI_TRUST_WORKSPACE": "1"})

    def opened(self, env: ExternalToolsEnv, stack: ExitStack, approver: Approver | None = None) -> Toolset:
        return stack.enter_context(open_tools([str(env.project)], approver, sandbox="off", environment=env.environment))

    def test_come_when_they_are_looked_for_and_go_when_it_is_closed(self, env: ExternalToolsEnv) -> None:
        pids = env.base / "pids"
        env.write_user_settings(
            mcpServers={"bad": hostile_server(f"pids={pids}", trust=True), "dead": hostile_server("die=start")},
            tools={"discoveryCommand": ["/bin/echo", '[{"name": "tide"}]']},
        )

        async def main(session: Toolset) -> None:
            try:
                assert "bad__echo" not in session.registry
                (problem,) = await session.discover_tools()
                assert problem.startswith("MCP server dead (handshake): ")
                assert {"tide", "bad__echo"} <= set(session.registry.names())
                assert await session.discover_tools() == []
                assert len(living_pids(pids)) == 1
                result = await session.scheduler.run(FunctionCall("bad__echo", {"a": 1}))
                assert result.llm_content == '<untrusted_context>\n{"a": 1}\n</untrusted_context>'
            finally:
                await session.close()
            assert living_pids(pids) == []

        with ExitStack() as stack:
            asyncio.run(main(self.opened(env, stack)))

    def test_closing_what_was_never_looked_for(self, env: ExternalToolsEnv) -> None:
        async def main(session: Toolset) -> None:
            assert await session.discover_tools() == []
            await session.close()
            await session.close()

        with ExitStack() as stack:
            session = self.opened(env, stack)
            assert (session.external, session.notes) == (None, ())
            asyncio.run(main(session))
        env.write_user_settings(mcpServers={"bad": hostile_server()})
        with ExitStack() as stack:
            session = self.opened(env, stack)
            assert session.external is not None
            asyncio.run(session.close())

    def test_whoever_leaves_without_closing_leaves_no_process(self, env: ExternalToolsEnv) -> None:
        pids = env.base / "pids"
        env.write_user_settings(mcpServers={"bad": hostile_server(f"pids={pids}", "stubborn")})

        async def main() -> None:
            with ExitStack() as stack:
                await self.opened(env, stack).discover_tools()

        asyncio.run(main())
        assert living_pids(pids) == []

    def test_a_rule_hides_them_as_soon_as_it_can_be_told(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"bad": hostile_server()})
        with ExitStack() as stack:
            assert not self.opened(env, stack).is_forbidden("echo", "bad")
        env.write_policy('[[rule]]\ntool = "echo"\nserver = "bad"\ndecision = "deny"\n')
        with ExitStack() as stack:
            session = self.opened(env, stack)
            assert [session.is_forbidden("echo", server) for server in ("bad", "good", None)] == [True, False, False]
        env.write_policy("")
        env.write_user_settings(mcpServers={"bad": hostile_server()}, mcp={"excluded": ["bad"]})
        with ExitStack() as stack:
            assert self.opened(env, stack).is_forbidden("echo", "bad")

    def test_those_in_python_are_there_at_once_and_broken_ones_are_named(self, env: ExternalToolsEnv) -> None:
        directory = env.home / ".gemini" / "tools"
        directory.mkdir(parents=True)
        (directory / "sea.py").write_text("from tejat import tool\n@tool\ndef tide() -> None:\n    'Tells.'\n")
        (directory / "broken.py").write_text("1 / 0\n")
        with ExitStack() as stack:
            session = self.opened(env, stack)
            assert "tide" in session.registry
            (note,) = session.notes
            assert "broken.py" in note
            assert "division by zero" in note

    def test_those_that_were_found_already_are_not_looked_for_again(self, env: ExternalToolsEnv) -> None:
        note = NoteTool("jot", asks=False)
        found = Plugins((PythonTool(note, "here"), PythonTool(NoteTool("glob"), "there")), ("One is broken.",))
        directory = env.home / ".gemini" / "tools"
        directory.mkdir(parents=True)
        (directory / "sea.py").write_text("raise SystemExit\n")
        run_config = load_run_config([str(env.project)], environment=env.environment)
        with open_toolset(run_config, None, policy=PolicyOptions(), sandbox="off", plugins=found) as toolset:
            entry = toolset.registry.entry("jot")
            assert entry is not None
            assert (entry.source, entry.origin) == (ToolSource.PYTHON, "here")
            broken, taken = toolset.notes
            assert broken == "One is broken."
            assert taken.startswith("Skipped a tool of there. ")


class TestExamining:
    def test_what_is_told(self, machine: Machine) -> None:
        mine = write(machine.home / ".gemini" / "settings.json", '{"tools": {"sandbox": "off"}}')
        its = write(machine.project / ".gemini" / "settings.json", '{"tools": {"allowed": ["write_file"]}}')
        checks = run_checks([str(machine.project)], None)
        off = "NO SANDBOX: the sandbox is turned off. Use --sandbox auto."
        assert [check for check in checks if check.group in ("sandbox", "files")] == [
            DoctorCheck("sandbox", "in use", passed=False, detail=off),
            DoctorCheck("files", "settings", passed=True, detail=mine),
            DoctorCheck("files", "not trusted", passed=False, detail=its, fix=f"tejat trust {machine.project}"),
            DoctorCheck("files", "sessions", passed=True, detail=str(machine.home / ".local/state/tejat/sessions")),
        ]
        programs = [check for check in checks if check.group == "programs"]
        assert [check.name for check in programs] == ["shell", "git", "rg"]
        assert [os.access(check.detail, os.X_OK) for check in programs] == [check.passed for check in programs]

    def test_files_are_named_in_full(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        its = write(machine.project / ".gemini" / "settings.json", "{}")
        monkeypatch.chdir(machine.project)
        assert DoctorCheck("files", "settings", passed=True, detail=its) in run_checks(["."], "off")

    def test_what_cannot_be(self, machine: Machine) -> None:
        with pytest.raises(UsageError, match="sandbox must be one of"):
            run_checks([str(machine.project)], "maybe")
        refused = run_checks(["/"], "required")[0]
        assert (refused.passed, refused.exit_code) == (False, EXIT_NO_SANDBOX)
        with pytest.raises(UsageError, match="missing"):
            run_checks([str(machine.project / "missing")], None)


class TestLooking:
    def test_tools_to_look_at_do_not_work(self) -> None:
        registry = builtin_registry()
        declared = {declaration.name for declaration in registry.declarations()}
        assert declared == {*registry.names()} - {"get_internal_docs", "invoke_agent", "recall"}
        assert {"read_file", "ask_user", "write_todos"} <= declared
        for name in ("read_file", SHELL, "save_memory"):
            with pytest.raises(UsageError, match="open_tools"):
                registry.get(name)

    def test_one_call_at_a_time_is_over_in_the_end(self) -> None:
        before = run_inline.get()
        with run_blocking_inline():
            assert run_inline.get() is True
        assert run_inline.get() is before

    def test_nothing_is_made_by_looking(self, machine: Machine) -> None:
        journal, jobs = open_undo([str(machine.project)]), open_jobs()
        assert (journal.entries(), jobs.list_jobs().jobs) == ([], ())
        journal.close()
        with open_policy(PolicyOptions((str(machine.project),))):
            pass
        assert list_tree(machine.home) == []
