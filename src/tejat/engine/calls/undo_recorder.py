"""Recording of what calls change in the file system, and undo."""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from threading import Lock
from types import MappingProxyType

from tejat.config.paths import project_key
from tejat.core.agent.subagents import AgentRunId
from tejat.core.errors import ErrorType, UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, join_lazy, lazy
from tejat.core.messages.declaration import READ_ONLY_KINDS, Kind
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.undo import (
    DEFAULT_SCOPE,
    PathChange,
    RestoreResult,
    RestoreScope,
    UndoEntry,
    UndoUnavailable,
    find_entry,
    group_units,
)
from tejat.workspace.files.roots import Roots
from tejat.workspace.threads.offload import run_blocking, run_to_completion
from tejat.workspace.threads.stop import never_stop
from tejat.workspace.undo.attribution.activity import Activity, ActivityMonitor
from tejat.workspace.undo.attribution.foreign_changes import CallTimes
from tejat.workspace.undo.comparison import Comparison, with_replaced, without_placeholders
from tejat.workspace.undo.live.prefetch import Prefetch
from tejat.workspace.undo.observation import Observation, ScanObservation, TreeObserver
from tejat.workspace.undo.patches import render_patches
from tejat.workspace.undo.revert import revert_entry
from tejat.workspace.undo.store import RecordedCall, Stop, UndoStore, try_twice
from tejat.workspace.undo.tree_state import TooManyEntries
from tejat.workspace.undo.watch import Watch, watch_changes, watch_paths, watch_trees

_LIMIT = 1 << 30
_FILE_LIMIT = 32 << 20
_FINISH_TIMEOUT = 60.0
_MAX_SUMMARY_LENGTH = 2000
_MAX_WARNINGS = 100
_SUMMARY_ARGUMENTS = ("command", "file_path", "absolute_path", "path", "fact")

NOTHING_REPLACED: Mapping[str, bytes] = MappingProxyType({})


class _Before(Frozen):
    """What was seen before a call of an `agent`. `seen` is when looking began, in nanoseconds since the epoch."""

    observations: list[Observation]
    seen: int
    is_exact: bool
    agent: AgentRunId


class _Run(Frozen):
    """When a call ran, in nanoseconds since the epoch, and the contents that it replaced in an editor."""

    started: int
    ended: int
    activity: Activity
    replaced: Mapping[str, bytes]


