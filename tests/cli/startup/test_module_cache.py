"""The bytecode of a run in one file: it is used while it is right, and never needed."""

import json
import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tejat

_REPORT = """
import json, os, sys
end = os._exit
def report(code):
    loaders = {name: type(module.__spec__.loader).__name__ for name, module in sys.modules.items()
               if getattr(module, "__spec__", None) is not None}
    files = [module.__file__ for name, module in sys.modules.items() if name.startswith("tejat")]
    print(json.dumps({"loaders": loaders, "files": files}), flush=True)
    end(code)
os._exit = report
from tejat.cli.main import program
program()
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a copy of the package."""
    source = Path(tejat.__file__).parent
    shutil.copytree(source, tmp_path / "tejat", ignore=shutil.ignore_patterns("__pycache__", "docs", "locale"))
    return tmp_path


def cache_file(place: Path) -> Path:
    return place / "tejat" / "__pycache__" / f"modules.{sys.implementation.cache_tag}.cache"


def run(place: Path, *flags: str, **variables: str) -> tuple[dict[str, str], list[str]]:
    """Run `tejat help`, and return the loaders of all modules and the files of ours."""
    done = subprocess.run(
        [sys.executable, *flags, "-c", _REPORT, "help"],
        env={"PATH": os.defpath, "HOME": str(place), "PYTHONPATH": str(place), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "usage: tejat" in done.stdout, done.stdout
    assert done.stderr == ""
    report = json.loads(done.stdout.splitlines()[-1])
    return report["loaders"], report["files"]


class TestModuleCache:
    def test_the_first_run_writes_it_and_the_second_uses_it(self, place: Path) -> None:
        first, _ = run(place)
        written = cache_file(place).read_bytes()
        second, files = run(place)
        assert first["tejat.cli.subcommands"] == first["typing"] == "SourceFileLoader"
        assert second["tejat.cli.subcommands"] == second["typing"] == "_CachedLoader"
        assert all(each.startswith(str(place)) for each in files)
        assert cache_file(place).read_bytes() == written

    def test_a_changed_source_is_loaded_and_stored_again(self, place: Path) -> None:
        run(place)
        source = place / "tejat" / "cli" / "subcommands.py"
        source.write_text(source.read_text(encoding="utf-8") + "\nprint('changed')\n", encoding="utf-8")
        for expected in ("SourceFileLoader", "_CachedLoader"):
            assert run(place)[0]["tejat.cli.subcommands"] == expected
        assert b"changed" in cache_file(place).read_bytes()

    def test_a_removed_module_is_forgotten(self, place: Path) -> None:
        extra = place / "tejat" / "cli" / "extra.py"
        extra.write_text("", encoding="utf-8")
        source = place / "tejat" / "cli" / "subcommands.py"
        text = source.read_text(encoding="utf-8")
        source.write_text(text + "\nimport tejat.cli.extra\n", encoding="utf-8")
        assert run(place)[0]["tejat.cli.extra"] == "SourceFileLoader"
        extra.unlink()
        source.write_text(text, encoding="utf-8")
        run(place)
        assert b"extra.py" not in cache_file(place).read_bytes()

    def test_a_copy_of_the_package_loads_its_own_modules(
        self, place: Path, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        run(place)
        other = tmp_path_factory.mktemp("other")
        shutil.copytree(place / "tejat", other / "tejat", copy_function=shutil.copy2)
        _, files = run(other)
        assert all(each.startswith(str(other)) for each in files)

    def test_damage_is_survived(self, place: Path) -> None:
        run(place)
        good = cache_file(place).read_bytes()
        chance = random.Random(7)
        damaged = [
            b"",
            b"\0" * len(good),
            good[:100] + bytes(len(good) - 100),
            good[: len(good) // 2],
            good[:-1],
            chance.randbytes(5000),
            good[:30] + chance.randbytes(200) + good[230:],
        ]
        for content in damaged:
            cache_file(place).write_bytes(content)
            run(place)

    def test_it_is_not_written_where_bytecode_is_not(self, place: Path) -> None:
        run(place, "-B")
        assert not cache_file(place).exists()
        run(place, PYTHONDONTWRITEBYTECODE="1")
        assert not cache_file(place).exists()
        run(place, PYTHONPYCACHEPREFIX=str(place / "elsewhere"))
        assert not cache_file(place).exists()
        (place / "tejat" / "__pycache__").mkdir(exist_ok=True)
        shutil.rmtree(place / "tejat" / "__pycache__")
        (place / "tejat" / "__pycache__").write_text("not a directory", encoding="utf-8")
        run(place)

    def test_optimized_runs_do_not_use_it(self, place: Path) -> None:
        run(place)
        assert "_CachedLoader" not in run(place, "-O")[0].values()

    def test_runs_at_the_same_time_leave_a_valid_file(self, place: Path) -> None:
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda _: run(place), range(6)))
        assert run(place)[0]["tejat.cli.subcommands"] == "_CachedLoader"
        assert [each.name for each in cache_file(place).parent.glob("*.cache*")] == [cache_file(place).name]

    def test_the_library_leaves_the_finders_alone(self) -> None:
        script = "import sys; before = list(sys.meta_path); import tejat; tejat.Agent; assert sys.meta_path == before"
        subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
