"""The first command that anybody tries: it works offline, without a key, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.terminal.pty_program import run_at_terminal

STEPS = (
    "You: A test of this project fails.",
    "list_directory path=.",
    "search_file_content pattern=with_discount",
    "read_file file_path=shop/price.py",
    "replace file_path=shop/price.py",
    "    -    return price * percent // 100",
    "    +    return price * (100 - percent) // 100",
    "run_shell_command $ ",
    "    Ran 2 tests in ",
    "    OK",
    "save_memory fact=",
    "both tests pass now.",
    "What to try next",
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a place for temporary files, both empty."""
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "GEMINI_CLI_HOME", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return tmp_path


def left_in(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


def in_order(text: str) -> list[str]:
    """The steps that were shown, in the order in which they were."""
    found = [(text.find(step), step) for step in STEPS]
    return [step for at, step in sorted(found) if at >= 0]


def test_runs_through_and_leaves_nothing_behind(place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tejat", "demo", "--yes"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=place,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert in_order(done.stdout) == list(STEPS)
    assert left_in(place) == ["home", "temporary"]


def test_what_the_person_has_set_up_is_not_read(place: Path) -> None:
    (place / "home" / ".gemini").mkdir()
    (place / "home" / ".gemini" / "settings.json").write_text('{"tools": {"core": ["glob"]}}')
    environment = {**os.environ, "GEMINI_MODEL": "nonsense", "GEMINI_SYSTEM_MD": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-m", "tejat", "demo", "-y"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert in_order(done.stdout) == list(STEPS)


def test_says_what_to_do_where_nobody_can_answer(place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tejat", "demo"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (42, "")
    assert "run it in a terminal, or agree to everything with `tejat demo --yes`" in done.stderr
    assert left_in(place) == ["home", "temporary"]


class TestAtTheTerminal:
    def test_asks_before_each_change(self, place: Path) -> None:
        with run_at_terminal("-m", "tejat", "demo", cwd=place) as terminal:
            for question in ("/shop/price.py (+1 -1)", "Run a shell command", "GEMINI.md (+"):
                terminal.wait_for(question)
                terminal.wait_for("Your answer (")
                terminal.type(b"y\n")
            code, printed = terminal.wait_for_exit()
        assert code == 0
        assert in_order(printed) == list(STEPS)
        assert left_in(place) == ["home", "temporary"]

    def test_a_no_ends_it(self, place: Path) -> None:
        with run_at_terminal("-m", "tejat", "demo", cwd=place) as terminal:
            terminal.wait_for("Your answer (")
            terminal.type(b"n\n")
            code, printed = terminal.wait_for_exit()
        assert code == 3
        assert "You said no, so it was not done" in printed
        assert "run_shell_command" not in printed
        assert left_in(place) == ["home", "temporary"]

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    def test_cleans_up_when_it_is_ended(self, number: signal.Signals, place: Path) -> None:
        with run_at_terminal("-m", "tejat", "demo", cwd=place) as terminal:
            terminal.wait_for("Your answer (")
            assert left_in(place / "temporary")
            terminal.process.send_signal(number)
            code, _ = terminal.wait_for_exit()
        assert code == 128 + number
        assert left_in(place) == ["home", "temporary"]


def test_the_test_of_the_project_really_fails(place: Path) -> None:
    """Or else there would be nothing to show."""
    code = "import sys; from tejat.cli.commands.demo.main import make_project; make_project(sys.argv[1])"
    project = place / "project"
    subprocess.run([sys.executable, "-c", code, project], timeout=60, check=True)
    tests = [sys.executable, "-m", "unittest"]
    done = subprocess.run(tests, cwd=project, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "AssertionError: 200 != 800" in done.stderr
    assert "FAILED (failures=1)" in done.stderr
