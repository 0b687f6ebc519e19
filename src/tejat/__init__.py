"""Tejat: the tool core of an open coding agent.

The public names below are loaded when they are first touched.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tejat.app.tools import ToolSession as ToolSession
    from tejat.app.tools import open_tools as open_tools
    from tejat.core.confirm import Answer as Answer
    from tejat.core.confirm import Approver as Approver
    from tejat.core.confirm import Confirmation as Confirmation
    from tejat.core.confirm import EditConfirmation as EditConfirmation
    from tejat.core.confirm import ExecConfirmation as ExecConfirmation
    from tejat.core.confirm import InfoConfirmation as InfoConfirmation
    from tejat.core.confirm import McpConfirmation as McpConfirmation
    from tejat.core.confirm import Outcome as Outcome
    from tejat.core.confirm import Question as Question
    from tejat.core.confirm import Scope as Scope
    from tejat.core.display import DiffStat as DiffStat
    from tejat.core.display import FileDiff as FileDiff
    from tejat.core.errors import ErrorType as ErrorType
    from tejat.core.errors import SandboxUnavailable as SandboxUnavailable
    from tejat.core.errors import TejatError as TejatError
    from tejat.core.errors import ToolFailure as ToolFailure
    from tejat.core.errors import UsageError as UsageError
    from tejat.core.events import CallFinished as CallFinished
    from tejat.core.events import CallState as CallState
    from tejat.core.events import Event as Event
    from tejat.core.events import OutputUpdated as OutputUpdated
    from tejat.core.events import StateChanged as StateChanged
    from tejat.core.schema import Param as Param
    from tejat.core.tool import BaseTool as BaseTool
    from tejat.core.tool import FunctionDeclaration as FunctionDeclaration
    from tejat.core.tool import Kind as Kind
    from tejat.core.tool import ModifiableTool as ModifiableTool
    from tejat.core.tool import ProposingTool as ProposingTool
    from tejat.core.tool import ToolContext as ToolContext
    from tejat.core.tool import ToolError as ToolError
    from tejat.core.tool import ToolLocation as ToolLocation
    from tejat.core.tool import ToolResult as ToolResult
    from tejat.core.tool import TypedTool as TypedTool
    from tejat.core.tool import validate_and_execute as validate_and_execute
    from tejat.core.types import FileData as FileData
    from tejat.core.types import FunctionCall as FunctionCall
    from tejat.core.types import FunctionResponse as FunctionResponse
    from tejat.core.types import InlineData as InlineData
    from tejat.core.types import Text as Text
    from tejat.engine.scheduler import Batch as Batch
    from tejat.engine.scheduler import Scheduler as Scheduler
    from tejat.tools import builtin_registry as builtin_registry
    from tejat.tools.registry import ToolRegistry as ToolRegistry
    from tejat.workspace.workspace import Workspace as Workspace

__version__ = "0.1.0"

_HOMES = {
    "app.tools": "ToolSession open_tools",
    "core.confirm": "Answer Approver Confirmation EditConfirmation ExecConfirmation InfoConfirmation McpConfirmation "
    "Outcome Question Scope",
    "core.display": "DiffStat FileDiff",
    "core.errors": "ErrorType SandboxUnavailable TejatError ToolFailure UsageError",
    "core.events": "CallFinished CallState Event OutputUpdated StateChanged",
    "core.schema": "Param",
    "core.tool": "BaseTool FunctionDeclaration Kind ModifiableTool ProposingTool ToolContext ToolError ToolLocation "
    "ToolResult TypedTool validate_and_execute",
    "core.types": "FileData FunctionCall FunctionResponse InlineData Text",
    "engine.scheduler": "Batch Scheduler",
    "tools": "builtin_registry",
    "tools.registry": "ToolRegistry",
    "workspace.workspace": "Workspace",
}
_NAMES = {name: f"tejat.{home}" for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module 'tejat' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_NAMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
