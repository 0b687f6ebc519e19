"""The log file of unexpected exceptions."""

import asyncio
import logging
import os
import stat
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.program import ProgramEnv, ProgramResult, text_script
from support.terminal.chat import (
    READY,
    TerminalEnv,
    quit_program,
    send_prompt,
    shown_text,
    wait_for_words,
)
from support.terminal.pty_program import run_at_terminal
from support.terminal.screen import ScreenUser, open_screen
from support.wait import wait_until
from tejat.app.diagnostics.event_log import log_event
from tejat.app.diagnostics.log_file import KEPT_LOGS, MAX_LOG_BYTES, open_log, report_crash
from tejat.config.paths import AppPaths, app_paths
from tejat.core.agent.events import Noticed, Severity
from tejat.core.errors import UsageError
from tejat.core.log import enable_debug, is_debugging, log_path, logger, report_unexpected, tools_logger
from tejat.core.tools.base import unexpected_error_result
from tejat.mcp.errors import McpFailure
from tejat.mcp.server_requests import ServerRequestHandler
from tejat.mcp.types import ClientCallbacks, McpRoot

SECRET = "sk-0123456789-abcdefghij"


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")})


@pytest.fixture(autouse=True)
def default_level() -> Generator[None]:
    yield
    logger.setLevel(logging.NOTSET)


def fail(text: str = "broken") -> Exception:
    try:
        raise KeyError(text)
    except KeyError as error:
        return error


def text_of(paths: AppPaths) -> str:
    return Path(paths.log).read_text()


def test_an_exception_is_written_with_its_traceback(paths: AppPaths) -> None:
    with open_log(paths, {}):
        sentence = report_unexpected(fail(), "a test")
    assert sentence == f"Internal error: KeyError. Details are in {paths.log}"
    assert "Unexpected exception in a test\nTraceback (most recent call last):" in text_of(paths)
    assert "raise KeyError(text)" in text_of(paths)
    assert stat.S_IMODE(os.stat(paths.log).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(paths.log)).st_mode) == 0o700


def test_an_exception_that_passes_several_places_is_written_once(paths: AppPaths) -> None:
    with open_log(paths, {}), open_log(paths, {}):
        error = fail()
        assert report_unexpected(error, "one place") == report_unexpected(error, "another")
    assert text_of(paths).count("Traceback") == 1


def test_tokens_are_masked_by_their_shape(paths: AppPaths) -> None:
    token = "xoxb-1234567890-abcdefghij"
    enable_debug()
    try:
        with open_log(paths, {}):
            report_unexpected(fail(f"no such token {token}"), "a test")
            log_event(Noticed("x" * 950 + f" {token}", Severity.NOTE))
    finally:
        logger.setLevel(logging.NOTSET)
    assert "no such token ***" in text_of(paths)
    assert "xoxb" not in text_of(paths)


def test_secrets_are_masked(paths: AppPaths) -> None:
    with open_log(paths, {"API_KEY": SECRET}):
        report_unexpected(fail(f"no such key {SECRET}"), "a test")
    assert SECRET not in text_of(paths)
    assert "API_KEY" in text_of(paths)


def test_secrets_that_become_known_later_are_masked_too(paths: AppPaths) -> None:
    with open_log(paths, {"API_KEY": SECRET}), open_log(paths, {"OTHER_KEY": f"{SECRET}-other"}):
        report_unexpected(fail(f"no such key {SECRET} {SECRET}-other"), "a test")
    assert SECRET not in text_of(paths)


def test_nothing_is_created_without_a_record(paths: AppPaths) -> None:
    with open_log(paths, {}):
        logger.debug("Not now.")
        assert log_path() == paths.log
    assert log_path() is None
    assert not os.path.exists(os.path.dirname(paths.log))


def test_what_happens_as_expected_is_not_in_the_file(paths: AppPaths) -> None:
    with open_log(paths, {}):
        tools_logger.warning("expected")
        assert not os.path.exists(paths.log)
        logger.warning("a warning of the program")
        tools_logger.error("unexpected")
    assert [line.partition(" tejat")[2] for line in text_of(paths).splitlines()] == [
        ": a warning of the program",
        ".tools: unexpected",
    ]


