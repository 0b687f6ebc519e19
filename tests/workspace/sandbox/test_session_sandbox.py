"""The sandbox of a session: what commands in it can do, what people are told of it, and what is left of it."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from support.wait import wait_until
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import SandboxUnavailable
from tejat.core.frozen import replace
from tejat.policy.control_files import control_paths
from tejat.workspace.sandbox.session_sandbox import SandboxPaths, SessionSandbox, axes_by_name, format_warning
from tejat.workspace.sandbox.types import (
    EnforcementAxis,
    SandboxedCommand,
    SandboxMount,
    SandboxReport,
    unenforced_report,
)

CONTROL = ((".gemini", True), (".bashrc", False), (".claude", True), (".envrc", False))


@pytest.fixture
def place() -> Generator[Path]:
    """Not below /tmp, which commands see another one of."""
    top = Path(os.path.realpath(tempfile.mkdtemp(prefix="fence-", dir="/var/tmp")))
    for name in ("root/.gemini", "home/.ssh", "state", "config", "temporary"):
        (top / name).mkdir(parents=True)
    (top / "root" / ".gemini" / "settings.json").write_text("{}")
    (top / "root" / ".bashrc").write_text("# mine\n")
    (top / "home" / ".ssh" / "id").write_text("s3cr3t")
    (top / "home" / "notes").write_text("notes")
    (top / "config" / "policy").write_text("s3cr3t")
    yield top
    shutil.rmtree(top)


@pytest.fixture
def temporary(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where private directories for temporary files are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(place / "temporary"))
    return place / "temporary"


def sandbox_paths(place: Path) -> SandboxPaths:
    return SandboxPaths(
        roots=(str(place / "root"),),
        home=str(place / "home"),
        own_directories=(str(place / "config"), str(place / "missing")),
        control_paths=CONTROL,
        blocked_paths=(".claude",),
        state_directory=str(place / "state"),
    )


def opened(place: Path, *, network: bool = False) -> SessionSandbox:
    session_sandbox = SessionSandbox(SandboxMode.AUTO, sandbox_paths(place), network=network)
    if session_sandbox.report.sandbox is None:
        pytest.skip(f"SANDBOX MISSING: {session_sandbox.report.files.detail}")
    return session_sandbox


def run(
    session_sandbox: SessionSandbox, place: Path, command: str, *, network: bool = False
) -> subprocess.CompletedProcess[str]:
    wrapped = session_sandbox.wrap(["/bin/bash", "-c", command], str(place / "root"), network)
    try:
        return subprocess.run(
            wrapped.arguments,
            cwd=place / "root",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin"},
            check=False,
        )
    finally:
        wrapped.clean_up()


class TestOff:
    def test_arguments_stay_as_they_are(self, place: Path, temporary: Path) -> None:
        with SessionSandbox(SandboxMode.OFF, sandbox_paths(place)) as session_sandbox:
            wrapped = session_sandbox.wrap(["/bin/bash", "-c", "true"], str(place / "root"), False)
            assert wrapped == SandboxedCommand(("/bin/bash", "-c", "true"), wrapped.clean_up)
            wrapped.clean_up()
            assert (session_sandbox.environment, session_sandbox.warning) == (
                {},
                "No sandbox: the sandbox is turned off.",
            )
            assert session_sandbox.report == unenforced_report("the sandbox is turned off", "Use --sandbox auto.")
            assert os.listdir(temporary) == []

    def test_required_where_nothing_can_be_enforced(self, place: Path) -> None:
        everything = SandboxPaths(("/",), str(place / "home"), (), CONTROL, (), str(place / "state"))
        with pytest.raises(SandboxUnavailable, match="the workspace is /"):
            SessionSandbox(SandboxMode.REQUIRED, everything)


class TestOn:
    def test_what_a_command_can_and_cannot_do(self, place: Path, temporary: Path) -> None:
        probes = {
            "in the root": "echo x > made",
            "temporary files": 'echo x > "${TMPDIR:-/tmp}/made"',
            "outside": f"echo x > {place}/home/made",
            "a secret": f"grep -q s3cr3t {place}/home/.ssh/id",
            "its own rules": f"grep -q s3cr3t {place}/config/policy",
            "other files at home": f"grep -q notes {place}/home/notes",
        }
        with opened(place) as session_sandbox:
            done = {what: run(session_sandbox, place, command).returncode == 0 for what, command in probes.items()}
            (private,) = temporary.iterdir()
            assert (private / "made").read_text() == "x\n"
        assert done == {
            "in the root": True,
            "temporary files": True,
            "outside": False,
            "a secret": False,
            "its own rules": False,
            "other files at home": True,
        }
        assert sorted(os.listdir(place / "root")) == [".bashrc", ".gemini", "made"]

    def test_control_files_stay_or_are_said_to_be_open(self, place: Path, temporary: Path) -> None:
        with opened(place) as session_sandbox:
            command = (
                "echo x > .gemini/settings.json; echo x > .bashrc; mv .gemini other;"
                "rmdir .claude; mkdir .claude && touch .claude/x; echo x > .envrc"
            )
            wrapped = session_sandbox.wrap(["/bin/true"], str(place / "root"), False)
            wrapped.clean_up()
            run(session_sandbox, place, command)
        root = place / "root"
        changed = {
            str(root / name)
            for name, path, text in (
                (".gemini", root / ".gemini" / "settings.json", "{}"),
                (".bashrc", root / ".bashrc", "# mine\n"),
            )
            if not path.exists() or path.read_text() != text
        }
        changed |= {str(root / name) for name in (".claude", ".envrc") if (root / name).exists()}
        names = [".envrc"] if session_sandbox.report.sandbox == "bubblewrap" else [name for name, _ in CONTROL]
        assert changed == set(wrapped.unprotected_paths) == {str(root / name) for name in names}

    @pytest.mark.parametrize(
        ("always", "asked", "reached"), [(False, False, False), (False, True, True), (True, False, True)]
    )
    def test_the_network(self, place: Path, temporary: Path, always: bool, asked: bool, reached: bool) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server, opened(place, network=always) as session_sandbox:
            command = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}"
            assert (run(session_sandbox, place, command, network=asked).returncode == 0) is reached

    def test_commands_are_told_where_they_are(self, place: Path, temporary: Path) -> None:
        with opened(place) as session_sandbox:
            assert session_sandbox.environment == {"SANDBOX": session_sandbox.report.sandbox}

    def test_private_files_go_in_the_end_even_after_a_failure(self, place: Path, temporary: Path) -> None:
        def fail() -> None:
            (private,) = temporary.iterdir()
            assert private.stat().st_mode & 0o777 == 0o700
            (private / "left").write_text("x")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError), opened(place):
            fail()
        assert list(temporary.iterdir()) == []

    def test_private_files_stay_while_something_runs_that_may_need_them(self, place: Path, temporary: Path) -> None:
        opened(place)
        with SessionSandbox(SandboxMode.AUTO, sandbox_paths(place), is_in_use=lambda: True):
            pass
        assert len(list(temporary.iterdir())) == 1

    def test_one_that_was_not_opened_lets_nothing_run(self, place: Path) -> None:
        session_sandbox = opened(place)
        with pytest.raises(RuntimeError, match="not open"):
            session_sandbox.wrap(["/bin/true"], str(place / "root"), False)

    def test_a_secret_that_came_later_is_hidden_too(self, place: Path, temporary: Path) -> None:
        with opened(place) as session_sandbox:
            assert run(session_sandbox, place, "true").returncode == 0
            (place / "home" / ".netrc").write_text("s3cr3t")
            assert run(session_sandbox, place, f"grep -q s3cr3t {place}/home/.netrc").returncode != 0


class TestNested:
    """Control paths at every depth, in real repositories."""

    @pytest.fixture
    def session_sandbox(self, place: Path, temporary: Path) -> Generator[SessionSandbox]:
        del temporary
        for name in ("", "sub", "far/er"):
            subprocess.run(["git", "init", "-q", place / "root" / name], check=True)
        paths = replace(sandbox_paths(place), control_paths=control_paths())
        with SessionSandbox(SandboxMode.AUTO, paths) as session_sandbox:
            if session_sandbox.report.sandbox != "bubblewrap":
                pytest.skip("SANDBOX MISSING: bubblewrap does not work here")
            yield session_sandbox

    @staticmethod
    def changes(session_sandbox: SessionSandbox, place: Path, command: str) -> tuple[list[str], list[str]]:
        """The control paths that a command created, and those that it changed."""
        wrapped = session_sandbox.wrap(["/bin/bash", "-c", command], str(place / "root"), False)
        subprocess.run(wrapped.arguments, stdin=subprocess.DEVNULL, check=False, capture_output=True)
        wrapped.clean_up()
        found = wrapped.find_changes()
        assert found.is_complete
        created, changed = (
            [os.path.relpath(path, place / "root") for path in paths] for paths in (found.created, found.changed)
        )
        return created, changed

    @pytest.mark.parametrize("directory", ["sub", "far/er"])
    def test_another_program_is_not_made_to_run_anything(
        self, session_sandbox: SessionSandbox, place: Path, directory: str
    ) -> None:
        mark, git = place / "MARK", place / "root" / directory / ".git"
        script = f"touch {mark};false"
        take_over = f"git init -q {directory}; git -C {directory} config core.fsmonitor '{script}'"
        attempts = (
            take_over,
            f"echo '[core] fsmonitor = \"{script}\"' > {directory}/.git/config",
            f"mkdir evil; cp {directory}/.git/config evil; echo ../../evil > {directory}/.git/commondir",
            f"mv {directory} moved; mkdir -p {directory}; {take_over}",
            f"mv {directory}/.git moved; {take_over}",
            f"rm -rf {directory}; {take_over}",
            f"cd {directory}/.git/hooks; printf '#!/bin/sh\n{script}' > post-index-change; chmod +x *",
        )
        before = (git / "config").read_text()
        for attempt in attempts:
            run(session_sandbox, place, attempt)
        subprocess.run(["git", "-C", git.parent, "status"], capture_output=True, check=False)
        assert not mark.exists()
        assert (git / "config").read_text() == before
        assert not (git / "commondir").exists()

    def test_hooks_in_the_work_tree(self, session_sandbox: SessionSandbox, place: Path) -> None:
        hook = place / "root" / "sub" / "tools" / "hooks" / "pre-commit"
        hook.parent.mkdir(parents=True)
        hook.write_text("#!/bin/sh\n")
        subprocess.run(["git", "-C", place / "root" / "sub", "config", "core.hooksPath", "tools/hooks"], check=True)
        command = "cd sub; echo touch MARK >> tools/hooks/pre-commit; mv tools x; mkdir -p tools/hooks; touch f"
        assert self.changes(session_sandbox, place, command) == ([], [])
        assert (hook.read_text(), (place / "root/sub/f").exists()) == ("#!/bin/sh\n", True)

    def test_repositories_can_be_worked_in(self, session_sandbox: SessionSandbox, place: Path) -> None:
        command = "cd sub; touch f; git add f; git -c user.name=x -c user.email=x commit -q -m x; git status --short"
        done = run(session_sandbox, place, command)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def test_new_ones_are_reported_and_can_be_worked_with(self, session_sandbox: SessionSandbox, place: Path) -> None:
        command = "git init -q new/x; mkdir new/.vscode; echo > new/.vscode/tasks.json; git clone -q new/x clone"
        assert self.changes(session_sandbox, place, command) == (["clone/.git", "new/.vscode", "new/x/.git"], [])
        assert self.changes(session_sandbox, place, "true") == ([], [])
        command = "git -C new/x remote add origin y; echo >> new/.vscode/tasks.json"
        assert self.changes(session_sandbox, place, command) == ([], ["new/.vscode", "new/x/.git/config"])
        assert self.changes(session_sandbox, place, "rm -rf new") == ([], [])
        assert not (place / "root" / "new").exists()

    def test_they_are_protected_in_the_next_session(self, session_sandbox: SessionSandbox, place: Path) -> None:
        assert self.changes(session_sandbox, place, "git init -q new") == (["new/.git"], [])
        paths = replace(sandbox_paths(place), control_paths=control_paths())
        with SessionSandbox(SandboxMode.AUTO, paths) as another:
            assert self.changes(another, place, "git -C new config core.fsmonitor x; rm -rf new") == ([], [])
        assert "fsmonitor" not in (place / "root/new/.git/config").read_text()

    @pytest.mark.parametrize(
        "disguise", ["mkdir far/objects far/refs; touch far/HEAD", "mkdir -p far/.vscode/x", "chmod 0 far"]
    )
    def test_what_was_there_before_stays_protected(
        self, session_sandbox: SessionSandbox, place: Path, disguise: str
    ) -> None:
        self.changes(session_sandbox, place, disguise)
        take_over = "chmod 755 far; git -C far/er config core.fsmonitor x; mv far/er x; mv far x"
        self.changes(session_sandbox, place, take_over)
        (place / "root" / "far").chmod(0o755)
        assert "fsmonitor" not in (place / "root/far/er/.git/config").read_text()

    def test_a_repository_at_the_top_is_protected_from_then_on(
        self, session_sandbox: SessionSandbox, place: Path
    ) -> None:
        shutil.rmtree(place / "root" / ".git")
        assert self.changes(session_sandbox, place, "git init -q .") == ([".git"], [])
        assert self.changes(session_sandbox, place, "git config core.fsmonitor x") == ([], [])
        assert "fsmonitor" not in (place / "root" / ".git" / "config").read_text()

    def test_placeholders_of_another_command_are_not_taken_for_new(
        self, session_sandbox: SessionSandbox, place: Path
    ) -> None:
        arguments = ["/bin/bash", "-c", "touch begun; while [ -e begun ]; do sleep 0.05; done"]
        running = session_sandbox.wrap(arguments, str(place / "root"), False)
        with subprocess.Popen(running.arguments, stdin=subprocess.DEVNULL, cwd=place / "root"):
            wait_until((place / "root" / "begun").exists)
            assert not running.find_changes()
            plant = "mkdir -p .claude && echo {} > .claude/settings.json"
            for _ in range(2):
                assert self.changes(session_sandbox, place, plant) == ([], [])
            (place / "root" / "begun").unlink()
        running.clean_up()
        assert not (place / "root" / ".claude").exists()

    def test_what_a_background_process_made_is_reported_with_the_next_command(
        self, session_sandbox: SessionSandbox, place: Path
    ) -> None:
        assert self.changes(session_sandbox, place, "true") == ([], [])
        arguments = ["/bin/bash", "-c", "git init -q later"]
        background = session_sandbox.wrap(arguments, str(place / "root"), False)
        subprocess.run(background.arguments, stdin=subprocess.DEVNULL, check=False)
        background.clean_up()
        assert self.changes(session_sandbox, place, "true") == (["later/.git"], [])
        assert self.changes(session_sandbox, place, "true") == ([], [])

    def test_a_new_root_has_nothing_new(self, session_sandbox: SessionSandbox, place: Path) -> None:
        subprocess.run(["git", "init", "-q", place / "more" / "x"], check=True)
        background = session_sandbox.wrap(["/bin/true"], str(place / "root"), False)
        session_sandbox.add_roots([str(place / "more")])
        assert self.changes(session_sandbox, place, "true") == ([], [])
        background.clean_up()


GOOD = EnforcementAxis(enforced=True, detail="refused")
BAD = EnforcementAxis(enforced=False, detail="it can")


class TestWiden:
    def test_commands_can_work_there_too(self, place: Path, temporary: Path) -> None:
        del temporary
        more, command = place / "more", f"echo x > {place}/more/made"
        more.mkdir()
        with opened(place) as session_sandbox:
            before = run(session_sandbox, place, command).returncode
            session_sandbox.add_roots([str(more)])
            assert (before != 0, run(session_sandbox, place, command).returncode) == (True, 0)
            assert run(session_sandbox, place, f"echo x > {place}/home/made").returncode != 0

    def test_not_where_the_sandbox_would_be_lost(self, place: Path, temporary: Path) -> None:
        del temporary
        with opened(place) as session_sandbox:
            with pytest.raises(SandboxUnavailable, match="The sandbox would stop working: the workspace is /"):
                session_sandbox.add_roots(["/"])
            assert run(session_sandbox, place, f"echo x > {place}/home/made").returncode != 0

    def test_without_a_sandbox(self, place: Path) -> None:
        with SessionSandbox(SandboxMode.OFF, sandbox_paths(place)) as session_sandbox:
            session_sandbox.add_roots(["/"])
            assert session_sandbox.warning == "No sandbox: the sandbox is turned off."


class TestWords:
    @pytest.mark.parametrize(
        ("report", "note"),
        [
            (unenforced_report("none is installed"), "No sandbox: none is installed."),
            (SandboxReport("landlock", GOOD, GOOD, GOOD, GOOD, GOOD, GOOD), ""),
            (
                SandboxReport("landlock", GOOD, BAD, GOOD, GOOD, BAD, GOOD),
                "The sandbox (landlock) does not protect: attributes (it can), control files (it can).",
            ),
            (
                SandboxReport("bubblewrap", GOOD, GOOD, GOOD, BAD, GOOD, BAD),
                "The sandbox (bubblewrap) does not protect: processes (it can), secrets (it can).",
            ),
        ],
    )
    def test_the_note(self, report: SandboxReport, note: str) -> None:
        assert format_warning(report) == note

    def test_every_axis_has_a_name(self) -> None:
        axes = [EnforcementAxis(enforced=True, detail=str(number)) for number in range(6)]
        first, second, third, fourth, fifth, sixth = axes
        named = axes_by_name(SandboxReport("x", first, second, third, fourth, fifth, sixth))
        names = ("files", "attributes", "network", "processes", "control files", "secrets")
        assert named == dict(zip(names, axes, strict=True))


class TestPrograms:
    """Configured programs, such as MCP servers, that lie where the sandbox hides everything."""

    @pytest.fixture
    def clone(self) -> Generator[Path]:
        top = Path(os.path.realpath(tempfile.mkdtemp(prefix="program-", dir="/tmp")))
        (top / "package" / "parts").mkdir(parents=True)
        (top / "package" / "pyproject.toml").touch()
        (top / "package" / "data").write_text("data")
        (top / "package" / "parts" / "server").write_text('cat "$(dirname "$0")/../data"; touch "$0" && echo changed')
        (top / "beside").write_text("beside")
        yield top
        shutil.rmtree(top)

    def test_below_the_temporary_directory(self, place: Path, temporary: Path, clone: Path) -> None:
        script = str(clone / "package" / "parts" / "server")
        with opened(place) as session_sandbox:
            if session_sandbox.report.sandbox != "bubblewrap":
                pytest.skip("SANDBOX MISSING: only bubblewrap hides the temporary directory")
            arguments = ["/bin/sh", script]
            assert output_of(session_sandbox.wrap_program(arguments, str(place / "root"))) == "data"
            assert output_of(session_sandbox.wrap(arguments, str(place / "root"), False)) == ""
            reading = ["/bin/sh", "-c", f"cat {clone}/beside", script]
            assert output_of(session_sandbox.wrap_program(reading, str(place / "root"))) == ""

    def test_in_a_directory_of_secrets(self, place: Path, temporary: Path) -> None:
        plugins = place / "home" / ".docker" / "plugins"
        plugins.mkdir(parents=True)
        (plugins / "server").write_text('echo started; cat "$(dirname "$0")/../config.json"')
        (place / "home" / ".docker" / "config.json").write_text("s3cr3t")
        with opened(place) as session_sandbox:
            if session_sandbox.report.sandbox != "bubblewrap":
                pytest.skip("SANDBOX MISSING: bubblewrap does not work here")
            wrapped = session_sandbox.wrap_program(["/bin/sh", str(plugins / "server")], str(place / "root"))
            assert output_of(wrapped) == "started\n"


def output_of(wrapped: SandboxedCommand) -> str:
    done = subprocess.run(wrapped.arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    wrapped.clean_up()
    return done.stdout


class TestMounts:
    def test_only_a_container_shows_a_path_elsewhere(self, place: Path) -> None:
        opened(place)
        moved = (SandboxMount(str(place / "home"), "/elsewhere"),)
        with pytest.raises(SandboxUnavailable, match="needs a container"):
            SessionSandbox(SandboxMode.AUTO, sandbox_paths(place), mounts=moved)

    def test_a_secret_place_that_is_shown(self, place: Path) -> None:
        ssh = str(place / "home" / ".ssh")
        opened(place)
        session_sandbox = SessionSandbox(SandboxMode.AUTO, sandbox_paths(place), mounts=(SandboxMount(ssh, ssh),))
        with session_sandbox:
            wrapped = session_sandbox.wrap(["/bin/cat", f"{ssh}/id"], str(place / "root"), network=False)
            done = subprocess.run(wrapped.arguments, capture_output=True, text=True, timeout=60, check=False)
            wrapped.clean_up()
        assert done.stdout == "s3cr3t"

    def test_offline_means_for_everybody(self, place: Path) -> None:
        opened(place)
        with SessionSandbox(SandboxMode.AUTO, sandbox_paths(place), is_offline=True) as session_sandbox:
            session_sandbox.wrap(["/bin/true"], str(place / "root"), network=False).clean_up()
            with pytest.raises(PermissionError, match="GEMINI_SANDBOX_PROXY_COMMAND"):
                session_sandbox.wrap(["/bin/true"], str(place / "root"), network=True)
