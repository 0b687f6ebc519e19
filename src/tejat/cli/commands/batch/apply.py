"""`tejat batch apply`: the patches of a batch as branches of the repositories."""

import argparse
import asyncio
import os
from collections.abc import Iterator

from tejat.batch.directory import BatchDirectory, directory_name
from tejat.batch.driver.results import read_results
from tejat.batch.git.branch import create_branch
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.plan.plan_file import BatchPlan
from tejat.batch.result import TaskResult, TaskStatus
from tejat.batch.task import BatchTask
from tejat.cli.command_parser import CommandParser
from tejat.cli.commands.batch.access import existing_batch
from tejat.cli.messages import one_line, print_error
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _

_MAX_SUBJECT = 72


def run(words: list[str]) -> int:
    """Run `tejat batch apply` and return the exit code. Raises UsageError."""
    options = make_parser().parse_args(words)
    directory = existing_batch(options.directory)
    if "{id}" not in options.branch:
        raise UsageError(
            _("--branch must contain {placeholder}, which is replaced by the id of the task.", placeholder="{id}")
        )
    plan = BatchPlan.open(directory)
    _check_ids(options.ids, plan)
    failures = count = 0
    for task, result in _chosen(directory, plan, options):
        count += 1
        branch = options.branch.replace("{id}", directory_name(task.id))
        try:
            commit = _apply(task, result, directory, branch, options.into)
        except RepositoryProblem as error:
            failures += 1
            print_error(f"{task.id}: {error}")
        else:
            print(f"{commit[:12]}  {one_line(branch)}  {one_line(options.into or task.repo)}")
    if count == 0:
        print_error(_("No patches to apply. --all includes those of failed tasks."))
    return EXIT_FAILED if failures else EXIT_OK


def make_parser() -> CommandParser:
    """The parser of `tejat batch apply`."""
    parser = CommandParser(
        "tejat batch apply",
        _(
            "Create a branch with the patch of each passed task in its repository, on top of the commit that the task "
            "started from. Working trees and the current branch stay as they are."
        ),
        usages=("tejat batch apply DIR [ID ...] [options]",),
        examples=(
            ("tejat batch apply out", _("all passed tasks")),
            ("tejat batch apply out fix-12 --branch 'bot/{id}'", _("one task, with another name")),
        ),
        exit_codes=(
            ("0", _("done")),
            ("1", _("at least one patch could not be applied")),
            ("2", _("bad usage")),
            ("42", _("no batch in this directory, or no such task")),
        ),
    )
    parser.add_argument("directory", metavar="DIR", help=_("the directory of the batch"))
    parser.add_argument("ids", nargs="*", metavar="ID", help=_("only these tasks, whether they passed or not"))
    parser.add_argument(
        "--branch",
        default="tejat/{id}",
        metavar="NAME",
        help=_("the name of the branches (default: {name})", name="tejat/{id}"),
    )
    parser.add_argument("--into", default="", metavar="PATH", help=_("the repository, for tasks with a URL"))
    parser.add_argument("--all", action="store_true", help=_("include tasks that failed"))
    return parser


def _check_ids(ids: list[str], plan: BatchPlan) -> None:
    """Raises UsageError."""
    missing = [each for each in ids if plan.index(each) is None]
    if missing:
        raise UsageError(_("No task {id!r} in this batch.", id=missing[0]))


def _chosen(
    directory: BatchDirectory, plan: BatchPlan, options: argparse.Namespace
) -> Iterator[tuple[BatchTask, TaskResult]]:
    for result in read_results(directory):
        index = plan.index(result.id)
        task = None if index is None else plan.read(index)
        if not result.patch or not isinstance(task, BatchTask):
            continue
        is_wanted = result.id in options.ids if options.ids else options.all or result.status is TaskStatus.PASSED
        if is_wanted:
            yield task, result


def _apply(task: BatchTask, result: TaskResult, directory: BatchDirectory, branch: str, into: str) -> str:
    """Create the branch and return its commit. Raises RepositoryProblem."""
    repo = os.path.abspath(os.path.expanduser(into)) if into else task.repo
    subject = one_line(next((line.strip() for line in task.prompt.splitlines() if line.strip()), task.id))
    if len(subject) > _MAX_SUBJECT:
        subject = subject[: _MAX_SUBJECT - 3].rstrip() + "..."
    message = f"{subject}\n\nTask: {one_line(task.id)}\n"
    patch = os.path.join(directory.path, result.patch)
    return asyncio.run(create_branch(repo, commit=result.commit, patch=patch, branch=branch, message=message))
