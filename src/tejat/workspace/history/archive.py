"""One project's undo journal on disk: contents, digests and entries, held within a limit."""

import os
import time
from collections.abc import Callable, Mapping, Sequence

from tejat.core.undo import Entry
from tejat.core.value import replace
from tejat.core.words import phrase
from tejat.workspace.beneath import Root
from tejat.workspace.history.changes import Comparison
from tejat.workspace.history.digests import KnownDigests, saved_digests
from tejat.workspace.history.entry_file import EntryFile, digests_in
from tejat.workspace.history.notes import read_notes, write_notes
from tejat.workspace.history.private_directory import PrivateDirectory
from tejat.workspace.history.snapshot import Budget, Snapshot, in_words, take_snapshot
from tejat.workspace.history.store import ContentStore
from tejat.workspace.history.tree_state import TreeState

# After room was made some stays free, so that it is not made anew for every call.
_FILLED = 0.9
_MOST_ENTRIES = 1000

Stop = Callable[[], None]


class Archive:
    """Safe for several processes, not for several threads. Raises OSError; makes nothing on disk before it must."""

    def __init__(self, directory: str, *, limit: int, file_limit: int, warn: Callable[[str], None]) -> None:
        self.directory = PrivateDirectory(directory)
        self._store = ContentStore(self.directory)
        self._entries = EntryFile(self.directory)
        self._known: dict[str, KnownDigests] = {}
        self._limit = limit
        self._file_limit = file_limit
        self._warn = warn
        self._generation = -1
        self._no_room_for: tuple[int, int] | None = None

    def entries(self) -> list[Entry]:
        """Oldest first."""
        return self._entries.read()

    def read(self, digest: bytes) -> bytes | None:
        """A content, None when it is not kept."""
        return self._store.read(digest)

    def is_kept(self, digest: bytes) -> bool:
        return digest in self._store

    def is_open(self, roots: Sequence[str]) -> bool:
        """Whether `open` has nothing to do, or nothing to wait for."""
        if not self.directory.exists():
            self.open(roots, _never_stop)
        return all(root in self._known for root in roots) and self._store.is_fresh()

    def open(self, roots: Sequence[str], stop: Stop) -> None:
        """Learn what is on disk before anything is asked."""
        missing = [root for root in roots if root not in self._known]
        if not missing and self._store.is_fresh():
            return
        if not self.directory.exists():
            self._known |= {root: KnownDigests(self.directory, root) for root in missing}
            return
        with self.directory.lock(stop):
            self._refresh()
            for root in missing:
                known = self._known[root] = KnownDigests(self.directory, root)
                known.load()
                known.retain(self._store.__contains__)

    def is_doubtful(self, root: Root, state: TreeState) -> bool:
        """Whether a file may have changed though it looks the same."""
        return self._known[root.real_path].is_doubtful(state.files)

    def snapshot_if_known(self, root: Root, state: TreeState) -> Snapshot | None:
        """The snapshot of a state, if nothing has to be read for it."""
        files, unknown = self._known[root.real_path].values_of(state.files)
        return None if unknown else Snapshot(root.real_path, state, files)

    def snapshot(self, root: Root, state: TreeState, stop: Stop, *, recognise: bool = False) -> Snapshot:
        """The snapshot of a state; what is new is read and kept. `stop` may raise at any time.

        To `recognise` takes longer and wants no room for contents that are kept under another name.
        """
        known = self._known[root.real_path]
        budget = Budget(
            file_limit=self._file_limit,
            make_room=lambda needed: self._make_room(needed, stop),
            keep=lambda contents: self._keep(contents, stop),
            stop=stop,
            is_kept=self._store.__contains__ if recognise else None,
        )
        snapshot = take_snapshot(root, state, known, budget)
        with self.directory.lock(stop):
            known.save()
        return snapshot

    def observe(self, root: Root, state: TreeState, stop: Stop) -> Snapshot:
        """The same as `snapshot`, but nothing is kept."""
        nothing_known = KnownDigests(self.directory, root.real_path)
        budget = Budget(
            file_limit=self._file_limit,
            make_room=lambda needed: needed,
            keep=lambda _: None,
            stop=stop,
        )
        return take_snapshot(root, state, nothing_known, budget)

    def record(
        self,
        comparisons: Sequence[Comparison],
        *,
        tool: str,
        what: str,
        undoes: str | None,
        stop: Stop,
        session: str = "",
        call: str = "",
    ) -> Entry | None:
        """Add an entry that lasts; None if nothing happened."""
        changes = tuple(change for comparison in comparisons for change in comparison.changes)
        skipped = tuple(remark for comparison in comparisons for remark in comparison.skipped)
        for change in changes:
            if change.after is None and change.root in self._known:
                self._known[change.root].forget((change.path,))
        with self.directory.lock(stop):
            for known in self._known.values():
                known.save()
            if not changes and not skipped:
                return None
            entry = Entry(
                self._fresh_id(), time.time(), tool, what, changes, skipped, undoes, session=session, call=call
            )
            self._store.flush()
            self._entries.append(entry)
            if len(self._entries.read()) > _MOST_ENTRIES:
                self._entries.replace_all(self._entries.read()[_MOST_ENTRIES // 10 :])
            return entry

    def notes(self) -> list[str]:
        """What could not be kept lately, oldest first."""
        return read_notes(self.directory)

    def write_notes(self, texts: Sequence[str]) -> None:
        with self.directory.lock(_never_stop):
            write_notes(self.directory, texts)

    def flush(self) -> None:
        self._store.flush()

    def _fresh_id(self) -> str:
        taken = {entry.id for entry in self._entries.read()}
        while (drawn := os.urandom(3).hex()) in taken:
            pass
        return drawn

    def _keep(self, contents: Mapping[bytes, bytes], stop: Stop) -> None:
        with self.directory.lock(stop):
            self._refresh()
            self._store.add(contents)

    def _refresh(self) -> None:
        """Known is only what is kept; another process may have dropped some of it."""
        self._store.refresh()
        if self._store.generation != self._generation:
            self._generation = self._store.generation
            for known in self._known.values():
                known.retain(self._store.__contains__)

    def _make_room(self, needed: int, stop: Stop) -> int:
        free = self._limit - self.directory.size()
        if free >= needed or self._no_room_for == (needed, free):
            return max(free, 0)
        with self.directory.lock(stop):
            self._refresh()
            self._drop_old_entries(needed, stop)
            free = max(self._limit - self.directory.size(), 0)
        if free < needed:
            self._no_room_for = (needed, free)
            self._warn(
                phrase(
                    "The room for undo ({limit}) is used up: {needed} more would be needed.",
                    limit=in_words(self._limit),
                    needed=in_words(needed),
                )
            )
        return free

    def _drop_old_entries(self, needed: int, stop: Stop) -> None:
        """Keep the contents of now, and as many entries, the newest first, as fit beside them and what is needed."""
        live = saved_digests(self.directory).union(*(known.digests() for known in self._known.values()))
        wanted = min(needed, self._limit // 2)
        used = sum(map(self._store.length, live)) + wanted
        entries = self._entries.read()
        kept = 0
        for entry in reversed(entries):
            more = digests_in(entry) - live
            used += sum(map(self._store.length, more))
            if used > _FILLED * self._limit:
                break
            live |= more
            kept += 1
        if kept < len(entries):
            dropped = len(entries) - kept
            self._entries.replace_all([replace(entry, undone_by=None) for entry in entries[dropped:]])
            self._warn(phrase("To make room, the oldest calls ({dropped}) can't be undone any more.", dropped=dropped))
        goal = self.directory.size() + wanted - int(_FILLED * self._limit)
        self._store.keep_only(live, stop, goal=goal)
        self._refresh()


def _never_stop() -> None:
    return
