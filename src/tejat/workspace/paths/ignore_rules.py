"""Ignore rules of a root: exactly git's, as modified by the root's `.geminiignore` and other named files."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.regular_file import open_fd, read_bytes
from tejat.workspace.paths.git_repository import GitRepository, find_git_repository
from tejat.workspace.paths.ignore_pattern import IgnoreRule
from tejat.workspace.paths.real_path import real_path

if TYPE_CHECKING:
    from tejat.workspace.paths.git_index import TrackedFiles
    from tejat.workspace.paths.ignore_pattern import IgnorePattern

_GIT_NAME = b".git"
_IGNORE_FILE = b".gitignore"


class IgnoreStatus(StrEnum):
    """Whether a path is ignored, and by which rules."""

    NOT_IGNORED = "not_ignored"
    GIT = "git"
    GEMINI = "gemini"


class IgnoreOptions(Frozen):
    """Which ignore files count: those of git, `.geminiignore`, and `files`, the first of which takes precedence."""

    git: bool = True
    gemini: bool = True
    files: tuple[str, ...] = ()


DEFAULT_IGNORE = IgnoreOptions()


class IgnoreRules:
    """The ignore rules beneath a root, read on demand and cached; create one per call."""

    def __init__(self, root: str, *, git: bool, gemini: bool, files: Sequence[str] = ()) -> None:
        """`root` is the real path of a directory. The root itself is never ignored.

        `files` are more files like `.geminiignore`. They take precedence over it, the first over the next.
        """
        self._root = root
        self._beneath_root = os.path.join(os.fsencode(root), b"")
        self._ignore_files_beneath: bytes | None = None
        self._ignore_files: frozenset[bytes] = frozenset()
        self._truncated: list[str] = []
        self._tracked: TrackedFiles | None = None
        self._repository: GitRepository | None = find_git_repository(root) if git else None
        self._root_from_top = b""
        gemini_file = os.path.join(root, ".geminiignore")
        self._own_files = frozenset((*files, gemini_file))
        added = [self._read(os.fsencode(file), base=b"", follow=True) for file in files]
        self._own = tuple(filter(None, (*added, self._read_gemini(gemini_file) if gemini else None)))
        self._name_filters: dict[tuple[_IgnoreFile, ...], _NameFilter] = {}
        self._directories = {b"": _Directory(self._layers_of_root(), IgnoreStatus.NOT_IGNORED, None)}

    @property
    def is_empty(self) -> bool:
        """Whether there are no rules, so that nothing is ignored."""
        return self._repository is None and not self._own

    @property
    def truncated_files(self) -> tuple[str, ...]:
        """The ignore files read so far that are too long to be read to the end."""
        return tuple(self._truncated)

    def check(self, relative: str | bytes, *, is_directory: bool) -> IgnoreStatus:
        """Return the status of a path, which is relative to the root.

        A tracked file is not ignored by git. Neither is a directory that may contain a file to keep, because git tracks
        it or `.geminiignore` names it: skipping ignored directories loses nothing. Raises ValueError for a path that is
        absolute or contains `..`.
        """
        path = _normalize(relative)
        ignored, _ = self._evaluate(path, is_directory=is_directory)
        if ignored is not IgnoreStatus.GIT:
            return ignored
        if is_directory and any(layer.may_unignore_beneath(path) for layer in self._own):
            return IgnoreStatus.NOT_IGNORED
        return IgnoreStatus.NOT_IGNORED if self._is_tracked(path) else IgnoreStatus.GIT

    def explain(self, relative: str | bytes, *, is_directory: bool) -> IgnoreRule | None:
        """Return the rule that decided about the path or a directory above it, None if there is none.

        It may be a negated rule, which keeps the path. Git's rules do not apply to tracked files. Raises ValueError as
        `check` does.
        """
        path = _normalize(relative)
        _, rule = self._evaluate(path, is_directory=is_directory)
        if rule is None or rule.file in self._own_files or not self._is_tracked(path):
            return rule
        return None

    def filter(self, relatives: Iterable[bytes], *, within: bytes = b"") -> tuple[list[bytes], int, int]:
        """Return the files that are not ignored, and how many are ignored by git and by `.geminiignore`.

        The paths are relative to the directory `within`, which is relative to the root.
        """
        kept: list[bytes] = []
        ignored = {IgnoreStatus.GIT: 0, IgnoreStatus.GEMINI: 0}
        prefix = within + b"/" if within else b""
        screens: dict[bytes, _NameFilter] = {}
        for path in relatives:
            directory, _, name = path.rpartition(b"/")
            screen = screens.get(directory)
            if screen is None:
                screen = screens[directory] = self._name_filter((prefix + directory).rstrip(b"/"))
            # Nearly every file of an ordinary tree ends here.
            if name not in screen.literals and not name.endswith(screen.suffixes) and not screen.others:
                kept.append(path)
                continue
            status = IgnoreStatus.NOT_IGNORED
            if screen.may_match(name):
                status = self.check(prefix + path, is_directory=False)
            if status is IgnoreStatus.NOT_IGNORED:
                kept.append(path)
            else:
                ignored[status] += 1
        return kept, ignored[IgnoreStatus.GIT], ignored[IgnoreStatus.GEMINI]

    def set_known_files(self, paths: Iterable[bytes], *, within: bytes = b"") -> None:
        """Declare that these are all files in and beneath the directory `within`.

        This saves a lookup of `.gitignore` in each directory.
        """
        prefix = within + b"/" if within else b""
        self._ignore_files_beneath = prefix
        self._ignore_files = frozenset(prefix + path for path in paths if path.endswith(_IGNORE_FILE))

    def _evaluate(self, path: bytes, *, is_directory: bool) -> tuple[IgnoreStatus, IgnoreRule | None]:
        if not path:
            return IgnoreStatus.NOT_IGNORED, None
        parent, _, name = path.rpartition(b"/")
        return self._evaluate_in(self._directory(parent), path, name, is_directory=is_directory)

    def _directory(self, path: bytes) -> _Directory:
        missing: list[bytes] = []
        while path not in self._directories:
            missing.append(path)
            path = path.rpartition(b"/")[0]
        directory = self._directories[path]
        for path in reversed(missing):
            directory = self._directories[path] = self._child(directory, path)
        return directory

    def _child(self, parent: _Directory, path: bytes) -> _Directory:
        ignored, rule = self._evaluate_in(parent, path, path.rpartition(b"/")[2], is_directory=True)
        layers = parent.layers
        if ignored is IgnoreStatus.NOT_IGNORED and self._may_have_ignore_file(path):
            layers = self._with_layer(layers, self._beneath_root + path, base=self._root_from_top + path)
        return _Directory(layers, ignored, rule)

    def _may_have_ignore_file(self, directory: bytes) -> bool:
        if self._repository is None:
            return False
        if self._ignore_files_beneath is None or not directory.startswith(self._ignore_files_beneath):
            return True
        return directory + b"/" + _IGNORE_FILE in self._ignore_files

    def _evaluate_in(
        self, directory: _Directory, path: bytes, name: bytes, *, is_directory: bool
    ) -> tuple[IgnoreStatus, IgnoreRule | None]:
        """Evaluate all rules in order of precedence. Tracked files are not considered here."""
        if directory.ignored is IgnoreStatus.GEMINI:
            return IgnoreStatus.GEMINI, directory.rule
        for layer in self._own:
            pattern = layer.last_match(path, name, is_directory=is_directory)
            if pattern is not None and pattern.rule.negated and directory.ignored is IgnoreStatus.GIT:
                # Only path patterns apply below ignored directories: `!*.md` does not unignore all of node_modules.
                pattern = layer.last_match(path, None, is_directory=is_directory)
            if pattern is not None:
                return IgnoreStatus.NOT_IGNORED if pattern.rule.negated else IgnoreStatus.GEMINI, pattern.rule
        if directory.ignored is IgnoreStatus.GIT:
            return IgnoreStatus.GIT, directory.rule
        if self._repository is None:
            return IgnoreStatus.NOT_IGNORED, None
        if name == _GIT_NAME:
            return IgnoreStatus.GIT, _git_rule()
        from_top = self._root_from_top + path
        for layer in directory.layers:
            pattern = layer.last_match(from_top, name, is_directory=is_directory)
            if pattern is not None:
                return IgnoreStatus.NOT_IGNORED if pattern.rule.negated else IgnoreStatus.GIT, pattern.rule
        return IgnoreStatus.NOT_IGNORED, None

    def _is_tracked(self, path: bytes) -> bool:
        from tejat.workspace.paths.git_index import read_git_index

        if self._repository is None:
            return False
        if self._tracked is None:
            self._tracked = read_git_index(self._repository.index_path)
        from_top = self._root_from_top + path
        return from_top in self._tracked or self._tracked.has_files_beneath(from_top)

    def _name_filter(self, path: bytes) -> _NameFilter:
        directory = self._directory(path)
        if directory.ignored is not IgnoreStatus.NOT_IGNORED:
            return _MATCH_ALL
        layers = (*directory.layers, *self._own)
        screen = self._name_filters.get(layers)
        if screen is None:
            screen = self._name_filters[layers] = _name_filter(layers, in_repository=self._repository is not None)
        from_top = self._root_from_top + path
        literals: list[bytes] = []
        others: list[Callable[[bytes], object]] = []
        for layer in layers:
            layer.add_for_children(path if layer in self._own else from_top, literals, others)
        if not literals and not others:
            return screen
        return _NameFilter(screen.literals.union(literals), screen.suffixes, (*screen.others, *others))

    def _layers_of_root(self) -> tuple[_IgnoreFile, ...]:
        if self._repository is None:
            return ()
        layers: tuple[_IgnoreFile, ...] = ()
        for file in (self._repository.user_excludes_path, self._repository.exclude_path):
            layer = None if file is None else self._read(os.fsencode(file), base=b"", follow=True)
            layers = (layer, *layers) if layer else layers
        top = os.fsencode(self._repository.work_tree)
        from_top = os.path.relpath(os.fsencode(self._root), top)
        if from_top != b".":
            self._root_from_top = from_top + b"/"
        layers = self._with_layer(layers, top, base=b"")
        base = b""
        for part in self._root_from_top.split(b"/")[:-1]:
            base = base + b"/" + part if base else part
            layers = self._with_layer(layers, os.path.join(top, base), base=base)
        return layers

    def _with_layer(self, layers: tuple[_IgnoreFile, ...], directory: bytes, *, base: bytes) -> tuple[_IgnoreFile, ...]:
        layer = self._read(directory + b"/" + _IGNORE_FILE, base=base, follow=False)
        return (layer, *layers) if layer else layers

    def _read_gemini(self, path: str) -> _IgnoreFile | None:
        if not os.path.lexists(path):
            return None
        # It may be a link, but only to a file in the project.
        real = real_path(path)
        if os.path.commonpath((real, self._root)) != self._root:
            return None
        return self._read(os.fsencode(real), base=b"", follow=False, named=path)

    def _read(self, path: bytes, *, base: bytes, follow: bool, named: str | None = None) -> _IgnoreFile | None:
        content = _read_ignore_file(path, follow=follow)
        if not content:
            return None
        file = named or os.fsdecode(path)
        from tejat.workspace.paths.ignore_pattern import parse_ignore_file

        patterns, cut = parse_ignore_file(content, file=file)
        if cut:
            self._truncated.append(file)
        return _IgnoreFile(base, patterns) if patterns else None


def _git_rule() -> IgnoreRule:
    """The rule that git does not look into its own directory."""
    from tejat.workspace.paths.ignore_pattern import IgnoreRule

    return IgnoreRule(file="", line=0, text=".git", negated=False)


class _Directory(Frozen):
    layers: tuple[_IgnoreFile, ...]
    """Git's ignore files that apply here, highest precedence first."""
    ignored: IgnoreStatus
    rule: IgnoreRule | None


