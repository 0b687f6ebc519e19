"""`tejat batch run`: run many tasks, or continue with those that are left."""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager

from tejat import __version__
from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.batch import run_batch
from tejat.batch.driver.lock import lock_batch
from tejat.batch.driver.options import BatchOptions
from tejat.batch.driver.settings import check_directory
from tejat.batch.events import BatchEnded, BatchListener
from tejat.batch.plan.loader import load_tasks, tasks_of_repositories
from tejat.batch.plan.plan_file import BatchPlan, PlanChanges, write_plan
from tejat.batch.plan.task_builder import resolve_model
from tejat.batch.plan.types import RejectedTask, TaskDefaults
from tejat.batch.progress.choice import progress_for
from tejat.batch.progress.json_events import JsonEvents
from tejat.batch.result import TaskStatus
from tejat.batch.task import BatchTask, TaskLimits
from tejat.cli.commands.batch.run_parser import make_parser
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_LIMIT, EXIT_OK
from tejat.core.garbage import collect_often
from tejat.core.i18n import _, ngettext
from tejat.ui.shared.signal_stop import run_until_signal

_CHANGED = "changed"
_SHOWN_IDS = 5


def run(words: list[str]) -> int:
    """Run `tejat batch run` and return the exit code. Raises UsageError."""
    parser = make_parser()
    options = parser.parse_args(words)
    if (options.tasks is None) == (options.each is None):
        parser.error(_("Give a task file, or repositories with --each GLOB."))
    directory = BatchDirectory(options.out)
    redo = tuple(_split(options.redo))
    check_directory(directory)
    collect_often()
    with lock_batch(directory):
        changed = write_plan(directory, _entries(options), accept=lambda found: _accept(found, redo)).changed
        return _run(directory, options, (*(word for word in redo if word != _CHANGED), *changed))


def _run(directory: BatchDirectory, options: argparse.Namespace, redo: tuple[str, ...]) -> int:
    """Run the batch whose lock is held, and return the exit code."""
    ended: list[BatchEnded] = []

    async def work() -> None:
        with _progress(options.output_format) as show:
            plan = BatchPlan.open(directory)
            ended.append(await run_batch(_batch_options(options, redo), plan, [show], is_locked=True))

    code = asyncio.run(run_until_signal(work))
    return _exit_code(ended[0]) if ended else code


def _entries(options: argparse.Namespace) -> Iterator[BatchTask | RejectedTask]:
    defaults = TaskDefaults(
        prompt=options.prompt,
        commit=options.commit,
        model=None if options.model is None else resolve_model(options.model, os.getcwd()),
        limits=TaskLimits(
            seconds=options.task_timeout,
            cost=options.task_max_cost,
            tokens=options.task_max_tokens,
            turns=options.task_max_turns,
        ),
        allowed_tools=tuple(options.allowed_tools),
        excluded_tools=tuple(_split(options.exclude_tools)),
        approval_mode=options.approval_mode,
        sandbox=options.sandbox,
        trusts_folder=options.trust,
        check=options.check,
        check_seconds=options.check_timeout,
        allows_no_changes=options.allow_no_changes,
        allows_dirty=options.allow_dirty,
    )
    if options.each is not None:
        return tasks_of_repositories(options.each, defaults)
    return load_tasks(options.tasks, defaults)


def _accept(changes: PlanChanges, redo: tuple[str, ...]) -> None:
    """Raises UsageError if the directory holds a batch that these tasks do not continue."""
    if changes.removed:
        raise UsageError(
            ngettext(
                "{count} task of this batch is missing now: {ids}. Use another directory with --out.",
                "{count} tasks of this batch are missing now: {ids}. Use another directory with --out.",
                len(changes.removed),
                ids=_list_ids(changes.removed),
            )
        )
    if changes.changed and _CHANGED not in redo:
        raise UsageError(
            ngettext(
                "{count} task changed since this batch was started: {ids}. Use another directory with --out, or run it "
                "again with --redo changed.",
                "{count} tasks changed since this batch was started: {ids}. Use another directory with --out, or run "
                "them again with --redo changed.",
                len(changes.changed),
                ids=_list_ids(changes.changed),
            )
        )


def _list_ids(ids: tuple[str, ...]) -> str:
    more = ", ..." if len(ids) > _SHOWN_IDS else ""
    return ", ".join(ids[:_SHOWN_IDS]) + more


def _batch_options(options: argparse.Namespace, redo: tuple[str, ...]) -> BatchOptions:
    return BatchOptions(
        directory=options.out,
        engine=options.engine,
        address=options.address,
        is_shared=options.shared,
        resources=dict(options.resource) or None,
        passed_variables=tuple(options.pass_env),
        jobs=options.jobs,
        max_cost=options.max_cost,
        max_tokens=options.max_tokens,
        max_seconds=options.max_time,
        max_failures=options.max_failures,
        retries=options.retries,
        rates=dict(options.rate),
        redo=redo,
        keeps_trees=options.keep_trees,
        shard=options.shard,
        version=__version__,
    )


def _progress(output_format: str) -> AbstractContextManager[BatchListener]:
    if output_format == "stream-json":
        return JsonEvents()
    return progress_for(sys.stderr)


def _exit_code(ended: BatchEnded) -> int:
    if ended.reason:
        return EXIT_LIMIT if ended.is_limit else EXIT_FAILED
    is_passed = all(count == 0 for status, count in ended.counts.items() if status != TaskStatus.PASSED)
    return EXIT_OK if is_passed else EXIT_FAILED


def _split(values: list[str]) -> list[str]:
    return [entry.strip() for value in values for entry in value.split(",") if entry.strip()]
