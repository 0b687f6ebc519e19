"""Which paths beneath a root are ignored: exactly those that git ignores, as changed by the root's `.geminiignore`."""

import os
import re
import stat
from collections.abc import Callable, Iterable
from enum import Enum, auto

from tejat.core.value import value
from tejat.workspace.git_repository import Repository, find_repository
from tejat.workspace.ignore_pattern import MAXIMUM_BYTES, IgnorePattern, Rule, parse_ignore_file
from tejat.workspace.tracked import TrackedFiles, read_tracked

_GIT_NAME = b".git"
_IGNORE_FILE = b".gitignore"
_GIT_RULE = Rule(file="", line=0, text=".git", negated=False)


class Ignored(Enum):
    """Whether a path is ignored, and by whom."""

    NO = auto()
    GIT = auto()
    GEMINI = auto()


class IgnoreRules:
    """The rules for everything beneath a root, read as they are needed and then kept: make one for each call."""

    def __init__(self, root: str, *, git: bool, gemini: bool) -> None:
        """`root` is the real path of a directory. It is itself never ignored, whatever lies above it."""
        self._root = root
        self._beneath_root = os.path.join(os.fsencode(root), b"")
        self._ignore_files_beneath: bytes | None = None
        self._ignore_files: frozenset[bytes] = frozenset()
        self._cut: list[str] = []
        self._tracked: TrackedFiles | None = None
        self._repository: Repository | None = find_repository(root) if git else None
        self._root_from_top = b""
        self._gemini_file = os.path.join(root, ".geminiignore")
        self._gemini = self._read_gemini() if gemini else None
        self._screens: dict[tuple[_Layer, ...], _Screen] = {}
        self._directories = {b"": _Directory(self._layers_of_root(), Ignored.NO, None)}

    @property
    def is_silent(self) -> bool:
        """Whether there is no rule at all, so that nothing is ignored."""
        return self._repository is None and self._gemini is None

    @property
    def cut_files(self) -> tuple[str, ...]:
        """Those of the ignore files read so far that are so long that their ends do not count."""
        return tuple(self._cut)

    def judge(self, relative: str | bytes, *, is_directory: bool) -> Ignored:
        """Whether the path, which is relative to the root, is ignored.

        A file that git tracks is not ignored by git. Nor is a directory in which something may be kept, because git
        tracks it or because `.geminiignore` names it: nothing is lost when ignored directories are not entered. Raises
        ValueError for a path that is absolute or has a part `..`.
        """
        path = _normal(relative)
        ignored, _ = self._verdict(path, is_directory=is_directory)
        if ignored is not Ignored.GIT:
            return ignored
        if is_directory and self._gemini is not None and self._gemini.may_keep_beneath(path):
            return Ignored.NO
        return Ignored.NO if self._is_tracked(path) else Ignored.GIT

    def explain(self, relative: str | bytes, *, is_directory: bool) -> Rule | None:
        """The rule that decided about the path, or about the directory that took it along; None when none did.

        It may be a negated one, which keeps the path. Git's rules say nothing about what git tracks. Raises ValueError
        as `judge` does.
        """
        path = _normal(relative)
        _, rule = self._verdict(path, is_directory=is_directory)
        if rule is None or rule.file == self._gemini_file or not self._is_tracked(path):
            return rule
        return None

    def filter(self, relatives: Iterable[bytes], *, within: bytes = b"") -> tuple[list[bytes], int, int]:
        """Those of the files that are not ignored, and how many are: by git, by `.geminiignore`.

        The paths are relative to the directory `within`, which is relative to the root.
        """
        kept: list[bytes] = []
        ignored = {Ignored.GIT: 0, Ignored.GEMINI: 0}
        prefix = within + b"/" if within else b""
        screens: dict[bytes, _Screen] = {}
        for path in relatives:
            directory, _, name = path.rpartition(b"/")
            screen = screens.get(directory)
            if screen is None:
                screen = screens[directory] = self._screen((prefix + directory).rstrip(b"/"))
            # Nearly every file of an ordinary tree ends here.
            if name not in screen.literals and not name.endswith(screen.suffixes) and not screen.others:
                kept.append(path)
                continue
            verdict = self.judge(prefix + path, is_directory=False) if screen.catches(name) else Ignored.NO
            if verdict is Ignored.NO:
                kept.append(path)
            else:
                ignored[verdict] += 1
        return kept, ignored[Ignored.GIT], ignored[Ignored.GEMINI]

    def expect_ignore_files(self, paths: Iterable[bytes], *, within: bytes = b"") -> None:
        """Says that these are all the files there are in and beneath the directory `within`.

        Whoever has just listed them spares this object from looking for a `.gitignore` in each directory.
        """
        prefix = within + b"/" if within else b""
        self._ignore_files_beneath = prefix
        self._ignore_files = frozenset(prefix + path for path in paths if path.endswith(_IGNORE_FILE))

    def _verdict(self, path: bytes, *, is_directory: bool) -> "tuple[Ignored, Rule | None]":
        if not path:
            return Ignored.NO, None
        parent, _, name = path.rpartition(b"/")
        return self._decide(self._directory(parent), path, name, is_directory=is_directory)

    def _directory(self, path: bytes) -> "_Directory":
        known = self._directories.get(path)
        if known is not None:
            return known
        missing: list[bytes] = []
        while path not in self._directories:
            missing.append(path)
            path = path.rpartition(b"/")[0]
        directory = self._directories[path]
        for path in reversed(missing):
            directory = self._directories[path] = self._child(directory, path)
        return directory

    def _child(self, parent: "_Directory", path: bytes) -> "_Directory":
        ignored, rule = self._decide(parent, path, path.rpartition(b"/")[2], is_directory=True)
        layers = parent.layers
        if ignored is Ignored.NO and self._may_have_ignore_file(path):
            layers = self._with_layer(layers, self._beneath_root + path, base=self._root_from_top + path)
        return _Directory(layers, ignored, rule)

    def _may_have_ignore_file(self, directory: bytes) -> bool:
        if self._repository is None:
            return False
        if self._ignore_files_beneath is None or not directory.startswith(self._ignore_files_beneath):
            return True
        return directory + b"/" + _IGNORE_FILE in self._ignore_files

    def _decide(
        self, directory: "_Directory", path: bytes, name: bytes, *, is_directory: bool
    ) -> "tuple[Ignored, Rule | None]":
        """The one place where the rules meet. What git tracks is not looked at here."""
        if directory.ignored is Ignored.GEMINI:
            return Ignored.GEMINI, directory.rule
        if self._gemini is not None:
            pattern = self._gemini.last_match(path, name, is_directory=is_directory)
            if pattern is not None and pattern.rule.negated and directory.ignored is Ignored.GIT:
                # Only a path reaches into what git ignores: `!*.md` does not bring all of node_modules back.
                pattern = self._gemini.last_match(path, None, is_directory=is_directory)
            if pattern is not None:
                return Ignored.NO if pattern.rule.negated else Ignored.GEMINI, pattern.rule
        if directory.ignored is Ignored.GIT:
            return Ignored.GIT, directory.rule
        if self._repository is None:
            return Ignored.NO, None
        if name == _GIT_NAME:
            return Ignored.GIT, _GIT_RULE
        from_top = self._root_from_top + path
        for layer in directory.layers:
            pattern = layer.last_match(from_top, name, is_directory=is_directory)
            if pattern is not None:
                return Ignored.NO if pattern.rule.negated else Ignored.GIT, pattern.rule
        return Ignored.NO, None

    def _is_tracked(self, path: bytes) -> bool:
        if self._repository is None:
            return False
        if self._tracked is None:
            self._tracked = read_tracked(self._repository.index)
        from_top = self._root_from_top + path
        return from_top in self._tracked or self._tracked.any_beneath(from_top)

    def _screen(self, path: bytes) -> "_Screen":
        directory = self._directory(path)
        if directory.ignored is not Ignored.NO:
            return _CATCH_ALL
        layers = directory.layers if self._gemini is None else (*directory.layers, self._gemini)
        screen = self._screens.get(layers)
        if screen is None:
            screen = self._screens[layers] = _screen_of_names(layers, in_repository=self._repository is not None)
        from_top = self._root_from_top + path
        literals: list[bytes] = []
        others: list[Callable[[bytes], object]] = []
        for layer in layers:
            layer.add_for_children(path if layer is self._gemini else from_top, literals, others)
        if not literals and not others:
            return screen
        return _Screen(screen.literals.union(literals), screen.suffixes, (*screen.others, *others))

    def _layers_of_root(self) -> "tuple[_Layer, ...]":
        if self._repository is None:
            return ()
        layers: tuple[_Layer, ...] = ()
        for file in (self._repository.user_excludes, self._repository.exclude):
            layer = None if file is None else self._read(os.fsencode(file), base=b"", follow=True)
            layers = (layer, *layers) if layer else layers
        top = os.fsencode(self._repository.top)
        from_top = os.path.relpath(os.fsencode(self._root), top)
        if from_top != b".":
            self._root_from_top = from_top + b"/"
        layers = self._with_layer(layers, top, base=b"")
        base = b""
        for part in self._root_from_top.split(b"/")[:-1]:
            base = base + b"/" + part if base else part
            layers = self._with_layer(layers, os.path.join(top, base), base=base)
        return layers

    def _with_layer(self, layers: "tuple[_Layer, ...]", directory: bytes, *, base: bytes) -> "tuple[_Layer, ...]":
        layer = self._read(directory + b"/" + _IGNORE_FILE, base=base, follow=False)
        return (layer, *layers) if layer else layers

    def _read_gemini(self) -> "_Layer | None":
        if not os.path.lexists(self._gemini_file):
            return None
        # It may be a link to another file of the project, never to one outside.
        real = os.path.realpath(self._gemini_file)
        if os.path.commonpath((real, self._root)) != self._root:
            return None
        return self._read(os.fsencode(real), base=b"", follow=False, named=self._gemini_file)

    def _read(self, path: bytes, *, base: bytes, follow: bool, named: str | None = None) -> "_Layer | None":
        content = _read_ignore_file(path, follow=follow)
        if not content:
            return None
        file = named or os.fsdecode(path)
        patterns, cut = parse_ignore_file(content, file=file)
        if cut:
            self._cut.append(file)
        return _Layer(base, patterns) if patterns else None


