"""Tejat, an open coding agent.

The public names below are loaded on first access.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tejat.agent import Agent as Agent
    from tejat.agent import AgentSettings as AgentSettings
    from tejat.app.tools.toolset import Toolset as Toolset
    from tejat.app.tools.toolset import open_tools as open_tools
    from tejat.core.agent.compaction import CompressionPreview as CompressionPreview
    from tejat.core.agent.events import AgentEvent as AgentEvent
    from tejat.core.agent.events import Answered as Answered
    from tejat.core.agent.events import AwaitingModel as AwaitingModel
    from tejat.core.agent.events import Compressed as Compressed
    from tejat.core.agent.events import CompressionStarted as CompressionStarted
    from tejat.core.agent.events import CompressionStatus as CompressionStatus
    from tejat.core.agent.events import EndReason as EndReason
    from tejat.core.agent.events import EventSink as EventSink
    from tejat.core.agent.events import HistoryRepaired as HistoryRepaired
    from tejat.core.agent.events import LoopDetected as LoopDetected
    from tejat.core.agent.events import ModelChanged as ModelChanged
    from tejat.core.agent.events import Noticed as Noticed
    from tejat.core.agent.events import PlanPresented as PlanPresented
    from tejat.core.agent.events import Prompted as Prompted
    from tejat.core.agent.events import QuestionAnswered as QuestionAnswered
    from tejat.core.agent.events import QuestionAsked as QuestionAsked
    from tejat.core.agent.events import RequestFailed as RequestFailed
    from tejat.core.agent.events import Retrying as Retrying
    from tejat.core.agent.events import RunEnded as RunEnded
    from tejat.core.agent.events import SessionStarted as SessionStarted
    from tejat.core.agent.events import Severity as Severity
    from tejat.core.agent.events import TextStreamed as TextStreamed
    from tejat.core.agent.events import ThoughtStreamed as ThoughtStreamed
    from tejat.core.agent.questions import PendingQuestion as PendingQuestion
    from tejat.core.agent.subagent_events import AgentActivity as AgentActivity
    from tejat.core.agent.subagent_events import AgentEnded as AgentEnded
    from tejat.core.agent.subagent_events import AgentStarted as AgentStarted
    from tejat.core.agent.subagents import SubagentEnd as SubagentEnd
    from tejat.core.approval.confirmation import ApprovalReply as ApprovalReply
    from tejat.core.approval.confirmation import ApprovalRequest as ApprovalRequest
    from tejat.core.approval.confirmation import Approver as Approver
    from tejat.core.approval.confirmation import AskUserConfirmation as AskUserConfirmation
    from tejat.core.approval.confirmation import Confirmation as Confirmation
    from tejat.core.approval.confirmation import EditConfirmation as EditConfirmation
    from tejat.core.approval.confirmation import ElicitationConfirmation as ElicitationConfirmation
    from tejat.core.approval.confirmation import ExecConfirmation as ExecConfirmation
    from tejat.core.approval.confirmation import InfoConfirmation as InfoConfirmation
    from tejat.core.approval.confirmation import McpConfirmation as McpConfirmation
    from tejat.core.approval.confirmation import ModelChangeConfirmation as ModelChangeConfirmation
    from tejat.core.approval.confirmation import Outcome as Outcome
    from tejat.core.approval.confirmation import PlanConfirmation as PlanConfirmation
    from tejat.core.approval.confirmation import Scope as Scope
    from tejat.core.approval.user_question import QuestionOption as QuestionOption
    from tejat.core.approval.user_question import QuestionType as QuestionType
    from tejat.core.approval.user_question import UserQuestion as UserQuestion
    from tejat.core.approval.user_question import UserUnavailable as UserUnavailable
    from tejat.core.errors import ConfigurationError as ConfigurationError
    from tejat.core.errors import ErrorType as ErrorType
    from tejat.core.errors import NotTrusted as NotTrusted
    from tejat.core.errors import SandboxUnavailable as SandboxUnavailable
    from tejat.core.errors import TejatError as TejatError
    from tejat.core.errors import ToolFailure as ToolFailure
    from tejat.core.errors import UsageError as UsageError
    from tejat.core.messages.history import Message as Message
    from tejat.core.messages.history import Role as Role
    from tejat.core.messages.types import FileData as FileData
    from tejat.core.messages.types import FunctionCall as FunctionCall
    from tejat.core.messages.types import FunctionResponse as FunctionResponse
    from tejat.core.messages.types import InlineData as InlineData
    from tejat.core.messages.types import MessagePart as MessagePart
    from tejat.core.messages.types import Opaque as Opaque
    from tejat.core.messages.types import Part as Part
    from tejat.core.messages.types import Text as Text
    from tejat.core.messages.types import Thought as Thought
    from tejat.core.model import FailureKind as FailureKind
    from tejat.core.model import FinishReason as FinishReason
    from tejat.core.model import ModelFailure as ModelFailure
    from tejat.core.model import Usage as Usage
    from tejat.core.tools.base import BaseTool as BaseTool
    from tejat.core.tools.base import FunctionDeclaration as FunctionDeclaration
    from tejat.core.tools.base import Kind as Kind
    from tejat.core.tools.base import ModifiableTool as ModifiableTool
    from tejat.core.tools.base import ProposingTool as ProposingTool
    from tejat.core.tools.base import ToolContext as ToolContext
    from tejat.core.tools.base import ToolError as ToolError
    from tejat.core.tools.base import ToolLocation as ToolLocation
    from tejat.core.tools.base import ToolResult as ToolResult
    from tejat.core.tools.base import TypedTool as TypedTool
    from tejat.core.tools.base import validate_and_execute as validate_and_execute
    from tejat.core.tools.call_events import CallFinished as CallFinished
    from tejat.core.tools.call_events import CallState as CallState
    from tejat.core.tools.call_events import Event as Event
    from tejat.core.tools.call_events import OutputUpdated as OutputUpdated
    from tejat.core.tools.call_events import StateChanged as StateChanged
    from tejat.core.tools.display import DiffStat as DiffStat
    from tejat.core.tools.display import FileDiff as FileDiff
    from tejat.core.tools.schema import Param as Param
    from tejat.core.tools.todos import Todo as Todo
    from tejat.core.tools.todos import TodoList as TodoList
    from tejat.core.tools.todos import TodoStatus as TodoStatus
    from tejat.engine.calls.scheduler import Batch as Batch
    from tejat.engine.calls.scheduler import Scheduler as Scheduler
    from tejat.sync_agent import SyncAgent as SyncAgent
    from tejat.sync_agent import SyncApprover as SyncApprover
    from tejat.tools import builtin_registry as builtin_registry
    from tejat.tools.python.function_tool import FunctionTool as FunctionTool
    from tejat.tools.python.function_tool import tool as tool
    from tejat.tools.registry import ToolRegistry as ToolRegistry
    from tejat.workspace.context import Workspace as Workspace

__version__ = "0.2.0"

_MODULES = {
    "agent": "Agent AgentSettings",
    "app.tools.toolset": "open_tools Toolset",
    "core.agent.compaction": "CompressionPreview",
    "core.agent.events": "AgentEvent Answered AwaitingModel Compressed CompressionStarted CompressionStatus EndReason "
    "EventSink HistoryRepaired LoopDetected ModelChanged Noticed PlanPresented Prompted QuestionAnswered QuestionAsked "
    "RequestFailed Retrying RunEnded SessionStarted Severity TextStreamed ThoughtStreamed",
    "core.agent.questions": "PendingQuestion",
    "core.agent.subagent_events": "AgentActivity AgentEnded AgentStarted",
    "core.agent.subagents": "SubagentEnd",
    "core.approval.confirmation": "ApprovalReply ApprovalRequest Approver AskUserConfirmation Confirmation "
    "EditConfirmation "
    "ElicitationConfirmation ExecConfirmation InfoConfirmation McpConfirmation ModelChangeConfirmation Outcome "
    "PlanConfirmation Scope",
    "core.approval.user_question": "QuestionOption QuestionType UserQuestion UserUnavailable",
    "core.errors": "ConfigurationError ErrorType NotTrusted SandboxUnavailable TejatError ToolFailure UsageError",
    "core.messages.history": "Message Role",
    "core.messages.types": "FileData FunctionCall FunctionResponse InlineData MessagePart Opaque Part Text Thought",
    "core.model": "FailureKind FinishReason ModelFailure Usage",
    "core.tools.base": "BaseTool FunctionDeclaration Kind ModifiableTool ProposingTool ToolContext ToolError "
    "ToolLocation ToolResult TypedTool validate_and_execute",
    "core.tools.call_events": "CallFinished CallState Event OutputUpdated StateChanged",
    "core.tools.display": "DiffStat FileDiff",
    "core.tools.schema": "Param",
    "core.tools.todos": "Todo TodoList TodoStatus",
    "engine.calls.scheduler": "Batch Scheduler",
    "sync_agent": "SyncAgent SyncApprover",
    "tools": "builtin_registry",
    "tools.python.function_tool": "FunctionTool tool",
    "tools.registry": "ToolRegistry",
    "workspace.context": "Workspace",
}
_NAMES = {name: f"tejat.{module}" for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module 'tejat' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_NAMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