class _IgnoreFile:
    """The patterns of one ignore file."""

    def __init__(self, base: bytes, patterns: list[IgnorePattern]) -> None:
        self._strip = len(base) + 1 if base else 0
        self._patterns = patterns[::-1]
        self._on_paths = [pattern for pattern in self._patterns if not pattern.matches_name]
        on_names = [pattern for pattern in self._patterns if pattern.matches_name]
        self.literals = frozenset(pattern.literal for pattern in on_names if pattern.literal is not None)
        self.suffixes = tuple({pattern.suffix for pattern in on_names if pattern.suffix is not None})
        other = [pattern.expression for pattern in on_names if pattern.literal is None and pattern.suffix is None]
        self.other_name = re.compile(b"|".join(other), re.DOTALL).match if other else None

    def last_match(self, path: bytes, name: bytes | None, *, is_directory: bool) -> IgnorePattern | None:
        """Return the matching pattern with the highest precedence. Without a name, only path patterns are tried."""
        path = path[self._strip :]
        for pattern in self._on_paths if name is None or not self._may_match_name(name) else self._patterns:
            if pattern.directory_only and not is_directory:
                continue
            if pattern.matches(name if pattern.matches_name and name is not None else path):
                return pattern
        return None

    def _may_match_name(self, name: bytes) -> bool:
        if name in self.literals or name.endswith(self.suffixes):
            return True
        return self.other_name is not None and self.other_name(name) is not None

    def may_unignore_beneath(self, directory: bytes) -> bool:
        """Whether a negated path pattern could match anything beneath a directory."""
        prefix = directory[self._strip :] + b"/"
        depth = prefix.count(b"/")
        return any(
            pattern.rule.negated
            and (pattern.depth is None or pattern.depth >= depth)
            and _share_prefix(prefix, pattern.prefix)
            for pattern in self._on_paths
        )

    def add_for_children(
        self, directory: bytes, literals: list[bytes], others: list[Callable[[bytes], object]]
    ) -> None:
        """Add what the path patterns can match among the files directly in a directory."""
        relative = directory[self._strip :]
        prefix = relative + b"/" if relative else b""
        depth = prefix.count(b"/")
        for pattern in self._on_paths:
            if pattern.directory_only or (pattern.depth is not None and pattern.depth != depth):
                continue
            if not _share_prefix(prefix, pattern.prefix):
                continue
            if pattern.literal is not None:
                literals.append(pattern.literal[len(prefix) :])
            else:
                others.append(_child_matcher(pattern.matches, prefix))


