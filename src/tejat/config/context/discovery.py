"""Discovery of context files: GEMINI.md and AGENTS.md of the user and the project."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from tejat.config.context.reader import ContextReader, UnreadableContextFile
from tejat.config.files.reader import AllowedWriters
from tejat.config.files.real_paths import RealPaths
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.paths.ignore_rules import DEFAULT_IGNORE, IgnoreOptions, IgnoreRules, IgnoreStatus

if TYPE_CHECKING:
    from tejat.config.extensions.active import ActiveExtension

_SKIPPED_DIRECTORIES = frozenset({"node_modules", ".git", "bower_components", ".svn", ".hg"})
# Usually generated. Searched last, because a project may keep its own files there.
_LOW_PRIORITY_DIRECTORIES = frozenset(
    {"build", "dist", "target", "out", "vendor", "venv", "env", "coverage", "__pycache__", "site-packages", "Pods"}
)
_GENERATED_MARKERS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
_EXTENSION_TAG = "extension_context"


class ContextFileOrigin(StrEnum):
    """The place of a context file: the user's directory, or above, in or below the project directory."""

    USER = "yours"
    EXTENSION = "extension"
    ABOVE = "above"
    PROJECT = "project"
    BELOW = "below"


class ContextFile(Frozen):
    """A context file. `text` has its imports expanded; `size` is in bytes. `extension` names the one it belongs to."""

    path: str
    text: str
    origin: ContextFileOrigin
    size: int
    extension: str = ""


