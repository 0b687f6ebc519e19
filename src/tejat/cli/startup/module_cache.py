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
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import ExtensionFileLoader, SourceFileLoader
from marshal import dumps, loads

from tejat.cli.startup.lazy_modules import LAZY_MODULES, LazyLoader, make_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:  # everything that is loaded before the cache is open is loaded slowly
    from collections.abc import Iterable, Iterator, Sequence
    from types import CodeType, ModuleType
    from typing import TypeAlias

    _Entry: TypeAlias = tuple[str, bool, int, int, int, int]
    """The path of a module, whether it is a package, its time and size; offset and length of its bytecode.

    Both are zero for an extension module, which has none.
    """
else:
    CodeType = type((lambda: None).__code__)

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_STANDARD_LIBRARY = os.path.dirname(os.__file__)
_HEADER = f"tejat modules 2, Python {sys.version}\n".encode()
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
        self._missing: dict[str, None] = {}
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
            self._missing[name] = None
            return None
        source, is_package, *stamp, offset, length = entry
        if _stamp(source) != tuple(stamp):
            self.discard(name)
            return None
        if not length:
            loader = ExtensionFileLoader(name, source)
        else:
            loader = _CachedLoader(name, source, self, self._file, offset, length)
        spec = ModuleSpec(name, loader, origin=source)
        spec.has_location = True
        if length:
            # Set here, or Python looks for it in a more general and slower way.
            directory, _, file = source.rpartition(os.sep)
            spec.cached = f"{directory}/__pycache__/{file[:-3]}.{sys.implementation.cache_tag}.pyc"
            if is_package:
                spec.submodule_search_locations = [directory]
        return make_lazy(spec) if name in LAZY_MODULES else spec

    def discard(self, name: str) -> None:
        """Leave a module whose entry is wrong to Python, and replace the entry at the end of the run."""
        self._entries.pop(name, None)
        self._missing[name] = None
        self._is_outdated = True

    def update(self) -> None:
        """Write the file again if a source has changed or several modules are missing. Does nothing if it cannot."""
        if sys.dont_write_bytecode:
            return
        missing = dict(_loaded_sources(self._missing))
        if not self._is_outdated and len(missing) <= _TOLERATED:
            return
        from tejat.workspace.files.private_files import write_private_file

        try:
            # Another run may have written it meanwhile.
            content = ModuleCache(self._path).serialize(missing)
            write_private_file(self._path, content, mode=0o644, follow_symlinks=False)
        except (OSError, ImportError, SyntaxError, ValueError):
            return  # Python loads the modules

    def serialize(self, sources: dict[str, str]) -> bytes:
        """The file with these modules and those that it has. Raises OSError, ImportError or SyntaxError."""
        contents = [b""]
        entries: dict[str, _Entry] = {}
        offset = len(_HEADER) + _OFFSET_SIZE
        for name, source in {**{name: entry[0] for name, entry in self._entries.items()}, **sources}.items():
            stamp = _stamp(source)
            if stamp is None:
                continue
            code = None if name in sources else self._stored_code(name, stamp)
            if code is None:
                code = _compile(name, source)
            if stamp == _stamp(source):
                is_package = os.path.basename(source) == "__init__.py"
                entries[name] = (source, is_package, *stamp, offset, len(code))
                contents.append(code)
                offset += len(code)
        contents[0] = _HEADER + offset.to_bytes(_OFFSET_SIZE, "little")
        return b"".join([*contents, dumps(((_PACKAGE, _STANDARD_LIBRARY), entries))])

    def sources(self) -> dict[str, str]:
        """The modules in the file and the paths of their sources."""
        return {name: entry[0] for name, entry in self._entries.items()}

    def _stored_code(self, name: str, stamp: tuple[int, int]) -> bytes | None:
        """The bytecode in the file, or None if it is outdated."""
        _, _, *stored, offset, length = self._entries[name]
        return os.pread(self._file, length, offset) if stamp == tuple(stored) else None


class _CachedLoader(SourceFileLoader):
    """Loads one module from the file of the cache."""

    def __init__(self, name: str, source: str, cache: ModuleCache, file: int, offset: int, length: int) -> None:
        self.name, self.path = name, source
        self._cache = cache
        self._bytecode = file, length, offset

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            code = loads(os.pread(*self._bytecode))
        except (OSError, ValueError, EOFError, TypeError):
            code = None
        if isinstance(code, CodeType):
            return code
        self._cache.discard(fullname)
        return super().get_code(fullname)


def _compile(name: str, source: str) -> bytes:
    """The bytecode of a module, empty for an extension module. Raises ImportError or SyntaxError for a broken one."""
    return dumps(SourceFileLoader(name, source).get_code(name)) if source.endswith(".py") else b""


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


def _loaded_sources(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Those of these modules that were loaded from this package or the standard library, and their files."""
    for name in names:
        spec = getattr(sys.modules.get(name), "__spec__", None)
        if spec is None or spec.name != name:
            continue
        loader = spec.loader.loader if isinstance(spec.loader, LazyLoader) else spec.loader
        if not isinstance(loader, SourceFileLoader | ExtensionFileLoader):
            continue
        source = loader.path
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