def _share_prefix(one: bytes, other: bytes) -> bool:
    """Whether a text can begin with both."""
    return one.startswith(other) or other.startswith(one)


def _child_matcher(matches: Callable[[bytes], object], prefix: bytes) -> Callable[[bytes], object]:
    return lambda name: matches(prefix + name)


class _NameFilter(Frozen):
    """A quick check that lets most names pass. It may have false positives, never false negatives."""

    literals: frozenset[bytes]
    suffixes: tuple[bytes, ...]
    others: tuple[Callable[[bytes], object], ...]

    def may_match(self, name: bytes) -> bool:
        return name in self.literals or name.endswith(self.suffixes) or any(other(name) for other in self.others)


_MATCH_ALL = _NameFilter(frozenset(), (b"",), ())


def _name_filter(layers: tuple[_IgnoreFile, ...], *, in_repository: bool) -> _NameFilter:
    literals: set[bytes] = {_GIT_NAME} if in_repository else set()
    literals.update(*(layer.literals for layer in layers))
    return _NameFilter(
        literals=frozenset(literals),
        suffixes=tuple(suffix for layer in layers for suffix in layer.suffixes),
        others=tuple(layer.other_name for layer in layers if layer.other_name is not None),
    )


def _normalize(relative: str | bytes) -> bytes:
    path = os.fsencode(relative)
    if path.startswith(b"/"):
        raise ValueError(f"not a relative path: {relative!r}")
    parts = [part for part in path.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise ValueError(f"the path leads upward: {relative!r}")
    return b"/".join(parts)


def _read_ignore_file(path: bytes, *, follow: bool) -> bytes:
    """Read at most one byte more than the limit; b"" unless it is a readable regular file."""
    flags = os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        with open_fd(path, flags) as descriptor:
            is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            if not is_regular:
                return b""
            from tejat.workspace.paths.ignore_pattern import MAX_BYTES

            return read_bytes(descriptor, 0, MAX_BYTES + 1)
    except (OSError, ValueError):
        return b""
