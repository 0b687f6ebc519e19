"""The composition root: puts the rooms together for whoever runs them."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

from tejat.core.confirm import Approver
from tejat.core.errors import UsageError
from tejat.engine.scheduler import Scheduler
from tejat.tools import builtin_registry, lazy_builtin_registry
from tejat.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class ToolSession:
    registry: ToolRegistry
    scheduler: Scheduler


@contextmanager
def open_tools(directories: Sequence[str], approver: Approver | None) -> Generator[ToolSession]:
    """The built-in tools at work in some directories. Raises UsageError when one of them is missing."""
    from tejat.workspace.workspace import Workspace

    with Workspace(directories) as workspace:
        registry = builtin_registry(workspace)
        yield ToolSession(registry, Scheduler(registry, approver))


@contextmanager
def one_call_at_a_time() -> Generator[None]:
    """Tools do their blocking work in place meanwhile: quicker, where the loop has nothing else to do."""
    from tejat.workspace.offload import one_at_a_time

    token = one_at_a_time.set(True)
    try:
        yield
    finally:
        one_at_a_time.reset(token)


def describe_tools() -> ToolRegistry:
    """The built-in tools to look at, without a workspace."""
    return lazy_builtin_registry(_refuse_workspace)


def _refuse_workspace() -> NoReturn:
    raise UsageError("These tools are for looking at; open_tools makes ones that work.")