@value
class _Directory:
    layers: "tuple[_Layer, ...]"
    """Git's ignore files that count here, the strongest first."""
    ignored: Ignored
    rule: Rule | None


class _Layer:
    """The patterns of one ignore file."""

    def __init__(self, base: bytes, patterns: list[IgnorePattern]) -> None:
        self._strip = len(base) + 1 if base else 0
        self._patterns = patterns[::-1]
        self._on_paths = [pattern for pattern in self._patterns if not pattern.on_name]
        on_names = [pattern for pattern in self._patterns if pattern.on_name]
        self.literals = frozenset(pattern.literal for pattern in on_names if pattern.literal is not None)
        self.suffixes = tuple({pattern.suffix for pattern in on_names if pattern.suffix is not None})
        other = [pattern.expression for pattern in on_names if pattern.literal is None and pattern.suffix is None]
        self.other_name = re.compile(b"|".join(other), re.DOTALL).match if other else None

    def last_match(self, path: bytes, name: bytes | None, *, is_directory: bool) -> IgnorePattern | None:
        """The strongest pattern that matches. Without a name, only patterns on paths are tried."""
        path = path[self._strip :]
        for pattern in self._on_paths if name is None or not self._knows(name) else self._patterns:
            if pattern.directory_only and not is_directory:
                continue
            if pattern.matches(name if pattern.on_name and name is not None else path):
                return pattern
        return None

    def _knows(self, name: bytes) -> bool:
        if name in self.literals or name.endswith(self.suffixes):
            return True
        return self.other_name is not None and self.other_name(name) is not None

    def may_keep_beneath(self, directory: bytes) -> bool:
        """Whether a negated pattern on paths could match anything beneath a directory."""
        beginning = directory[self._strip :] + b"/"
        depth = beginning.count(b"/")
        return any(
            pattern.rule.negated
            and (pattern.depth is None or pattern.depth >= depth)
            and _agree(beginning, pattern.prefix)
            for pattern in self._on_paths
        )

    def add_for_children(
        self, directory: bytes, literals: list[bytes], others: list[Callable[[bytes], object]]
    ) -> None:
        """Adds what the patterns on paths can match among the files directly in a directory."""
        relative = directory[self._strip :]
        beginning = relative + b"/" if relative else b""
        depth = beginning.count(b"/")
        for pattern in self._on_paths:
            if pattern.directory_only or (pattern.depth is not None and pattern.depth != depth):
                continue
            if not _agree(beginning, pattern.prefix):
                continue
            if pattern.literal is not None:
                literals.append(pattern.literal[len(beginning) :])
            else:
                others.append(_on_child(pattern.matches, beginning))


