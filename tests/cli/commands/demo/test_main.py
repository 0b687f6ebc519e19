"""The first command that anybody tries: it works offline, without a key, and leaves nothing behind."""

import subprocess
import sys
from pathlib import Path

import pytest

STEPS = (
    "You: A test fails.",
    "search_file_content pattern=discount",
    "read_file file_path=shop/price.py",
    "run_shell_command $ python3 -m unittest",
    "AssertionError: 200 != 800",
    "replace file_path=shop/price.py",
    "return price - price * percent // 100",
    "OK",
    "both tests pass.",
    "To start for real:",
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


def run_demo(*words: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "tejat", "demo", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=60,
        check=False,
    )


def left_in(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


def missing_steps(text: str) -> list[str]:
    return [step for step in STEPS if step not in text]


def test_runs_through_and_leaves_nothing_behind(place: Path) -> None:
    done = run_demo("--yes", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    assert missing_steps(done.stdout) == []
    assert left_in(place) == ["home", "temporary"]


def test_what_the_person_has_set_up_is_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "home" / ".gemini").mkdir()
    (place / "home" / ".gemini" / "settings.json").write_text('{"tools": {"core": ["glob"]}}')
    monkeypatch.setenv("GEMINI_MODEL", "nonsense")
    monkeypatch.setenv("GEMINI_SYSTEM_MD", "/nowhere")
    done = run_demo("-y")
    assert (done.returncode, done.stderr) == (0, "")
    assert missing_steps(done.stdout) == []


def test_needs_a_terminal_to_ask_on(place: Path) -> None:
    done = run_demo()
    assert (done.returncode, done.stdout) == (42, "")
    assert "Use `tejat demo --yes` to approve everything." in done.stderr
    assert left_in(place) == ["home", "temporary"]


def test_the_script_runs_in_no_other_directory(place: Path) -> None:
    done = run_demo("--inside", cwd=place)
    assert (done.returncode, done.stdout) == (42, "")
    assert "--inside works only inside the demo. Use `tejat demo`." in done.stderr


def test_the_test_of_the_project_really_fails(place: Path) -> None:
    """Or else there would be nothing to show."""
    code = "import sys; from tejat.cli.commands.demo.project import make_project; make_project(sys.argv[1])"
    project = place / "project"
    subprocess.run([sys.executable, "-c", code, project], timeout=60, check=True)
    tests = [sys.executable, "-m", "unittest"]
    done = subprocess.run(tests, cwd=project, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "AssertionError: 200 != 800" in done.stderr
    assert "FAILED (failures=1)" in done.stderr
