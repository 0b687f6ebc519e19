"""Reading and writing plan files."""

import os

from tejat.core.approval.plans import Plan
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.i18n import join_lazy, lazy
from tejat.workspace.files.atomic_write import ExpectedFile, write_atomically
from tejat.workspace.files.roots import Location, Roots
from tejat.workspace.plan_directory import PlanDirectory

MAX_PLAN_BYTES = 256 * 1024
"""A plan has to be read by a person before it is approved."""

_HINT = lazy("A plan is a regular .md file directly in that directory, without links. Write it with write_file.")


def read_plan(roots: Roots, plans: PlanDirectory, given: str) -> Plan:
    """Read the plan file with this name, or this absolute path. Raises ToolFailure."""
    name = plans.file_name(os.path.normpath(os.path.join(plans.path, given)))
    if name is None:
        raise _access_denied(given, plans)
    try:
        with roots.open_file(Location(plans.root, name)) as file:
            if file.status.st_nlink != 1:
                raise _access_denied(given, plans)
            raw = file.read(MAX_PLAN_BYTES + 1)
    except WorkspaceError as error:
        if error.error_type is ErrorType.FILE_NOT_FOUND:
            message = lazy("Plan file does not exist: {path}.", path=given)
            hint = lazy("Write it with write_file in {directory} first.", directory=plans.path)
            raise ToolFailure(join_lazy(" ", (message, hint)), ErrorType.FILE_NOT_FOUND) from error
        raise _access_denied(given, plans) from error
    if len(raw) > MAX_PLAN_BYTES:
        message = lazy("Plan file is too long to be reviewed (more than {limit} KiB).", limit=MAX_PLAN_BYTES // 1024)
        raise ToolFailure(join_lazy(" ", (message, lazy("Shorten it."))), ErrorType.FILE_TOO_LARGE)
    text = raw.decode("utf-8", "replace")
    if not text.strip():
        message = lazy("Plan file is empty.")
        hint = lazy("Write the plan into it with write_file first.")
        raise ToolFailure(join_lazy(" ", (message, hint)), ErrorType.INVALID_TOOL_PARAMS)
    return Plan(os.path.join(plans.path, name), text)


def rewrite_plan(roots: Roots, plans: PlanDirectory, plan: Plan, text: str) -> None:
    """Replace the text of a plan file that has not changed. Raises WorkspaceError."""
    location = Location(plans.root, os.path.basename(plan.path))
    with roots.open_file(location) as file:
        expected = ExpectedFile(file.read_all(), file.status)
    if expected.content is None or bytes(expected.content).decode("utf-8", "replace") != plan.text:
        message = lazy("The plan changed in the meantime, so your version was not saved.")
        raise WorkspaceError(message, ErrorType.STALE_FILE, path=plan.path)
    write_atomically(roots, location, [text.encode("utf-8", "surrogateescape")], expected=expected)


def _access_denied(given: str, plans: PlanDirectory) -> ToolFailure:
    message = lazy(
        "Access denied: plan path ({path}) must be within the designated plans directory ({directory}).",
        path=given,
        directory=plans.path,
    )
    return ToolFailure(join_lazy(" ", (message, _HINT)), ErrorType.PATH_NOT_IN_WORKSPACE)
