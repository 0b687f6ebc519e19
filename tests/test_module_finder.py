"""The finder of our modules: what it loads, and everything that it leaves to Python's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tejat

INSTALLED = """
import sys, tejat
from tejat.module_finder import install_finder
install_finder()
hooks = list(sys.path_hooks)
install_finder()
assert sys.path_hooks == hooks
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A directory with a small package of the same name, and the finder in it."""
    package = tmp_path / "site" / "tejat"
    (package / "core" / "inner").mkdir(parents=True)
    source = Path(tejat.__file__).parent
    shutil.copy(source / "module_finder.py", package)
    (package / "core" / "text").mkdir()
    for file in ("__init__.py", "paths.py"):
        shutil.copy(source / "core" / "text" / file, package / "core" / "text")
    for file in ("__init__.py", "core/__init__.py", "core/inner/__init__.py", "core/inner/leaf.py"):
        (package / file).write_text(f"NAME = __name__, {file!r}\n")
    return package


def run(package: Path, work: str, *flags: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *flags, "-c", work],
        env={"PYTHONPATH": str(package.parent), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LOADED = f"""{INSTALLED}
import tejat.core.inner.leaf as leaf
print(leaf.NAME, type(leaf.__loader__).__name__, type(tejat.core.inner.__loader__).__name__)
"""


def test_modules_and_packages_with_and_without_bytecode(copy: Path) -> None:
    expected = "('tejat.core.inner.leaf', 'core/inner/leaf.py') _PackageLoader _PackageLoader"
    assert [run(copy, LOADED) for _ in range(2)] == [expected] * 2
    assert len(list((copy / "core/inner/__pycache__").iterdir())) == 2


def test_the_attributes_of_modules_are_as_usual(copy: Path) -> None:
    show = """
for module in (tejat.core.inner, leaf):
    spec = module.__spec__
    print(module.__file__, module.__cached__, module.__package__, getattr(module, "__path__", None),
          spec.name, spec.origin, spec.cached, spec.parent, spec.has_location, module.__loader__.get_source(spec.name))
"""
    usual = "import tejat\nimport tejat.core.inner.leaf as leaf\n" + show
    assert run(copy, LOADED.replace("print(leaf", "(leaf") + show) == run(copy, usual)


def test_changed_source_is_compiled_again(copy: Path) -> None:
    run(copy, LOADED)
    leaf = copy / "core/inner/leaf.py"
    leaf.write_text("NAME = 'changed'\n")
    assert run(copy, LOADED).startswith("changed ")
    leaf.write_text("NAME = 'CHANGED'\n")  # the same size
    os.utime(leaf, (1, 1))
    assert run(copy, LOADED).startswith("CHANGED ")


@pytest.mark.parametrize("damage", [b"", b"xyz", bytes(40)])
def test_damaged_bytecode_is_replaced(copy: Path, damage: bytes) -> None:
    expected = run(copy, LOADED)
    for path in (copy / "core/inner/__pycache__").iterdir():
        path.write_bytes(damage)
    assert run(copy, LOADED) == expected


def test_moved_bytecode_names_the_new_place(copy: Path, tmp_path: Path) -> None:
    """Tracebacks show the path in the code."""
    run(copy, LOADED)
    moved = tmp_path / "elsewhere" / "tejat"
    shutil.copytree(copy, moved)
    show = f"{LOADED}\nprint(leaf.__loader__.get_code(leaf.__name__).co_filename)"
    assert run(moved, show).endswith(str(moved / "core/inner/leaf.py"))


def test_bytecode_checked_by_its_hash_is_left_to_python(copy: Path) -> None:
    compile_all = "import compileall, py_compile, sys; compileall.compile_dir(sys.path[1], quiet=1, "
    run(copy, f"{compile_all}invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)")
    (copy / "core/inner/leaf.py").write_text("NAME = 'changed'\n")
    assert run(copy, LOADED).startswith("changed ")


def test_modules_without_source_and_modules_that_do_not_exist(copy: Path) -> None:
    run(
        copy,
        "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[1] + 'c')".replace(
            "sys.argv[1]", repr(str(copy / "core/inner/leaf.py"))
        ),
    )
    (copy / "core/inner/leaf.py").unlink()
    assert "SourcelessFileLoader" in run(copy, LOADED)
    work = f"{INSTALLED}\ntry:\n    import tejat.core.none\nexcept ModuleNotFoundError as error:\n    print(error)"
    assert run(copy, work) == "No module named 'tejat.core.none'"


def test_other_packages_and_listings_are_as_usual(copy: Path) -> None:
    work = f"""{INSTALLED}
import pkgutil, json, tejat.core
print(type(json.__loader__).__name__, sorted(each.name for each in pkgutil.walk_packages(tejat.__path__, "tejat.")))
"""
    text = ["tejat.core.text", "tejat.core.text.paths"]
    names = ["tejat.core", "tejat.core.inner", "tejat.core.inner.leaf", *text, "tejat.module_finder"]
    assert run(copy, work) == f"SourceFileLoader {names}"


@pytest.mark.parametrize(("flags", "variables"), [(["-O"], {}), ([], {"PYTHONPYCACHEPREFIX": "/nonexistent"})])
def test_it_is_not_installed_if_bytecode_is_elsewhere(copy: Path, flags: list[str], variables: dict[str, str]) -> None:
    assert run(copy, LOADED, *flags, **variables).endswith(" SourceFileLoader SourceFileLoader")


def test_it_is_not_installed_in_an_archive(copy: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", copy.parent)
    assert run(Path(archive) / "tejat", LOADED).endswith(" zipimporter zipimporter")
