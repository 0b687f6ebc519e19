"""Workers that use a library: what they cannot do is a failure in words."""

from pathlib import Path

import pytest

from tejat.workspace.files.media.library_worker import LibraryMissing, WorkerFailure, run_worker


def go_on() -> None:
    """Let it run."""


def run(tmp_path: Path, program: str, *, library: str = "pypdf", seconds: float = 30) -> bytes:
    (tmp_path / "worker.py").write_text(program)
    return run_worker(str(tmp_path / "worker.py"), library, b"given", seconds=seconds, stop=go_on)


def test_what_it_prints_is_the_answer(tmp_path: Path) -> None:
    assert run(tmp_path, "import sys; print(sys.stdin.read(), end='')") == b"given"


def test_the_directory_of_the_library_is_its_argument(tmp_path: Path) -> None:
    assert run(tmp_path, "import sys; sys.path.append(sys.argv[1]); import pypdf; print(pypdf.__name__)") == b"pypdf\n"


def test_a_library_that_is_not_installed(tmp_path: Path) -> None:
    with pytest.raises(LibraryMissing, match=r"^The package no_such_library is not installed\.$"):
        run(tmp_path, "", library="no_such_library")


def test_one_that_fails(tmp_path: Path) -> None:
    with pytest.raises(WorkerFailure, match="The file is damaged or protected"):
        run(tmp_path, "raise SystemExit(3)")


def test_one_that_takes_too_long(tmp_path: Path) -> None:
    with pytest.raises(WorkerFailure, match="The file is damaged or protected"):
        run(tmp_path, "import time; time.sleep(600)", seconds=0.1)