def test_handlers_of_others_get_no_secrets_either(paths: AppPaths, caplog: pytest.LogCaptureFixture) -> None:
    with open_log(paths, {"API_KEY": SECRET}):
        report_unexpected(fail(f"no {SECRET}"), "a test")
    assert SECRET not in caplog.text
    assert "no [the secret API_KEY]" in caplog.text


def test_a_log_that_cannot_be_written_disturbs_nobody(paths: AppPaths) -> None:
    Path(paths.state).mkdir(parents=True)
    (Path(paths.state) / "log").write_text("a file")
    with open_log(paths, {}):
        assert report_unexpected(fail(), "a test").startswith("Internal error: KeyError.")


def test_a_full_log_is_rotated(paths: AppPaths) -> None:
    with open_log(paths, {}):
        for number in range(KEPT_LOGS + 3):
            logger.error("%s %s", number, "x" * (MAX_LOG_BYTES // 2 + 1))
    names = sorted(os.listdir(os.path.dirname(paths.log)))
    assert names == ["tejat.log", "tejat.log.1", "tejat.log.2", "tejat.log.3"]
    assert f"tejat: {KEPT_LOGS + 2} xx" in text_of(paths)
    assert f"tejat: {KEPT_LOGS + 1} xx" in Path(f"{paths.log}.1").read_text()


def test_exceptions_of_background_tasks_are_written(paths: AppPaths, capfd: pytest.CaptureFixture[str]) -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_exception_handler({"message": "A task failed.", "exception": fail("lost")})

    with open_log(paths, {}):
        asyncio.run(main())
    assert "A task failed." in text_of(paths)
    assert "KeyError: 'lost'" in text_of(paths)
    assert capfd.readouterr().err == ""


def test_debug(paths: AppPaths) -> None:
    assert not is_debugging()
    with open_log(paths, {}):
        enable_debug()
        logger.debug("Details.")
    assert is_debugging()
    assert "DEBUG tejat: Details." in text_of(paths)


def test_a_crash_of_the_program(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "MY_API_KEY": SECRET}
    sentence = report_crash(fail(SECRET), environment)
    path = app_paths(environment).log
    assert sentence.endswith(f"Details are in {path}")
    assert SECRET not in Path(path).read_text()


def test_a_broken_tool(paths: AppPaths) -> None:
    with open_log(paths, {}):
        unexpected_error_result(fail("in a tool"), "count_words")
    assert "Unexpected exception in the tool 'count_words'" in text_of(paths)
    assert "KeyError: 'in a tool'" in text_of(paths)


def test_a_broken_handler_of_server_requests(paths: AppPaths) -> None:
    def broken() -> list[McpRoot]:
        raise fail("in a handler")

    async def main() -> None:
        with pytest.raises(McpFailure, match="It could not be answered"):
            await ServerRequestHandler("alias", ClientCallbacks(roots=broken)).handle("roots/list", {})

    with open_log(paths, {}):
        asyncio.run(main())
    assert "KeyError: 'in a handler'" in text_of(paths)


class TestProgram:
    """The real program with a defect built in."""

    BROKEN_SESSION = """
from tejat.cli import main
from tejat.engine.loop import conversation
async def broken(*_, **__):
    return {}["missing"]
conversation.Conversation.compress_if_needed = broken
main.program()
"""
    BROKEN_COMMAND = """
from tejat.cli import main
from tejat.cli.commands import doctor
def broken(*_, **__):
    return {}["missing"]
doctor.run = broken
main.program()
"""

    @pytest.fixture
    def env(self, tmp_path: Path) -> ProgramEnv:
        return ProgramEnv(tmp_path)

    def run(self, env: ProgramEnv, code: str, *words: str) -> ProgramResult:
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=env.project,
            env=env.environment,
            timeout=60,
            check=False,
        )
        return ProgramResult(done.returncode, done.stdout, done.stderr)

    def log_of(self, env: ProgramEnv) -> Path:
        return Path(app_paths(env.environment).log)

    def test_of_a_session(self, env: ProgramEnv) -> None:
        done = self.run(env, self.BROKEN_SESSION, "-p", "hi", "-m", env.script(text_script("Hello.")))
        assert done.code == 1
        assert f"Internal error: KeyError. Details are in {self.log_of(env)}" in done.stderr
        assert "Traceback" not in done.stderr
        assert "KeyError: 'missing'" in self.log_of(env).read_text()

    def test_of_a_session_with_debug(self, env: ProgramEnv) -> None:
        done = self.run(env, self.BROKEN_SESSION, "--debug", "-p", "hi", "-m", env.script(text_script("Hello.")))
        assert done.code == 1
        assert "KeyError: 'missing'" in done.stderr
        assert "DEBUG tejat: SessionStarted(" in self.log_of(env).read_text()

    def test_of_a_plain_session(self, env: ProgramEnv) -> None:
        """The user sees where the log is, and goes on."""
        model = env.script(text_script("Hello."))
        with run_at_terminal("-c", self.BROKEN_SESSION, "-m", model, cwd=env.project, HOME=str(env.home)) as terminal:
            for _ in range(2):
                terminal.wait_for("> ")
                terminal.type(b"hi\n")
                terminal.wait_for("Internal error: KeyError. Details are in")
            terminal.wait_for("> ")
            assert terminal.shown.count("Internal error") == 2
            terminal.type(b"/quit\n")
            assert terminal.wait_for_exit()[0] == 0
        assert self.log_of(env).read_text().count("KeyError: 'missing'") == 2

    BROKEN_SCREEN = """
from tejat.cli import main
from tejat.ui.terminal import app
def broken(*_, **__):
    return {{}}["missing"]
app.{name} = broken
main.program()
"""

    @pytest.fixture
    def screen_env(self, tmp_path: Path) -> TerminalEnv:
        return TerminalEnv(tmp_path)

    @contextmanager
    def at_screen(self, screen_env: TerminalEnv, code: str, *flags: str) -> Generator[tuple[ScreenUser, Path]]:
        """The broken program at a terminal, and its log."""
        words = ("-m", screen_env.script(text_script("Hello.")), *flags)
        home = str(screen_env.home)
        program = (sys.executable, "-c", code)
        with open_screen(*words, columns=300, cwd=screen_env.project, program=program, HOME=home) as user:
            yield user, Path(app_paths({"HOME": home}).log)

    @pytest.mark.parametrize("flags", [(), ("--debug",)])
    def test_of_a_full_screen_session(self, screen_env: TerminalEnv, flags: tuple[str, ...]) -> None:
        """The user sees where the log is, and goes on."""
        with self.at_screen(screen_env, self.BROKEN_SESSION, *flags) as (user, log):
            sentence = f"Internal error: KeyError. Details are in {log}"
            user.wait_for(READY)
            for count in (1, 2):
                send_prompt(user, "hi")
                wait_until(lambda count=count: shown_text(user).count(sentence) == count, 60, shown_text(user))
            quit_program(user)
            assert "Traceback" not in shown_text(user)
        assert log.read_text().count("KeyError: 'missing'") == 2
        assert ("DEBUG tejat: SessionStarted(" in log.read_text()) is bool(flags)

    @pytest.mark.parametrize(
        ("name", "keys"),
        [("TerminalApp._search_history", "c-r"), ("TerminalApp._complete", "/"), ("TerminalApp._status", "x")],
    )
    def test_of_the_screen(self, screen_env: TerminalEnv, name: str, keys: str) -> None:
        """A key, a background task, and what is drawn again and again."""
        with self.at_screen(screen_env, self.BROKEN_SCREEN.format(name=name)) as (user, log):
            user.wait_for(READY)
            user.press(keys)
            wait_for_words(user, f"Internal error: KeyError. Details are in {log}", 60)
            user.press("c-u")
            quit_program(user)
            assert "Traceback" not in shown_text(user)
        assert log.read_text().count("KeyError: 'missing'") == 1

    def test_that_ends_the_screen(self, screen_env: TerminalEnv) -> None:
        with self.at_screen(screen_env, self.BROKEN_SCREEN.format(name="TerminalApp.run_repl")) as (user, log):
            assert user.wait_for_exit() == 1
            assert f"tejat: Internal error: KeyError. Details are in {log}" in shown_text(user)
            assert "Traceback" not in shown_text(user)
            assert user.modes_are_restored()
        assert "KeyError: 'missing'" in log.read_text()

    def test_of_a_subcommand(self, env: ProgramEnv) -> None:
        done = self.run(env, self.BROKEN_COMMAND, "doctor")
        assert done.code == 1
        assert done.stderr == f"tejat: Internal error: KeyError. Details are in {self.log_of(env)}\n"
        assert "KeyError: 'missing'" in self.log_of(env).read_text()

    @pytest.mark.parametrize("words", [("--debug", "doctor"), ("doctor", "--debug")])
    def test_of_a_subcommand_with_debug(self, env: ProgramEnv, words: tuple[str, ...]) -> None:
        done = self.run(env, self.BROKEN_COMMAND, *words)
        assert done.code == 1
        assert "KeyError: 'missing'" in done.stderr

    def test_help_names_the_flag(self, env: ProgramEnv) -> None:
        assert "--debug" in self.run(env, "from tejat.cli import main\nmain.program()", "--help").stdout


class TestChosenFile:
    """`GEMINI_DEBUG_LOG_FILE`."""

    @staticmethod
    def paths(base: Path, path: Path) -> AppPaths:
        return app_paths({"HOME": str(base), "GEMINI_DEBUG_LOG_FILE": str(path)})

    def test_debug_messages_go_there_and_its_directory_stays_as_it_is(self, tmp_path: Path) -> None:
        directory = tmp_path / "shared"
        directory.mkdir(mode=0o755)
        directory.chmod(0o755)
        paths = self.paths(tmp_path, directory / "debug.log")
        enable_debug()
        with open_log(paths, {"KEY": SECRET}):
            logger.debug("with %s", SECRET)
        written = (directory / "debug.log").read_text()
        assert "DEBUG tejat: with [the secret KEY]" in written
        assert stat.S_IMODE(directory.stat().st_mode) == 0o755
        assert not Path(paths.log).exists()

    def test_only_if_debugging(self, tmp_path: Path) -> None:
        paths = self.paths(tmp_path, tmp_path / "debug.log")
        with open_log(paths, {}):
            logger.error("broken")
        assert "broken" in text_of(paths)
        assert not (tmp_path / "debug.log").exists()

    def test_one_that_cannot_be_written(self, tmp_path: Path) -> None:
        missing = tmp_path / "missing" / "debug.log"
        enable_debug()
        refused = pytest.raises(UsageError, match=r"Could not write .* \(GEMINI_DEBUG_LOG_FILE\)")
        with refused, open_log(self.paths(tmp_path, missing), {}):
            pass
        said = report_crash(fail(), {"HOME": str(tmp_path), "GEMINI_DEBUG_LOG_FILE": str(missing)})
        assert said.startswith("Internal error: KeyError. Details are in ")


@pytest.mark.parametrize(
    ("name", "value", "counts"), [("DEBUG", "1", True), ("DEBUG_MODE", "TRUE", True), ("DEBUG", "app:*", False)]
)
def test_variables_that_are_as_good_as_the_flag(tmp_path: Path, name: str, value: str, counts: bool) -> None:
    machine = ProgramEnv(tmp_path)
    model = machine.script(text_script("Hi."))
    log = tmp_path / "debug.log"
    done = machine.run("-m", model, "-p", "hi", **{name: value, "GEMINI_DEBUG_LOG_FILE": str(log)})
    assert (done.code, done.stdout) == (0, "Hi.\n")
    assert log.exists() is counts
    if counts:
        assert "SessionStarted" in log.read_text()