class UndoRecorder:
    """The undo log of one project. Reading creates nothing on disk.

    What could not be recorded is in `warnings` and, for later processes, in `notes`. Raises UsageError if a root is
    missing.
    """

    def __init__(
        self,
        directory: str,
        roots: Sequence[str],
        *,
        limit: int = _LIMIT,
        file_limit: int = _FILE_LIMIT,
        placeholders: Sequence[str] = (),
        session: Callable[[], str] = str,
        agent: Callable[[], AgentRunId] = AgentRunId,
        helpers: Callable[[], Collection[int]] = tuple,
        on_warning: Callable[[str], None] | None = None,
    ) -> None:
        """Each project, identified by its first root, has a log and a size limit of its own in `directory`.

        `placeholders` are paths below a root where empty directories come and go and are ignored. `session` returns the
        id of the current session, `agent` the run of a sub-agent that makes the call, `helpers` the pids of processes
        that start commands and change no files themselves. `on_warning` gets each new warning, in the thread of the
        event loop.
        """
        self.warnings: list[str] = []
        self._placeholders = frozenset(placeholders)
        self._session = session
        self._agent = agent
        self._helpers = helpers
        self._on_warning = on_warning
        self._unsaved_warnings: list[str] = []
        self._roots = Roots(roots)
        project = project_key(self._roots.first.real_path)
        self._archive = UndoStore(
            f"{directory}/{project}",
            limit=limit,
            file_limit=file_limit,
            warn=self._warn,
            store_of=lambda path: os.path.realpath(f"{directory}/{project_key(path)}"),
        )
        self._observer = TreeObserver(self._archive)
        self._lock = Lock()
        self._prefetch: Prefetch | None = None

    @property
    def directory(self) -> str:
        """The directory of this project's log."""
        return self._archive.directory.path

    def notes(self) -> Sequence[str]:
        """List what could not be recorded recently, by any process, oldest first. Raises OSError."""
        return self._archive.warnings()

    def add_roots(self, directories: Sequence[str]) -> None:
        """Record changes below these directories too. Raises UsageError, and adds none, if one is missing."""
        self._roots.add(directories)
        self._observer.forget_trees()

    def prefetch(self) -> None:
        """Do in the background, once, what the first command in a large tree would have to wait for."""
        if self._prefetch is None:
            self._prefetch = Prefetch(self._prefetch_trees)

    def close(self) -> None:
        if self._prefetch is not None:
            self._prefetch.close()
        self._observer.close()
        self._roots.close()

    async def record(
        self,
        call: FunctionCall,
        kind: Kind,
        paths: Sequence[str],
        run: Callable[[], Awaitable[ToolResult]],
        *,
        whole_tree: bool,
        planned: Sequence[PathChange] | None = None,
        replaced: Mapping[str, bytes] = NOTHING_REPLACED,
    ) -> ToolResult:
        """Run a call and record its changes to files, also when it fails or is cancelled.

        With `whole_tree` everything below the roots is compared, unless the changes are `planned`; otherwise only
        `paths`. While the call runs, `replaced` gets contents by real path that undo restores instead of those on disk.
        If the present contents cannot be stored, raises UndoUnavailable without running the call. If the changes cannot
        be recorded afterwards, the result is an error that says so.
        """
        if kind in READ_ONLY_KINDS:
            return await run()
        with ExitStack() as closing:
            if planned is None:
                watch = partial(self._watches, paths, closing, whole_tree=whole_tree)
            else:
                watch, whole_tree = partial(watch_changes, self._roots, planned), False
            before = await self._take_before(watch, closing, whole_tree=whole_tree)
            for observation in before.observations:
                closing.callback(observation.close)
            if whole_tree:
                for tree in self._observer.trees:
                    closing.callback(tree.collect_on(asyncio.get_running_loop()))
            # Other tools may work in processes that are not ours.
            monitor = ActivityMonitor(self._helpers) if kind is Kind.EXECUTE and not before.is_exact else None
            started = time.time_ns()

            def end_run() -> _Run:
                ended = time.time_ns()
                activity = Activity(((started, ended),)) if monitor is None else monitor.stop()
                return _Run(started, ended, activity, replaced)

            try:
                result = await run()
            except BaseException:
                self._publish(await self._record_after(call, before, end_run()))
                raise
            problem = await self._record_after(call, before, end_run())
            return result if problem is None else _unrecorded_result(result, problem)

    def entries(self) -> list[UndoEntry]:
        """List the entries, newest first, those of each run of a sub-agent as one. Raises OSError."""
        return group_units(self._archive.entries()[::-1])

    def show(self, entry_id: str) -> list[str]:
        """Return a patch for each change, or a line if there is no text to compare.

        Raises UsageError for an unknown id, OSError.
        """
        return self.render(self._find_entry(entry_id).changes)

    def render(self, changes: Sequence[PathChange]) -> list[str]:
        """Return patches as `show` does, for changes of recorded entries. Raises OSError."""
        with self._lock:
            self._archive.load((), never_stop)
            return render_patches(changes, self._archive.read_content)

    def preview(self, entry_id: str, scope: RestoreScope = DEFAULT_SCOPE) -> RestoreResult:
        """Return what `restore` would do, without doing it. Raises as `restore` does."""
        entry = self._find_entry(entry_id)
        with self._lock:
            return revert_entry(self._archive, self._roots, entry, scope, dry_run=True)

    def restore(self, entry_id: str, scope: RestoreScope = DEFAULT_SCOPE) -> RestoreResult:
        """Undo what the call of an entry changed.

        Files that have changed since are not touched; if there are any, nothing is done unless `partial`. The
        restoration becomes an entry of its own. Raises UsageError for an unknown id or path, OSError if the log fails.
        """
        entry = self._find_entry(entry_id)
        with self._lock, self._archive.directory.lock(never_stop, name="restoring"):
            return revert_entry(self._archive, self._roots, entry, scope)

    async def _take_before(self, watch: Callable[[], list[Watch]], closing: ExitStack, *, whole_tree: bool) -> _Before:
        """Take the snapshots before a call. Raises UndoUnavailable."""
        seen = time.time_ns()
        taken: list[Observation] = []
        try:
            self._archive.directory.check_writable()
            if whole_tree:
                if self._prefetch is not None:
                    await self._prefetch.finish()
                await run_blocking(lambda _: closing.enter_context(self._archive.open_window()))
            watches = watch()
            at_once = self._observe_inline(watches, is_exact=not whole_tree)
            taken = at_once or await run_blocking(
                lambda stop: self._observe_in_thread(watches, stop, is_exact=not whole_tree)
            )
        except TooManyEntries as error:
            self._warn(_("There are more than {most:,} files here, so commands cannot be undone.", most=error.limit))
        except Exception as error:
            message = lazy(
                "This cannot be undone: could not save the current files in {directory} ({why}). Free some space "
                "there, or set XDG_STATE_HOME to another directory.",
                directory=self.directory,
                why=_error_text(error),
            )
            raise UndoUnavailable(message) from error
        if not whole_tree:
            _check_kept(taken)
        return _Before(taken, seen, is_exact=not whole_tree, agent=self._agent())

    async def _record_after(self, call: FunctionCall, before: _Before, run: _Run) -> str | None:
        """Record the changes of a call; return why that failed."""
        problem: str | None = None
        try:
            if before.observations and not self._is_unchanged(before.observations):
                work = partial(self._record_changes, call, before, run)
                await run_to_completion(lambda stop: try_twice(lambda: work(stop)), _FINISH_TIMEOUT)
        except Exception as error:  # noqa: BLE001 -- the call is done, and its result counts
            why = _error_text(error)
            problem = lazy("The changes made by {name} cannot be undone: {error}", name=call.name, error=why)
        texts, self._unsaved_warnings = self._unsaved_warnings, []
        for text in texts:
            self._publish(text)
        if problem is not None:
            texts.append(problem)
        if texts:
            with suppress(OSError):
                self._archive.write_warnings(texts)
        return problem

    def _publish(self, warning: str | None) -> None:
        if warning is not None and self._on_warning is not None:
            self._on_warning(warning)

    def _warn(self, text: str) -> None:
        """Add a warning once, and limit their number."""
        if text not in self.warnings:
            self.warnings.append(text)
            self._unsaved_warnings.append(text)
            del self.warnings[:-_MAX_WARNINGS]

    def _watches(self, paths: Sequence[str], closing: ExitStack, *, whole_tree: bool) -> list[Watch]:
        if whole_tree:
            return watch_trees(self._roots, self._archive.directory)
        return watch_paths(self._roots, paths, closing)

    def _prefetch_trees(self, stop: Stop) -> None:
        self._observer.prefetch(watch_trees(self._roots, self._archive.directory), stop, self._lock)

    def _observe_inline(self, watches: Sequence[Watch], *, is_exact: bool) -> list[Observation] | None:
        """Observe in place if that is faster than using a thread, otherwise return None."""
        if not (is_exact or self._observer.is_small) or not self._lock.acquire(blocking=False):
            return None
        try:
            return self._observer.observe_inline(watches, is_exact=is_exact)
        finally:
            self._lock.release()

    def _observe_in_thread(self, watches: Sequence[Watch], stop: Stop, *, is_exact: bool) -> list[Observation]:
        with self._lock:
            return self._observer.observe(watches, stop, is_exact=is_exact)

    def _is_unchanged(self, before: Sequence[Observation]) -> bool:
        if not self._lock.acquire(blocking=False):
            return False
        try:
            return all(observation.is_unchanged() for observation in before)
        except TooManyEntries:
            return False
        finally:
            self._lock.release()

    def _record_changes(self, call: FunctionCall, before: _Before, run: _Run, stop: Stop) -> None:
        with self._lock:
            comparisons: list[Comparison] = []
            for observation in before.observations:
                compared = observation.compare(stop, run.replaced)
                if compared is not None:
                    comparison = with_replaced(*compared, run.replaced)
                    comparisons.append(without_placeholders(comparison, self._placeholders))
            if not comparisons:
                return
            if run.replaced:
                self._archive.add_contents(run.replaced.values(), stop)
            times = CallTimes(before.seen, run.started, run.ended, time.time_ns(), run.activity)
            recorded = RecordedCall(
                tool=call.name,
                summary=_call_summary(call),
                started=before.seen / 1e9,
                is_exact=before.is_exact,
                arguments=call.args,
                times=None if before.is_exact else times,
                session=self._session(),
                call=before.agent.call_id or call.id or "",
                unit=before.agent.agent_id,
            )
            self._archive.record(recorded, comparisons, stop)

    def _find_entry(self, entry_id: str) -> UndoEntry:
        found = find_entry(self.entries(), entry_id)
        if found is None:
            raise UsageError(_("no entry {entry!r}", entry=entry_id))
        return found


