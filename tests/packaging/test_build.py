"""The wheel and the sdist: complete, equal, and running in an environment of their own."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from support.source_tree import ROOT, installed_pages
from tejat import __version__

BUILD = "import sys; from flit_core import buildapi; print(getattr(buildapi, sys.argv[1])(sys.argv[2]))"
WHEEL = f"tejat-{__version__}-py3-none-any.whl"
SDIST = f"tejat-{__version__}.tar.gz"
PAGES = installed_pages()


def build(kind: str, source: Path, target: Path) -> Path:
    """Build with the backend that pyproject.toml names, as pip does, but without a network."""
    done = subprocess.run(
        [sys.executable, "-c", BUILD, kind, target], cwd=source, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return target / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("build_wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("build_sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program in a new environment, which has the dependencies but not the checkout."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet"]
    done = subprocess.run(
        [*install, "--no-index", "--no-deps", "--no-compile", wheel],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return place


@pytest.fixture
def tejat(installed: Path, tmp_path: Path) -> Callable[..., str]:
    """Run the installed program far from the checkout, and return what it prints."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*words: str, **environment: str) -> str:
        done = subprocess.run(
            [installed / "bin" / "tejat", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**outside, "HOME": str(tmp_path), **environment},
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def names_in_wheel(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return sorted(archive.namelist())


def test_the_wheel_has_everything_the_program_reads(wheel: Path) -> None:
    names = names_in_wheel(wheel)
    assert wheel.name == WHEEL
    pages = {f"tejat/docs/{page}" for page in PAGES}
    assert pages <= {*names}
    assert f"tejat-{__version__}.data/data/share/man/man1/tejat.1" in names
    assert "tejat/py.typed" in names
    assert "tejat/ui/html/style.css" in names
    assert {
        "tejat/ui/web/static/app.js",
        "tejat/ui/web/static/session/view.js",
        "tejat/ui/html/charts/charts.css",
    } <= set(names)
    assert not [name for name in names if name.endswith(".pyc") or name.startswith("tests")]


def test_the_sdist_gives_the_same_wheel(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    assert sdist.name == SDIST
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    again = build("build_wheel", tmp_path / f"tejat-{__version__}", tmp_path)
    assert names_in_wheel(again) == names_in_wheel(wheel)
    with zipfile.ZipFile(again) as one, zipfile.ZipFile(wheel) as other:
        assert one.read("tejat/docs/start.md") == other.read("tejat/docs/start.md")


def test_every_page_is_linked_into_the_package() -> None:
    package = ROOT / "src" / "tejat" / "docs"
    linked = {path.relative_to(package).as_posix(): path.resolve() for path in package.rglob("*") if path.is_file()}
    assert linked == {page: ROOT / "docs" / page for page in PAGES}


def test_the_installed_program_runs(tejat: Callable[..., str], installed: Path) -> None:
    assert tejat("--version") == f"tejat {__version__}\n"
    assert tejat("--help").startswith("usage: tejat ")
    assert "_tejat" in tejat("completion", "bash")
    assert (installed / "share" / "man" / "man1" / "tejat.1").is_file()


def test_the_installed_program_shows_its_documentation(tejat: Callable[..., str], installed: Path) -> None:
    listed = tejat("docs")
    assert re.search(r"^start +\w", listed, re.MULTILINE)
    assert tejat("docs", "undo") == (ROOT / "docs" / "undo.md").read_text(encoding="utf-8")
    path = Path(tejat("docs", "cli", "--path").strip())
    assert path.is_relative_to(installed)
    assert not path.is_symlink()


def test_the_installed_demo_runs(tejat: Callable[..., str]) -> None:
    assert "tejat doctor" in tejat("demo", "--yes")


def test_no_message_points_at_a_file_that_is_not_installed() -> None:
    """`tejat docs PAGE` works everywhere, `docs/PAGE.md` only in a checkout."""
    pattern = re.compile(r"""(?:_|lazy)\(\s*(?:"[^"]*"\s*)*"[^"]*\bdocs/[a-z-]+\.md""")
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "src" / "tejat").rglob("*.py"))}
    assert [path.relative_to(ROOT).as_posix() for path, text in texts.items() if pattern.search(text)] == []
