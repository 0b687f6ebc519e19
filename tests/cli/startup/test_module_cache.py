"""The bytecode of a run in one file: it is used while it is right, and never needed."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import tejat

_REPORT = """
import json, os, sys
end = os._exit
def report(code):
    loaders = {name: type(module.__spec__.loader).__name__ for name, module in sys.modules.items()
               if getattr(module, "__spec__", None) is not None}
    files = [module.__file__ for name, module in sys.modules.items() if name.startswith("tejat")]
    looks = {}
    for name in loaders:
        spec = sys.modules[name].__spec__
        paths = list(spec.submodule_search_locations or ())
        looks[name] = [spec.origin, spec.cached, spec.parent, spec.has_location, paths]
    print(json.dumps({"loaders": loaders, "files": files, "looks": looks}), flush=True)
    end(code)
os._exit = report
from tejat.cli.main import program
program()
"""

_CALL = ("tools", "call", "glob", "pattern=*.none")


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
    report = run_words(place, "help", flags=flags, variables=variables)
    return report["loaders"], report["files"]


def run_words(
    place: Path, *words: str, flags: Sequence[str] = (), variables: Mapping[str, str] = MappingProxyType({})
) -> Any:
    """Run the program, and return what it reports about its modules."""
    done = subprocess.run(
        [sys.executable, *flags, "-c", _REPORT, *words],
        env={"PATH": os.defpath, "HOME": str(place), "PYTHONPATH": str(place), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert words != ("help",) or "usage: tejat" in done.stdout, done.stdout
    assert done.stderr == ""
    return json.loads(done.stdout.splitlines()[-1])


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

    def test_damaged_bytecode_is_replaced(self, place: Path) -> None:
        run(place)
        good = cache_file(place).read_bytes()
        # The index is at the end, so this is the bytecode of all modules.
        start = good.index(b"\n") + 9
        end = int.from_bytes(good[start - 8 : start], "little")
        cache_file(place).write_bytes(good[:start] + bytes(end - start) + good[end:])
        assert run(place)[0]["tejat.cli.subcommands"] == "_CachedLoader"  # which asks Python for the bytecode
        assert cache_file(place).read_bytes() == good

    def test_the_file_of_another_python_is_replaced(self, place: Path) -> None:
        run(place)
        good = cache_file(place).read_bytes()
        cache_file(place).write_bytes(good.replace(sys.version.encode(), sys.version.encode() + b"+", 1))
        assert run(place)[0]["tejat.cli.subcommands"] == "SourceFileLoader"
        assert run(place)[0]["tejat.cli.subcommands"] == "_CachedLoader"

    def test_a_moved_package_writes_its_own_file(self, place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
        run(place)
        other = tmp_path_factory.mktemp("other")
        (place / "tejat").rename(other / "tejat")
        for expected in ("SourceFileLoader", "_CachedLoader"):
            loaders, files = run(other)
            assert loaders["tejat.cli.subcommands"] == expected
            assert all(each.startswith(str(other)) for each in files)

    def test_modules_that_other_runs_need_are_added(self, place: Path) -> None:
        run(place)
        before = cache_file(place).stat().st_size
        run_words(place, *_CALL)
        after = run_words(place, *_CALL)["loaders"]
        assert cache_file(place).stat().st_size > before
        assert {after["tejat.cli.subcommands"], after["asyncio"]} == {"_CachedLoader"}

    def test_lazy_and_extension_modules_are_in_it(self, place: Path) -> None:
        run_words(place, *_CALL)
        loaders = run_words(place, *_CALL)["loaders"]
        assert loaders["asyncio.sslproto"] == "LazyLoader"
        content = cache_file(place).read_bytes()
        assert b"sslproto.py" in content
        assert (b"_asyncio." in content) == (loaders["_asyncio"] == "ExtensionFileLoader")

    def test_modules_from_it_look_like_those_of_python(self, place: Path) -> None:
        first, second = (run_words(place, *_CALL) for _ in range(2))
        assert first["loaders"]["typing"] != second["loaders"]["typing"]
        same = first["looks"].keys() & second["looks"].keys()
        assert len(same) > 200
        assert {name: first["looks"][name] for name in same} == {name: second["looks"][name] for name in same}

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
