"""The fixtures, in a pytest run of its own, as users have them."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]

TESTS = """
from tejat.testing import assert_text, call

def test_passes(tejat_workspace, tejat_model):
    tejat_workspace.write("a.txt", "one")
    model = tejat_model([call("read_file", path="a.txt"), "One."])
    with tejat_workspace.sync_agent(model) as agent:
        assert_text(agent.ask("What does it say?"), "One")

def test_leaves_an_answer_over(tejat_model):
    tejat_model(["never"])

def test_fails_before_the_answer(tejat_model):
    tejat_model(["not reached"])
    assert False, "its own mistake"
"""


def test_fixtures(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TESTS)
    plugins = ["-p", "no:tejat", "-p", "tejat.testing.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, "--rootdir", str(tmp_path), str(tmp_path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=100,
        check=False,
    )
    assert "1 failed, 2 passed, 1 error" in done.stdout, done.stdout
    assert "The model was not asked for 1 of its answers:" in done.stdout
    assert "1: 'never'" in done.stdout
    assert "not reached" not in done.stdout.replace('tejat_model(["not reached"])', "")


def test_pytest_finds_them_in_the_installed_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"tejat": "tejat.testing.pytest_plugin"}


def test_loading_them_loads_nothing_else() -> None:
    ours = "sorted(name for name in sys.modules if name.startswith('tejat'))"
    code = f"import sys, pytest, tejat.testing.pytest_plugin; print(*{ours})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["tejat", "tejat.testing", "tejat.testing.pytest_plugin"]
