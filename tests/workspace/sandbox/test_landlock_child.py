"""Children that cannot read outside, and a search that leaks nothing while directories are swapped under it."""

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.sandbox.landlock_child import start_confined
from tejat.workspace.search.content_search import SearchEngine, SearchQuery, search

RENAME_EXCHANGE = 2


def has_landlock() -> bool:
    return sys.platform == "linux" and ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) > 0


needs_landlock = pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock; searches are not confined")


@contextmanager
def opened(directory: Path) -> Iterator[int]:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for place in (inside, outside):
        place.mkdir()
        (place / "f").write_text(f"{place.name} word\n")
    return inside, outside


@needs_landlock
def test_only_what_lies_beneath_can_be_read(places: tuple[Path, Path]) -> None:
    inside, outside = places
    program = find_ripgrep()
    assert program is not None
    with opened(inside) as descriptor:
        done = start_confined(
            lambda: subprocess.run(
                [program, "--no-filename", "word", inside / "f", outside / "f"], capture_output=True, check=False
            ),
            directory_fd=descriptor,
            programs=[program],
        )
    assert done.stdout == b"inside word\n"
    assert b"Permission denied" in done.stderr
    assert (outside / "f").read_text() == "outside word\n"


def test_what_the_start_raises_comes_out(places: tuple[Path, Path]) -> None:
    def fail() -> None:
        raise FileNotFoundError("no such program")

    with opened(places[0]) as descriptor, pytest.raises(FileNotFoundError, match="no such program"):
        start_confined(fail, directory_fd=descriptor, programs=[])


@needs_landlock
def test_a_search_never_shows_what_is_swapped_in(places: tuple[Path, Path]) -> None:
    inside, outside = places
    (inside / "d").mkdir()
    for number in range(50):
        (inside / "d" / f"f{number}").write_text("inside word\n")
        (outside / f"f{number}").write_text("outside word\n")
    (inside / "link").symlink_to(outside)
    swapping = "\n".join(
        [
            "import ctypes, sys",
            "exchange = ctypes.CDLL(None).renameat2",
            "a, b = (path.encode() for path in sys.argv[1:])",
            f"while not exchange(-100, a, -100, b, {RENAME_EXCHANGE}): pass",
        ]
    )
    swapper = subprocess.Popen([sys.executable, "-c", swapping, inside / "d", inside / "link"])
    try:
        found: set[str] = set()
        with opened(inside) as descriptor:
            until = time.monotonic() + 2
            while time.monotonic() < until:
                result = search(
                    descriptor,
                    SearchQuery(pattern="word", total_max_matches=1000),
                    rules=None,
                    stop=lambda: None,
                    deadline=10,
                    engines=[SearchEngine.RIPGREP],
                )
                found |= {line.text for hits in result.files for line in hits.lines}
        assert swapper.poll() is None
    finally:
        swapper.kill()
        swapper.wait()
    assert found == {"inside word"}
