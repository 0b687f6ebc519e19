"""Packages installed for a test, with entry points."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

Install = Callable[..., Path]


@contextmanager
def package_directory(directory: Path) -> Generator[Install]:
    """Make a directory importable. Yields `install(name, code, *entry_points)`."""
    directory.mkdir(exist_ok=True)

    def install(name: str, code: str, *points: str) -> Path:
        """Returns where its metadata is."""
        metadata = directory / f"{name}-1.5.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        lines = ["[console_scripts]", "x = y:z", "", "[tejat.tools]", *points, ""]
        (metadata / "entry_points.txt").write_text("\n".join(lines))
        (directory / f"{name}.py").write_text(code)
        return metadata

    before = list(sys.path), set(sys.modules)
    sys.path.insert(0, str(directory))
    try:
        yield install
    finally:
        sys.path[:] = before[0]
        for name in set(sys.modules) - before[1]:
            if str(directory) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
