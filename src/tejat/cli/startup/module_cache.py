"""The bytecode of the modules that runs load, in one file.

A run loads four hundred modules. Python looks for each in several places, then opens, checks and reads a file for it,
which takes a sixth of the run. This cache lies beside Python's own bytecode, in `__pycache__` of the package, and
follows the same rules: bytecode is used while time and size of its source stay the same, nothing is written where
Python may not write bytecode, and what is missing is left to Python. Only the program uses it: the library does not
touch the finders of the process that embeds it.
"""

from __future__ import annotations

import os
import sys
from marshal import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:  # everything that is loaded before the cache is open is loaded slowly
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec, SourceFileLoader
    from types import CodeType, ModuleType
    from typing import TypeAlias

    _Entry: TypeAlias = tuple[str, bool, int, int, int, int]
    """The path of a source, whether it is a package, its time and size; offset and length of its bytecode."""
else:
    ModuleSpec, SourceFileLoader, CodeType = type(__spec__), type(__loader__), type((lambda: None).__code__)

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_STANDARD_LIBRARY = os.path.dirname(os.__file__)
_HEADER = f"tejat modules 1, Python {sys.version}\n".encode()
_OFFSET_SIZE = 8
_TOLERATED = 8
"""How many modules may be missing before the file is written again."""


def open_module_cache() -> ModuleCache | None:
    """Load modules from the cache from now on. Returns None where Python keeps bytecode elsewhere, or none."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        return None  # the file would take the place of a closed stream
    tag = sys.implementation.cache_tag
    is_source = type(__loader__).__name__ == "SourceFileLoader"
    if sys.flags.optimize or sys.pycache_prefix is not None or not tag or not is_source:
        return None
    cache = ModuleCache(os.path.join(_PACKAGE, "__pycache__", f"modules.{tag}.cache"))
    sys.meta_path.insert(0, cache)
    return cache


class ModuleCache:
    """Finds modules whose bytecode is in the file at `path`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = -1
        self._entries: dict[str, _Entry] = {}
        self._is_outdated = False
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._entries = _read_entries(self._file)
        except (OSError, ValueError, EOFError, TypeError):
            self._is_outdated = True

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        entry = self._entries.get(name)
        if entry is None:
            return None
        source, is_package, *stamp, offset, length = entry
        if _stamp(source) != tuple(stamp):
            self._is_outdated = True
            return None
        spec = ModuleSpec(name, _CachedLoader(name, source, self._file, offset, length), origin=source)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(source)]
        return spec

    def update(self) -> None:
        """Write the file again if a source has changed or several modules are missing. Does nothing if it cannot."""
        if sys.dont_write_bytecode:
            return
        loaded = dict(_loaded_sources())
        if not self._is_outdated and len(loaded.keys() - self._entries.keys()) <= _TOLERATED:
            return
        from tejat.workspace.files.private_files import write_private_file

        try:
            # Another run may have written it meanwhile.
            sources = {**ModuleCache(self._path).sources(), **loaded}
            write_private_file(self._path, _serialize(sources), mode=0o644, follow_symlinks=False)
        except (OSError, ImportError, SyntaxError, ValueError):
            return  # Python loads the modules

    def sources(self) -> dict[str, str]:
        """The modules in the file and the paths of their sources."""
        return {name: entry[0] for name, entry in self._entries.items()}


class _CachedLoader(SourceFileLoader):
    """Loads one module from the file of the cache."""

    def __init__(self, name: str, source: str, file: int, offset: int, length: int) -> None:
        super().__init__(name, source)
        self._bytecode = file, length, offset

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            code = loads(os.pread(*self._bytecode))
        except (OSError, ValueError, EOFError, TypeError):
            code = None
        return code if isinstance(code, CodeType) else super().get_code(fullname)


def _serialize(sources: dict[str, str]) -> bytes:
    """The file with the bytecode of these modules. Raises ImportError or SyntaxError for a broken one."""
    contents = [b""]
    entries: dict[str, _Entry] = {}
    offset = len(_HEADER) + _OFFSET_SIZE
    for name, source in sources.items():
        stamp = _stamp(source)
        if stamp is None:
            continue
        code = dumps(SourceFileLoader(name, source).get_code(name))
        if stamp == _stamp(source):
            is_package = os.path.basename(source) == "__init__.py"
            entries[name] = (source, is_package, *stamp, offset, len(code))
            contents.append(code)
            offset += len(code)
    contents[0] = _HEADER + offset.to_bytes(_OFFSET_SIZE, "little")
    return b"".join([*contents, dumps(((_PACKAGE, _STANDARD_LIBRARY), entries))])


def _read_entries(file: int) -> dict[str, _Entry]:
    """Raises OSError, or the errors of `marshal` for content that is not its own."""
    beginning = os.pread(file, len(_HEADER) + _OFFSET_SIZE, 0)
    if not beginning.startswith(_HEADER):
        raise ValueError("of another version")
    offset = int.from_bytes(beginning[len(_HEADER) :], "little")
    directories, entries = loads(os.pread(file, os.fstat(file).st_size - offset, offset))
    if directories != (_PACKAGE, _STANDARD_LIBRARY):
        raise ValueError("copied from another installation")
    return entries


def _loaded_sources() -> Iterator[tuple[str, str]]:
    """The modules of this package and of the standard library that are loaded, and their sources."""
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if spec is None or spec.name != name or not isinstance(spec.loader, SourceFileLoader):
            continue
        source = spec.loader.path
        is_standard = source.startswith(_STANDARD_LIBRARY + os.sep) and "site-packages" not in source
        if is_standard or source.startswith(_PACKAGE + os.sep):
            yield name, source


def _stamp(source: str) -> tuple[int, int] | None:
    """Time and size of a source, or None if it is gone."""
    try:
        status = os.stat(source)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