def _check_kept(taken: Sequence[Observation]) -> None:
    """Raise UndoUnavailable if the content of a file was not stored."""
    for snapshot in (each.before for each in taken if isinstance(each, ScanObservation)):
        for path, reason in snapshot.skip_reasons.items():
            message = lazy(
                "This cannot be undone: could not save the current content of {path} ({why}).",
                path=f"{snapshot.root.rstrip('/')}/{path}",
                why=reason,
            )
            raise UndoUnavailable(message)


def _unrecorded_result(result: ToolResult, problem: str) -> ToolResult:
    """Turn a result into an error: without a word, the user would rely on undo."""
    said = result.llm_content if result.error is None else result.error.message
    message = join_lazy("\n\n", (said, problem)) if isinstance(said, str) else problem
    error_type = ErrorType.EXECUTION_FAILED if result.error is None else result.error.type
    return replace(result, llm_content=message, return_display=problem, error=ToolError(message, error_type))


def _call_summary(call: FunctionCall) -> str:
    """Summarise the call in one line."""
    named = next((value for name in _SUMMARY_ARGUMENTS if isinstance(value := call.args.get(name), str)), None)
    text = json.dumps(call.args, ensure_ascii=False, default=str) if named is None else named
    return text if len(text) <= _MAX_SUMMARY_LENGTH else f"{text[:_MAX_SUMMARY_LENGTH]}..."


def _error_text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