class ContextFiles(Frozen):
    """Context files, the most general first."""

    files: tuple[ContextFile, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_prompt(self, directory: str) -> str:
        """All files as one text, with paths relative to this directory. Those of extensions are marked as theirs."""
        blocks: list[str] = []
        real = os.path.realpath(directory)
        for is_extension, group in groupby(self.files, key=lambda file: bool(file.extension)):
            texts = [_to_block(file, real) for file in group if file.text.strip()]
            if is_extension and texts:
                texts = ["\n\n".join((f"<{_EXTENSION_TAG}>", *texts, f"</{_EXTENSION_TAG}>"))]
            blocks += texts
        return "\n\n".join(blocks)


def _to_block(file: ContextFile, directory: str) -> str:
    text, name = file.text.strip(), os.path.relpath(file.path, directory)
    if file.extension:
        name = f"extension {file.extension}, {os.path.basename(file.path)}"
        # What an extension says must not look like the end of what it says.
        text = text.replace(f"</{_EXTENSION_TAG}", f"<\\/{_EXTENSION_TAG}")
    return f"--- Context from: {name} ---\n{text}\n--- End of Context from: {name} ---"


def find_context_files(
    *,
    home_directory: str,
    directories: Sequence[str],
    names: Sequence[str],
    is_trusted: bool,
    import_format: str = "tree",
    max_directories: int = 200,
    boundary_markers: Sequence[str] = (".git",),
    ignore: IgnoreOptions = DEFAULT_IGNORE,
    extensions: Sequence[ActiveExtension] = (),
) -> ContextFiles:
    """Find the context files for these workspace directories; the first is the working directory.

    `home_directory` holds the files of the user. Those of an untrusted project are ignored. `import_format` is "tree"
    or "flat". The files of `extensions` follow those of the user. At most `max_directories` below the workspace
    directories are searched. Above them, the first directory that holds one of the `boundary_markers` is the last;
    without markers none is searched. Raises nothing: unusable files are reported in the warnings.
    """
    search = _ContextSearch(names, flat=import_format == "flat")
    search.add_directory(os.path.realpath(home_directory), ContextFileOrigin.USER)
    for extension in extensions:
        search.add_extension(extension, directories[0])
    if is_trusted:
        home = os.path.dirname(os.path.realpath(home_directory))
        for directory in map(os.path.realpath, directories):
            boundary = _find_boundary(directory, boundary_markers) if boundary_markers else directory
            search.allowed = (boundary or directory,)
            # Without a boundary, only directories below the user's home.
            top = boundary or (home if directory.startswith(f"{home.rstrip('/')}/") else directory)
            for above in _directories_between(top, directory):
                search.add_directory(above, ContextFileOrigin.ABOVE)
            search.add_directory(directory, ContextFileOrigin.PROJECT)
            search.add_descendants(directory, max_directories, ignore)
    return ContextFiles(tuple(search.found), tuple(search.reader.warnings))


def _find_boundary(directory: str, markers: Sequence[str]) -> str | None:
    while not any(os.path.lexists(os.path.join(directory, marker)) for marker in markers):
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent
    return directory


def _directories_between(top: str, directory: str) -> list[str]:
    """The directories from the top down to the parent of the directory."""
    between: list[str] = []
    while directory != top:
        directory = os.path.dirname(directory)
        between.append(directory)
    return between[::-1]


class _ContextSearch:
    """A search and its results so far."""

    def __init__(self, names: Sequence[str], *, flat: bool) -> None:
        self.reader = ContextReader()
        self.found: list[ContextFile] = []
        self.allowed: tuple[str, ...] = ()
        self._flat = flat
        self._names = [name for name in dict.fromkeys(map(str.strip, names)) if self._is_name(name)]
        self._seen: set[str] = set()
        self._texts: set[str] = set()
        self._real_paths = RealPaths()

    def _is_name(self, name: str) -> bool:
        if name and not os.path.isabs(name) and ".." not in name.split("/") and "\0" not in name:
            return True
        if name:
            warning = lazy("{name!r} is not a valid context file name: it points elsewhere.", name=name)
            self.reader.warnings.append(warning)
        return False

    def add_directory(self, directory: str, origin: ContextFileOrigin, names: Sequence[str] | None = None) -> None:
        """Read the files with these names in a directory."""
        for name in self._names if names is None else names:
            path = os.path.join(directory, name)
            real_path = os.path.realpath(path)
            if real_path in self._seen or not os.path.lexists(path) or os.path.isdir(real_path):
                continue
            self._seen.add(real_path)
            self._add(path, real_path, origin)

    def add_extension(self, extension: ActiveExtension, workspace: str) -> None:
        """Read the context files of an extension, as they were agreed to. Imports stay inside of it."""
        root = self._real_paths.find(extension.path)
        self.reader.accepts = None if extension.pinned is None else extension.pinned.accepts
        names = () if extension.manifest is None else extension.manifest.possible_context_files
        for name in names:
            path = os.path.join(root, name)
            if not os.path.isfile(path) or (real_path := self._real_paths.find(path)) in self._seen:
                continue
            self._seen.add(real_path)
            self.allowed = (root,)
            self._add(path, real_path, ContextFileOrigin.EXTENSION, extension=extension, workspace=workspace)
        self.reader.accepts = None

    def _add(
        self,
        path: str,
        real_path: str,
        origin: ContextFileOrigin,
        *,
        extension: ActiveExtension | None = None,
        workspace: str = "",
    ) -> None:
        allowed = self.allowed
        self.reader.writers = AllowedWriters.ANYONE
        if origin is ContextFileOrigin.USER:
            self.reader.writers = AllowedWriters.TRUSTED
            # The user may link to any file.
            allowed = (os.path.dirname(path), os.path.dirname(real_path))
        elif origin is ContextFileOrigin.ABOVE:
            allowed = (*allowed, os.path.dirname(path))
        if not any(real_path.startswith(f"{place.rstrip('/')}/") for place in allowed):
            self.reader.warnings.append(lazy("Skipped {path}: it points outside the project.", path=path))
            return
        try:
            text = self.reader.read(real_path, named=path)
        except UnreadableContextFile as problem:
            self.reader.warnings.append(lazy("Skipped {path}: {why}.", path=path, why=problem))
            return
        from tejat.config.context.imports import expand_imports_flat, expand_imports_inline

        fill = expand_imports_flat if self._flat else expand_imports_inline
        filled = fill(real_path, text, reader=self.reader, allowed=allowed)
        if extension is not None:
            filled = extension.expand_places(filled, workspace)
        # A copy under the other name adds nothing.
        if text.strip() not in self._texts:
            self._texts.add(text.strip())
            name = "" if extension is None else extension.name
            self.found.append(ContextFile(path, filled, origin, len(filled.encode("utf-8", "replace")), name))

    def add_descendants(self, root: str, max_directories: int, ignore: IgnoreOptions) -> None:
        """Search breadth first, without following links, skipping ignored files."""
        rules: IgnoreRules | None = None
        for directory, names in _directories_below(root, frozenset(self._names), max_directories):
            rules = rules or IgnoreRules(root, git=ignore.git, gemini=ignore.gemini, files=ignore.files)
            relative = os.path.relpath(directory, root)
            wanted = [name for name in self._names if name in names]
            kept = [name for name in wanted if _is_not_ignored(rules, os.path.join(relative, name))]
            self.add_directory(directory, ContextFileOrigin.BELOW, kept)


def _is_not_ignored(rules: IgnoreRules, relative: str) -> bool:
    return rules.check(relative, is_directory=False) is IgnoreStatus.NOT_IGNORED


def _directories_below(root: str, wanted: frozenset[str], limit: int) -> Iterator[tuple[str, frozenset[str]]]:
    """The directories below the root that hold one of the wanted names, with those names.

    Checking the ignore rules for every directory would take longer than listing it, so the caller checks only the
    results. Generated directories come last, so that they do not use up the limit.
    """
    waiting, last = deque([root]), deque[str]()
    sought = wanted | _GENERATED_MARKERS
    left = limit + 1
    while left and (waiting or last):
        left -= 1
        directory = waiting.popleft() if waiting else last.popleft()
        try:
            with os.scandir(directory) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False) or entry.name in sought]
        except OSError:
            continue
        found = sought.intersection(names)
        if found and directory != root:
            if not found.isdisjoint(_GENERATED_MARKERS):
                continue
            yield directory, found
        for name in sorted(names):
            if name not in _SKIPPED_DIRECTORIES and name not in found:
                queue = last if name in _LOW_PRIORITY_DIRECTORIES or name.startswith(".") else waiting
                queue.append(os.path.join(directory, name))
