"""Atomic writes in a root of their own, on each kind of file system; the fixtures are for import."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.fault_injection import FILE_SYSTEMS, limit_file_system
from tejat.core.errors import WorkspaceError
from tejat.workspace.files.atomic_write import ExpectedFile, FileWriteResult, write_atomically
from tejat.workspace.files.roots import Roots


@pytest.fixture(params=FILE_SYSTEMS, autouse=True)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the file system can do."""
    limit_file_system(monkeypatch, request.param)
    return request.param


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


@pytest.fixture
def roots(root: Path) -> Iterator[Roots]:
    with Roots([root]) as opened:
        yield opened


@pytest.fixture
def file(root: Path) -> Path:
    path = root / "f"
    path.write_bytes(b"old content")
    path.chmod(0o644)
    return path


def seen(roots: Roots, path: Path) -> ExpectedFile:
    with roots.open_file(roots.locate(str(path))) as opened:
        return ExpectedFile(opened.read_all(), opened.status)


def write(
    roots: Roots, path: Path, content: bytes, expected: ExpectedFile | None, stop: Callable[[], None] | None = None
) -> FileWriteResult:
    location = roots.locate(str(path))
    if stop is None:
        return write_atomically(roots, location, [content], expected=expected)
    return write_atomically(roots, location, [content], expected=expected, stop=stop)


def refusal(
    roots: Roots, path: Path, expected: ExpectedFile | None, stop: Callable[[], None] | None = None
) -> WorkspaceError:
    with pytest.raises(WorkspaceError) as caught:
        write(roots, path, b"new content", expected, stop)
    assert caught.value.path == str(path)
    return caught.value


def at_last(action: Callable[[], object]) -> Callable[[], None]:
    """A `stop` that acts the second time: when the draft is complete and nothing is visible yet."""
    calls: list[None] = []

    def stop() -> None:
        calls.append(None)
        if len(calls) == 2:
            action()

    return stop


def tree(root: Path) -> dict[str, bytes | None]:
    """Everything beneath a directory, with the contents of files."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in root.rglob("*")
    }
