"""Tools written in Python: where they are found, whose may run, and what is told of those that fail."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.installed_packages import package_directory
from support.program import ProgramEnv
from tejat.app.plugins.discovery import Plugins, find_plugin_metadata, find_plugins, register_plugins
from tejat.app.run_config import RunConfig, load_run_config
from tejat.config.paths import app_paths
from tejat.config.trust.decision import trust_folder
from tejat.core.messages.declaration import Kind
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import validate_and_execute
from tejat.tools.registry import ToolRegistry

TOOL = '''
from tejat import Kind, tool

@tool(kind=Kind.READ)
def {name}(place: str) -> str:
    """Tells the weather."""
    return f"{name} in {{place}}"
'''


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def load_config(machine: ProgramEnv, *, trusts_folder: bool = True) -> RunConfig:
    return load_run_config([str(machine.project)], environment=machine.environment, trusts_folder=trusts_folder)


def found(plugins: Plugins) -> dict[str, str]:
    """The names of the tools with their origins."""
    return {each.tool.name: each.origin for each in plugins.tools}


def problem(plugins: Plugins) -> str:
    (only,) = plugins.problems
    assert plugins.tools == ()
    assert "\n" not in only
    return only


def test_nothing(machine: ProgramEnv) -> None:
    assert find_plugins(load_config(machine)) == Plugins()


class TestFiles:
    def test_the_persons_own_and_those_of_a_trusted_folder(self, machine: ProgramEnv) -> None:
        write(machine.home / ".gemini/tools/b.py", TOOL.format(name="own_weather"))
        write(machine.home / ".gemini/tools/a.py", TOOL.format(name="own_storms"))
        write(machine.project / ".gemini/tools/c.py", TOOL.format(name="weather"))
        plugins = find_plugins(load_config(machine))
        assert plugins.problems == ()
        assert list(found(plugins).items()) == [
            ("own_storms", "~/.gemini/tools/a.py"),
            ("own_weather", "~/.gemini/tools/b.py"),
            ("weather", ".gemini/tools/c.py"),
        ]
        tool = plugins.tools[2].tool
        assert tool.kind is Kind.READ
        assert asyncio.run(validate_and_execute(tool, {"place": "Oslo"})).llm_content == "weather in Oslo"

    def test_nothing_of_a_folder_that_is_not_trusted_runs(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini/tools/c.py", f"open({str(machine.project / 'ran')!r}, 'w')")
        assert find_plugins(load_config(machine, trusts_folder=False)) == Plugins()
        assert not (machine.project / "ran").exists()

    def test_a_file_that_changed_ends_the_trust(self, machine: ProgramEnv) -> None:
        path = machine.project / ".gemini/tools/c.py"
        write(path, TOOL.format(name="weather"))
        trust_folder(app_paths(machine.environment), str(machine.project))
        run_config = load_config(machine, trusts_folder=False)
        assert list(found(find_plugins(run_config))) == ["weather"]
        write(path, TOOL.format(name="storms"))
        assert find_plugins(load_config(machine, trusts_folder=False)) == Plugins()
        assert problem(find_plugins(run_config)) == (
            "Could not load the tools of .gemini/tools/c.py: it has changed since it was trusted. See `tejat trust`."
        )

    def test_a_file_that_came_after_the_look_does_not_run(self, machine: ProgramEnv) -> None:
        run_config = load_config(machine)
        write(machine.project / ".gemini/tools/c.py", TOOL.format(name="weather"))
        assert problem(find_plugins(run_config)) == (
            "Could not load the tools of .gemini/tools/c.py: it has changed since it was trusted. See `tejat trust`."
        )

    def test_a_compiled_form_beside_it_is_neither_run_nor_written(self, machine: ProgramEnv) -> None:
        path = machine.project / ".gemini/tools/c.py"
        write(path, TOOL.format(name="other_one"))
        status = path.stat()
        subprocess.run([sys.executable, "-m", "py_compile", str(path)], check=True, timeout=60)
        cached = os.listdir(path.parent / "__pycache__")
        assert len(cached) == 1
        write(path, TOOL.format(name="looked_at"))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert path.stat().st_size == status.st_size
        assert list(found(find_plugins(load_config(machine)))) == ["looked_at"]
        assert os.listdir(path.parent / "__pycache__") == cached

    def test_only_python_with_a_public_name(self, machine: ProgramEnv) -> None:
        for name in ("_shared.py", ".hidden.py", "notes.txt", "inner/d.py", "__init__.py"):
            write(machine.project / ".gemini/tools" / name, "raise AssertionError")
        assert find_plugins(load_config(machine)) == Plugins()

    def test_the_home_directory_as_the_folder_has_its_tools_once(self, machine: ProgramEnv) -> None:
        write(machine.home / ".gemini/tools/a.py", TOOL.format(name="own"))
        plugins = find_plugins(load_run_config([str(machine.home)], environment=machine.environment))
        assert (list(found(plugins)), plugins.problems) == (["own"], ())

    def test_what_others_could_have_written_is_refused(self, machine: ProgramEnv) -> None:
        path = machine.home / ".gemini/tools/a.py"
        write(path, TOOL.format(name="own"))
        path.chmod(0o666)
        assert problem(find_plugins(load_config(machine))) == (
            f"Refusing to use {path}: writable by everyone. Fix it with: chmod o-w {path}"
        )
        path.chmod(0o600)
        path.parent.chmod(0o777)
        assert problem(find_plugins(load_config(machine))) == (
            f"Refusing to use {path.parent}: writable by everyone. Fix it with: chmod o-w {path.parent}"
        )

    def test_a_file_in_place_of_the_directory(self, machine: ProgramEnv) -> None:
        write(machine.home / ".gemini/tools", "x")
        assert problem(find_plugins(load_config(machine))) == (
            f"Could not read {machine.home / '.gemini/tools'}: Not a directory."
        )

    def test_a_file_that_fails_leaves_the_others_alone(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini/tools/a.py", "import no_such_module")
        write(machine.project / ".gemini/tools/b.py", TOOL.format(name="weather"))
        plugins = find_plugins(load_config(machine))
        assert list(found(plugins)) == ["weather"]
        (told,) = plugins.problems
        assert told == (
            "Could not load the tools of .gemini/tools/a.py: ModuleNotFoundError: No module named 'no_such_module' "
            f"({machine.project / '.gemini/tools/a.py'}, line 1)."
        )


class TestPackages:
    def test_tools_of_entry_points(self, machine: ProgramEnv, tmp_path: Path) -> None:
        code = TOOL.format(name="weather") + TOOL.format(name="storms")
        with package_directory(tmp_path / "packages") as install:
            install("forecasts", code, "one = forecasts:weather", "two = forecasts:storms")
            plugins = find_plugins(load_config(machine, trusts_folder=False))
        assert plugins.problems == ()
        assert found(plugins) == {"weather": "forecasts 1.5 (one)", "storms": "forecasts 1.5 (two)"}

    def test_the_folder_that_is_worked_in_offers_none(
        self, machine: ProgramEnv, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`python -m tejat` has it on its path."""
        with package_directory(machine.project) as install:
            install("sneaky", f"open({str(machine.project / 'ran')!r}, 'w')", "x = sneaky:x")
            assert find_plugins(load_config(machine)) == Plugins()
            monkeypatch.chdir(machine.project)
            sys.path.insert(0, "")
            assert find_plugins(load_run_config([str(machine.home)], environment=machine.environment)) == Plugins()
        assert not (machine.project / "ran").exists()

    def test_looking_loads_nothing_and_takes_a_moment(self) -> None:
        code = (
            "import sys, time\n"
            "from tejat.app.plugins.discovery import find_plugin_metadata\n"
            "assert find_plugin_metadata(sys.path) == []\n"
            "began = time.perf_counter()\n"
            "find_plugin_metadata(sys.path)\n"
            "print(time.perf_counter() - began)\n"
            "assert 'importlib.metadata' not in sys.modules\n"
            "assert 'tejat.app.plugins.loader' not in sys.modules\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert float(done.stdout) < 0.1

    def test_only_packages_that_have_the_group(self, tmp_path: Path) -> None:
        for number in range(200):
            write(tmp_path / f"p{number}-1.dist-info" / "entry_points.txt", "[console_scripts]\nx = y:z\n")
        write(tmp_path / "yes-1.egg-info" / "entry_points.txt", "[tejat.tools]\nx = y:z\n")
        write(tmp_path / "no" / "entry_points.txt", "[tejat.tools]\nx = y:z\n")
        began = time.process_time()
        assert find_plugin_metadata([str(tmp_path), "/no/such", str(tmp_path)]) == [str(tmp_path / "yes-1.egg-info")]
        assert time.process_time() - began < 1


class TestAdding:
    def test_they_come_behind_the_built_in_ones_and_tell_where_they_are_from(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini/tools/a.py", TOOL.format(name="weather"))
        registry = ToolRegistry()
        assert register_plugins(registry, find_plugins(load_config(machine)).tools) == []
        (entry,) = registry.entries()
        assert (entry.name, entry.source, entry.origin) == ("weather", ToolSource.PYTHON, ".gemini/tools/a.py")

    def test_a_clash_is_told(self, machine: ProgramEnv) -> None:
        write(machine.project / ".gemini/tools/a.py", TOOL.format(name="weather") + TOOL.format(name="storms"))
        write(machine.project / ".gemini/tools/b.py", TOOL.format(name="weather"))
        registry = ToolRegistry()
        (told,) = register_plugins(registry, find_plugins(load_config(machine)).tools)
        assert told == (
            'Skipped a tool of .gemini/tools/b.py. Tool "weather" cannot be registered: the name "weather" '
            "already belongs to weather (.gemini/tools/a.py). Give one of the two another name."
        )
        assert registry.names() == ["weather", "storms"]
