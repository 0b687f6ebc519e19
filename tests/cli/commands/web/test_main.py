"""`tejat web` as a program: its link, its end, and sessions of other processes."""

import re
import signal
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.program import ProgramEnv, script_answer, text_script
from support.terminal.chat import quit_program
from support.terminal.screen import open_screen
from support.web.browser import Browser, Page, browser

__all__ = ["browser"]

GRACE = 0.6
EDIT = {"file_path": "${root}/a.txt", "old_string": "two", "new_string": "zwei"}
SCRIPT = (
    script_answer(calls=[("read_file", {"path": "${root}/a.txt"})])
    + script_answer(say="I will edit it.", calls=[("replace", EDIT)])
    + text_script("All done.", "And more.")
)


@contextmanager
def web_page(env: ProgramEnv) -> Generator[str]:
    """The link of a running server."""
    program = env.start("web", "--no-open", "--port", "0")
    assert program.stdout is not None
    try:
        yield program.stdout.readline().decode().strip()
    finally:
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=20)
        assert (program.returncode, out, err) == (130, b"", b"")


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    found = ProgramEnv(tmp_path)
    (found.project / "a.txt").write_text("one\ntwo\nthree\n")
    return found


def test_it_prints_the_link_and_ends_with_ctrl_c(env: ProgramEnv) -> None:
    with web_page(env) as link:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", link)


@pytest.mark.parametrize(
    ("words", "problem", "code"),
    [
        (["--port", "x"], "'x' is not a port. Use a number up to 65535.", 2),
        (["--port", "70000"], "'70000' is not a port.", 2),
        (["--listen", "192.0.2.1"], "--listen needs --tls-cert FILE and --tls-key FILE.", 42),
        (["--listen", "192.0.2.1", "--tls-cert", "c", "--tls-key", "k"], "--listen needs a password.", 42),
        (["extra"], "Unexpected argument 'extra'.", 2),
    ],
)
def test_wrong_options_are_explained(env: ProgramEnv, words: list[str], problem: str, code: int) -> None:
    done = env.run("web", "--no-open", *words)
    assert problem in done.stderr
    assert (done.code, done.stdout) == (code, "")


def test_a_port_in_use_is_explained(env: ProgramEnv) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = env.run("web", "--no-open", "--port", str(port))
    assert done.stderr.strip() == f"tejat: Port {port} is in use. Choose another with --port N, or leave it out."
    assert done.code == 42


def test_the_token_is_in_no_file_of_the_user(env: ProgramEnv) -> None:
    with web_page(env) as link:
        token = link.partition("token=")[2]
        found = subprocess.run(["grep", "-rl", token, str(env.home)], capture_output=True, check=False)
        assert found.stdout == b""


def test_no_process_shows_the_token(env: ProgramEnv) -> None:
    """A command of the agent can read the arguments and the environment of all processes of its user."""
    with web_page(env) as link:
        token = link.partition("token=")[2].encode()
        found = list[Path]()
        for process in Path("/proc").glob("[0-9]*"):
            for name in ("cmdline", "environ"):
                with suppress(OSError):
                    if token in (process / name).read_bytes():
                        found.append(process / name)
        assert found == []


def open_session(page: Page, link: str) -> None:
    page.open(link)
    page.wait_for(".session-entry.waiting a")
    page.click(".session-entry.waiting a")
    page.wait_for(".question-panel")
    time.sleep(GRACE)


def test_a_session_in_the_background_is_answered_prompted_and_stopped(env: ProgramEnv, browser: Browser) -> None:
    started = env.run("-p", "edit it", "-m", env.script(SCRIPT), "--detach", "--sandbox=off")
    assert started.code == 0, started
    with web_page(env) as link, browser.page() as page:
        open_session(page, link)
        page.click('.choice[data-letter="y"]')
        page.wait_for("text=All done.")
        assert (env.project / "a.txt").read_text() == "one\nzwei\nthree\n"
        page.fill("#prompt", "more")
        page.press("Enter")
        page.wait_for("text=And more.")
        page.click("text=Figures and timeline")
        page.wait_for("h2:has-text('Timelines')")
        page.click("text=Open the transcript")
        page.wait_for("#prompt")
        assert env.run("sessions", "stop", started.stdout.strip()).code == 0
        page.wait_for(".ended-note:has-text('tejat --resume')")
        page.wait_for("text=And more.")
        page.click("nav a:has-text('History')")
        page.fill("#search", "zwei")
        page.press("Enter")
        page.wait_for(".search-results mark")
        assert page.log["errors"] == []


def test_two_browsers_and_a_terminal_share_a_session(env: ProgramEnv, browser: Browser) -> None:
    words = ("-m", env.script(SCRIPT), "-i", "edit it", "--sandbox=off")
    with (
        open_screen(*words, cwd=env.project, HOME=str(env.home)) as user,
        web_page(env) as link,
        browser.page("one") as one,
        browser.page("two") as two,
    ):
        user.wait_for("Apply this change?")
        open_session(one, link)
        open_session(two, link)
        one.click('.choice[data-letter="y"]')
        user.wait_for("Answered elsewhere.")
        two.wait_for("text=Answered elsewhere.")
        user.wait_for("All done.", idle=True)
        for page in (one, two):
            page.wait_for("text=All done.")
        assert one.count(".notes :text('Answered elsewhere.')") == 0
        user.type("go on")
        user.press("enter")
        user.wait_for("And more.", idle=True)
        for page in (one, two):
            page.wait_for("text=And more.")
            assert page.count(".block.prompt") == 2
        quit_program(user)
        one.wait_for(".ended-note")