def _agree(one: bytes, other: bytes) -> bool:
    """Whether a text can begin with both."""
    return one.startswith(other) or other.startswith(one)


def _on_child(matches: Callable[[bytes], object], beginning: bytes) -> Callable[[bytes], object]:
    return lambda name: matches(beginning + name)


@value
class _Screen:
    """What lets most names through at once. It may catch too many, never too few."""

    literals: frozenset[bytes]
    suffixes: tuple[bytes, ...]
    others: tuple[Callable[[bytes], object], ...]

    def catches(self, name: bytes) -> bool:
        return name in self.literals or name.endswith(self.suffixes) or any(other(name) for other in self.others)


_CATCH_ALL = _Screen(frozenset(), (b"",), ())


def _screen_of_names(layers: tuple[_Layer, ...], *, in_repository: bool) -> _Screen:
    literals: set[bytes] = {_GIT_NAME} if in_repository else set()
    literals.update(*(layer.literals for layer in layers))
    return _Screen(
        literals=frozenset(literals),
        suffixes=tuple(suffix for layer in layers for suffix in layer.suffixes),
        others=tuple(layer.other_name for layer in layers if layer.other_name is not None),
    )


def _normal(relative: str | bytes) -> bytes:
    path = os.fsencode(relative)
    if path.startswith(b"/"):
        raise ValueError(f"not a relative path: {relative!r}")
    parts = [part for part in path.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise ValueError(f"the path leads upward: {relative!r}")
    return b"/".join(parts)


def _read_ignore_file(path: bytes, *, follow: bool) -> bytes:
    """At most one byte more than counts; nothing unless it is a regular file that can be read."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return b""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        content = b""
        while len(content) <= MAXIMUM_BYTES and (block := os.read(descriptor, MAXIMUM_BYTES + 1 - len(content))):
            content += block
        return content
    except OSError:
        return b""
    finally:
        os.close(descriptor)
