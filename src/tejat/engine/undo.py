"""The undo journal: what each call did to files, kept outside the project, and the way back."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from threading import Lock

from tejat.core.errors import UsageError
from tejat.core.tool import READ_ONLY_KINDS, Kind, ToolResult
from tejat.core.types import FunctionCall
from tejat.core.undo import Entry, Restored
from tejat.core.words import say
from tejat.workspace.history.archive import Archive, Stop
from tejat.workspace.history.changes import Comparison, compare, without_stand_ins
from tejat.workspace.history.patches import patches_of
from tejat.workspace.history.snapshot import Snapshot
from tejat.workspace.history.store import digest_of
from tejat.workspace.history.tree_state import TooManyEntries
from tejat.workspace.history.undoing import Extent, put_back
from tejat.workspace.history.watch import Watch, watch_paths, watch_trees
from tejat.workspace.offload import off_loop
from tejat.workspace.roots import Roots

_LIMIT = 1 << 30
_FILE_LIMIT = 32 << 20
_SMALL = 200  # entries that are looked at in place: a thread would take longer
_MOST_ENTRIES = 300_000
_SECONDS_TO_FINISH = 60.0
_LONGEST_WHAT = 2000
_MOST_WARNINGS = 100
_NAMED_BY = ("command", "file_path", "absolute_path", "path", "fact")

_Seen = list[tuple[Watch, Snapshot]]


class UndoJournal:
    """One project's journal. Looking at it makes nothing on disk; `around` never makes a call fail.

    What could not be kept is said in `warnings` and, to whoever asks later, in `notes`. Raises UsageError when a root
    is missing.
    """

    def __init__(
        self,
        directory: str,
        roots: Sequence[str],
        *,
        limit: int = _LIMIT,
        file_limit: int = _FILE_LIMIT,
        stand_ins: Sequence[str] = (),
        session: Callable[[], str] = str,
    ) -> None:
        """Each project, which is a first root, has a journal and a limit of its own in `directory`.

        `stand_ins` are paths from a root where empty directories come and go without meaning anything. `session` tells
        the id of the session that calls belong to now.
        """
        self.warnings: list[str] = []
        self._stand_ins = frozenset(stand_ins)
        self._session = session
        self._unwritten: list[str] = []
        self._roots = Roots(roots)
        project = digest_of(os.fsencode(self._roots.first.real_path)).hex()[:24]
        self._archive = Archive(f"{directory}/{project}", limit=limit, file_limit=file_limit, warn=self._warn)
        self._busy = Lock()
        self._is_small = True

    @property
    def directory(self) -> str:
        """Where this project's journal is."""
        return self._archive.directory.path

    def notes(self) -> Sequence[str]:
        """What could not be kept lately, by this process or another, oldest first. Raises OSError."""
        return self._archive.notes()

    def add_roots(self, directories: Sequence[str]) -> None:
        """Watch what is in these too. Raises UsageError, and adds none, if one is missing."""
        self._roots.add(directories)

    def close(self) -> None:
        self._roots.close()

    async def around(
        self,
        call: FunctionCall,
        kind: Kind,
        paths: Sequence[str],
        run: Callable[[], Awaitable[ToolResult]],
        *,
        whole_tree: bool,
    ) -> ToolResult:
        """Run a call so that what it does to files can be undone, also when it fails or is cancelled.

        With `whole_tree` everything beneath the roots is watched, else only `paths`.
        """
        if kind in READ_ONLY_KINDS:
            return await run()
        with ExitStack() as closing:
            before = await self._look_before(paths, closing, whole_tree=whole_tree)
            try:
                return await run()
            finally:
                await self._look_after(call, before)

    def entries(self) -> list[Entry]:
        """Newest first. Raises OSError."""
        return self._archive.entries()[::-1]

    def show(self, entry_id: str) -> list[str]:
        """For each change a patch, or a line where there is no text to compare; not too many.

        Raises UsageError for an unknown id, OSError.
        """
        entry = self._entry(entry_id)
        with self._busy:
            self._archive.open((), _never_stop)
            return patches_of(entry.changes, self._archive.read)

    def preview(self, entry_id: str) -> Restored:
        """What `restore` would do. Raises as it does; nothing is touched."""
        entry = self._entry(entry_id)
        with self._busy:
            return put_back(self._archive, self._roots, entry, Extent.NOTHING)

    def restore(self, entry_id: str, *, partial: bool = False) -> Restored:
        """Put back what the entry's call changed.

        Only what is still as the call left it is touched. If anything is not, nothing is done, unless `partial`. What
        was done becomes an entry of its own. Raises UsageError for an unknown id, OSError when the journal fails.
        """
        entry = self._entry(entry_id)
        with self._busy, self._archive.directory.lock(_never_stop, name="restoring"):
            extent = Extent.WHAT_IS_UNCHANGED if partial else Extent.ALL_OR_NOTHING
            return put_back(self._archive, self._roots, entry, extent)

    async def _look_before(self, paths: Sequence[str], closing: ExitStack, *, whole_tree: bool) -> _Seen:
        try:
            watches = self._watches(paths, closing, whole_tree=whole_tree)
            at_once = self._look_at_once(watches)
            if at_once is not None:
                return at_once
            return await off_loop(lambda stop: self._look_thoroughly(watches, stop))
        except TooManyEntries:
            self._warn(
                say(
                    "There are more than {most:,} files here, so commands can't be undone.",
                    most=_MOST_ENTRIES,
                )
            )
        except Exception as error:  # noqa: BLE001 -- a call must not fail because it could not be undone
            self._warn(say("A call can't be undone: {error}", error=_reason(error)))
        return []

    async def _look_after(self, call: FunctionCall, before: _Seen) -> None:
        try:
            if before and not self._is_surely_unchanged(before):
                await _to_the_end(lambda stop: self._record_changes(call, before, stop))
        except Exception as error:  # noqa: BLE001 -- the call is done, and its result counts
            self._warn(say("{name} can't be undone: {error}", name=call.name, error=_reason(error)))
        if self._unwritten:
            with suppress(OSError):
                self._archive.write_notes(self._unwritten)
            self._unwritten = []

    def _warn(self, text: str) -> None:
        """Say something once, and not too many things."""
        if text not in self.warnings:
            self.warnings.append(text)
            self._unwritten.append(text)
            del self.warnings[:-_MOST_WARNINGS]

    def _watches(self, paths: Sequence[str], closing: ExitStack, *, whole_tree: bool) -> list[Watch]:
        if whole_tree:
            return watch_trees(self._roots, self._archive.directory)
        return watch_paths(self._roots, paths, closing)

    def _look_at_once(self, watches: Sequence[Watch]) -> _Seen | None:
        """The snapshots, if that takes less time than asking a thread for them."""
        if not self._is_small or not self._busy.acquire(blocking=False):
            return None
        try:
            if not self._archive.is_open([watch.root.real_path for watch in watches]):
                return None
            taken: _Seen = []
            for watch in watches:
                state = watch.look(limit=_SMALL, stop=_never_stop)
                snapshot = self._archive.snapshot_if_known(watch.root, state)
                if snapshot is None:
                    return None
                taken.append((watch, snapshot))
            return taken
        except TooManyEntries:
            self._is_small = False
            return None
        finally:
            self._busy.release()

    def _look_thoroughly(self, watches: Sequence[Watch], stop: Stop) -> _Seen:
        with self._busy:
            self._archive.open([watch.root.real_path for watch in watches], stop)
            taken: _Seen = []
            for watch in watches:
                state = watch.look(limit=_MOST_ENTRIES, stop=stop)
                self._is_small = len(state) <= _SMALL
                taken.append((watch, self._archive.snapshot(watch.root, state, stop)))
            return taken

    def _is_surely_unchanged(self, before: _Seen) -> bool:
        if not self._is_small or not self._busy.acquire(blocking=False):
            return False
        try:
            return all(
                watch.look(limit=2 * _SMALL, stop=_never_stop, before=snapshot.state) == snapshot.state
                and not self._archive.is_doubtful(watch.root, snapshot.state)
                for watch, snapshot in before
            )
        except TooManyEntries:
            return False
        finally:
            self._busy.release()

    def _record_changes(self, call: FunctionCall, before: _Seen, stop: Stop) -> None:
        with self._busy:
            comparisons: list[Comparison] = []
            for watch, old in before:
                state = watch.look(limit=2 * _MOST_ENTRIES, stop=stop, before=old.state)
                if state != old.state or self._archive.is_doubtful(watch.root, state):
                    found = compare(old, self._archive.snapshot(watch.root, state, stop))
                    comparisons.append(without_stand_ins(found, self._stand_ins))
            if comparisons:
                self._archive.record(
                    comparisons,
                    tool=call.name,
                    what=_what(call),
                    undoes=None,
                    stop=stop,
                    session=self._session(),
                    call=call.id or "",
                )

    def _entry(self, entry_id: str) -> Entry:
        found = next((entry for entry in self._archive.entries() if entry.id == entry_id), None)
        if found is None:
            raise UsageError(say("there is no entry {entry!r}", entry=entry_id))
        return found


async def _to_the_end(work: Callable[[Stop], None]) -> None:
    """Do the work in a thread even if the waiting task is cancelled, but not for ever; then let the cancelling on."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _SECONDS_TO_FINISH
    working = asyncio.ensure_future(off_loop(work))
    cancelled: asyncio.CancelledError | None = None
    while not working.done():
        if loop.time() > deadline:
            working.cancel()
        try:
            await asyncio.wait((working,), timeout=max(deadline - loop.time(), 1.0))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not working.cancelled():
            working.exception()
        raise cancelled
    if working.cancelled():
        raise TimeoutError(say("it took too long to see what was changed"))
    working.result()


def _what(call: FunctionCall) -> str:
    """What the call was about, in a line."""
    named = next((value for name in _NAMED_BY if isinstance(value := call.args.get(name), str)), None)
    text = json.dumps(call.args, ensure_ascii=False, default=str) if named is None else named
    return text if len(text) <= _LONGEST_WHAT else f"{text[:_LONGEST_WHAT]}..."


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def _never_stop() -> None:
    return
