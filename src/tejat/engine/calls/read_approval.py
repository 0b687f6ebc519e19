"""Approval of a file that a prompt mentions."""

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import lazy
from tejat.engine.calls.scheduler import Scheduler


async def approve_reading(scheduler: Scheduler, path: str) -> None:
    """Apply the rules for `read_file` to a file, asking the user where they say so. Raises ToolFailure for a no."""
    tool = scheduler.registry.builtin("read_file")
    if tool is None:
        raise ToolFailure(lazy("The tool read_file is missing."), ErrorType.TOOL_NOT_REGISTERED)
    await scheduler.permission.authorise(tool, {"path": path})
