"""One copy of the roots: a command runs in it, what it changed is looked at, and then kept or thrown away."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.undo import Change, Node, NodeKind, Remark
from tejat.core.value import value
from tejat.core.words import say, say_count
from tejat.workspace.beneath import Root
from tejat.workspace.copies.layer import LARGEST_FILE, Layered, TooManyChanges, read_layer
from tejat.workspace.history.changes import node_at
from tejat.workspace.history.digests import KnownDigests
from tejat.workspace.history.patches import patches_of
from tejat.workspace.history.private_directory import PrivateDirectory
from tejat.workspace.history.restoration import Restoration, plan
from tejat.workspace.history.snapshot import Budget, Snapshot, look_at, take_snapshot
from tejat.workspace.history.store import digest_of
from tejat.workspace.history.tree_state import read_key
from tejat.workspace.sandbox.plan import Layer

MOST_CHANGES = 1000
"""So many can be shown one by one. More cannot be kept: nobody would have seen them."""
LONGEST_DIFF = 100_000
"""Characters of a diff that a person is shown before they decide."""

_PATCH = "Index: "
_MOST_OLD_CONTENT = 64 << 20


@value
class Examined:
    """What a command did in the copy. With `obstacles`, which are in words, none of it can be kept."""

    changes: tuple[Change, ...]
    diff: str
    obstacles: tuple[str, ...] = ()


class Copy:
    """Made by `Copies`, which removes it too. Looking at it and keeping it block, so use a thread.

    Real files that change after `started` (nanoseconds, as files have them) are changed by somebody else.
    """

    def __init__(
        self,
        directory: str,
        roots: Sequence[Root],
        layers: Sequence[Layer],
        *,
        started: int,
        control_paths: Sequence[str],
        remove: Callable[[], None],
    ) -> None:
        self.layers = tuple(layers)
        self.throw_away = remove
        self._directory = directory
        self._roots = tuple(roots)
        self._control_paths = tuple(control_paths)
        self._started = started
        self._found: dict[str, Layered] = {}
        self._changes: tuple[Change, ...] = ()

    def examine(self, stop: Callable[[], None]) -> Examined:
        """What the command did, once nothing of it runs any more. Raises OSError, and what `stop` raises."""
        obstacles: list[str] = []
        changes: list[Change] = []
        old: dict[bytes, bytes] = {}
        for root, layer in zip(self._roots, self.layers, strict=False):
            try:
                found = self._found[root.real_path] = read_layer(layer.upper, root.real_path, stop=stop)
            except TooManyChanges:
                return Examined((), "", (say("It changed too many files to show them all."),))
            seen = self._look(root, found.nodes, stop, old)
            own = list(_changes(root.real_path, found, seen))
            obstacles += self._obstacles(own, found, seen)
            changes += own
        self._changes = tuple(sorted(changes, key=lambda change: change.full_path))
        if len(changes) > MOST_CHANGES:
            told = say_count(
                "It changed {count} file: too many to show them all.",
                "It changed {count} files: too many to show them all.",
                len(changes),
            )
            return Examined(self._changes[:MOST_CHANGES], "", (told,))
        return Examined(self._changes, self._diff(old), tuple(obstacles))

    def keep(self, stop: Callable[[], None]) -> None:
        """Do to the real files what was shown. The copy can be thrown away afterwards.

        Raises ToolFailure and keeps nothing if one of them has changed since; OSError where not all of it could be
        done, with all that could not.
        """
        with_roots = [
            (root, [change for change in self._changes if change.root == root.real_path]) for root in self._roots
        ]
        work: list[Restoration] = []
        refused: list[Remark] = []
        for root, changes in with_roots:
            seen = self._look(root, [change.path for change in changes], stop, {})
            # From here the way is the same as that of an undo, only in the other direction.
            wanted = [Change(change.root, change.path, before=change.after, after=change.before) for change in changes]
            planned = plan(wanted, seen, is_kept=lambda _: True)
            refused += planned.refused
            refused += _newcomers(changes)
            work.append(Restoration(root, planned.changes, seen, self._content))
        if refused:
            named = ", ".join(remark.path for remark in refused)
            raise ToolFailure(
                f"Nothing was kept, because other programs changed files meanwhile: {named}",
                ErrorType.STALE_FILE,
                display=say("Nothing was kept, because other programs changed files meanwhile: {paths}", paths=named),
            )
        failed = [remark for restoration in work for remark in restoration.run().failed]
        if failed:
            raise OSError(None, f"These could not be written: {', '.join(remark.path for remark in failed)}")

    def _look(self, root: Root, paths: Iterable[str], stop: Callable[[], None], old: dict[bytes, bytes]) -> Snapshot:
        """What is at these paths really. Contents go to `old`, as far as there is room."""

        def keep(contents: Mapping[bytes, bytes]) -> None:
            if sum(map(len, chain(old.values(), contents.values()))) <= _MOST_OLD_CONTENT:
                old.update(contents)

        budget = Budget(file_limit=LARGEST_FILE, make_room=lambda needed: needed, keep=keep, stop=stop)
        known = KnownDigests(PrivateDirectory(self._directory), root.real_path)
        return take_snapshot(root, look_at(root, paths), known, budget)

    def _obstacles(self, changes: Sequence[Change], found: Layered, seen: Snapshot) -> Iterator[str]:
        yield from found.obstacles
        for change in changes:
            path = change.path
            if any(path == control or path.startswith(f"{control}/") for control in self._control_paths):
                yield say(
                    "{path} decides what other programs run, so commands may not change it.", path=change.full_path
                )
            if path in seen.state.others:
                yield say("{path} is no ordinary file, so it cannot be replaced.", path=change.full_path)
            if path in seen.unkept:
                yield say("{path} cannot be compared: {why}.", path=change.full_path, why=seen.unkept[path])
            key = seen.state.files.get(path)
            if key is not None and read_key(key).changed >= self._started:
                yield say("{path} was changed by another program while the command ran.", path=change.full_path)

    def _diff(self, old: Mapping[bytes, bytes]) -> str:
        """The patches of texts. What else there is to say of a change is in the change itself."""
        text = ""
        for patch in patches_of(self._changes, lambda digest: old.get(digest) or self._content(digest)):
            if not patch.startswith(_PATCH):
                continue
            if len(text) + len(patch) > LONGEST_DIFF:
                return text + say("The rest of the diff is too long to be shown.") + "\n"
            text += patch
        return text

    def _content(self, digest: bytes) -> bytes | None:
        """A content of the layers, None where it is not what it was when it was shown."""
        if digest == digest_of(b""):
            return b""
        for found in self._found.values():
            if digest in found.contents:
                with suppress(OSError), open(found.contents[digest], "rb") as file:
                    content = file.read(LARGEST_FILE + 1)
                    return content if digest_of(content) == digest else None
        return None


def _changes(root: str, found: Layered, seen: Snapshot) -> Iterator[Change]:
    for path, after in found.nodes.items():
        before = node_at(seen, path)
        if before is None and path in seen.state.others:
            before = Node(NodeKind.FILE)  # told as an obstacle
        if before is None and after is None:
            continue
        if before is None or after is None or not before.is_like(after):
            yield Change(root, path, before=before, after=after)


def _newcomers(changes: Sequence[Change]) -> Iterator[Remark]:
    """What came into directories that are to go."""
    known = {change.path for change in changes}
    for change in changes:
        goes = change.after is None or change.after.kind is not NodeKind.DIRECTORY
        if goes and change.before is not None and change.before.kind is NodeKind.DIRECTORY:
            with suppress(OSError):
                for name in os.listdir(change.full_path):
                    if f"{change.path}/{name}" not in known:
                        yield Remark(f"{change.full_path}/{name}", "it is new")
