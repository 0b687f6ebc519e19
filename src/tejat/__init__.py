"""Tejat, an open coding agent.

The public names below are loaded on first access.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tejat.agent import Agent as Agent
    from tejat.app.tools.open_tools import ToolSettings as ToolSettings
    from tejat.app.tools.open_tools import open_tools as open_tools
    from tejat.app.tools.toolset import Toolset as Toolset
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
    from tejat.core.agent.events import Steered as Steered
    from tejat.core.agent.events import TextStreamed as TextStreamed
    from tejat.core.agent.events import ThoughtStreamed as ThoughtStreamed
    from tejat.core.agent.hook_decorator import hook as hook
    from tejat.core.agent.hooks import Hook as Hook
    from tejat.core.agent.hooks import HookAnswer as HookAnswer
    from tejat.core.agent.hooks import HookEvent as HookEvent
    from tejat.core.agent.hooks import HookFunction as HookFunction
    from tejat.core.agent.hooks import HookReply as HookReply
    from tejat.core.agent.hooks import HooksLike as HooksLike
    from tejat.core.agent.prices import Price as Price
    from tejat.core.agent.questions import PendingQuestion as PendingQuestion
    from tejat.core.agent.settings import AgentSettings as AgentSettings
    from tejat.core.agent.storage import SessionConflict as SessionConflict
    from tejat.core.agent.storage import SessionStorage as SessionStorage
    from tejat.core.agent.subagent_events import AgentActivity as AgentActivity
    from tejat.core.agent.subagent_events import AgentEnded as AgentEnded
    from tejat.core.agent.subagent_events import AgentStarted as AgentStarted
    from tejat.core.agent.subagents import SubagentEnd as SubagentEnd
    from tejat.core.approval.approver import ApprovalAnswer as ApprovalAnswer
    from tejat.core.approval.approver import ApproverLike as ApproverLike
    from tejat.core.approval.confirmation import ApprovalReply as ApprovalReply
    from tejat.core.approval.confirmation import ApprovalRequest as ApprovalRequest
    from tejat.core.approval.confirmation import ApprovalSubject as ApprovalSubject
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
    from tejat.core.approval.confirmation import Risk as Risk
    from tejat.core.approval.confirmation import Scope as Scope
    from tejat.core.approval.confirmation import ToolOrigin as ToolOrigin
    from tejat.core.approval.confirmation import TrialConfirmation as TrialConfirmation
    from tejat.core.approval.modes import ApprovalMode as ApprovalMode
    from tejat.core.approval.modes import ModeName as ModeName
    from tejat.core.approval.modes import PlanModeName as PlanModeName
    from tejat.core.approval.modes import SandboxName as SandboxName
    from tejat.core.approval.plans import ApprovedPlan as ApprovedPlan
    from tejat.core.approval.user_question import QuestionOption as QuestionOption
    from tejat.core.approval.user_question import QuestionType as QuestionType
    from tejat.core.approval.user_question import UserQuestion as UserQuestion
    from tejat.core.approval.user_question import UserUnavailable as UserUnavailable
    from tejat.core.errors import ConfigurationError as ConfigurationError
    from tejat.core.errors import ErrorType as ErrorType
    from tejat.core.errors import NotTrusted as NotTrusted
    from tejat.core.errors import RunFailed as RunFailed
    from tejat.core.errors import SandboxUnavailable as SandboxUnavailable
    from tejat.core.errors import TejatError as TejatError
    from tejat.core.errors import ToolFailure as ToolFailure
    from tejat.core.errors import UsageError as UsageError
    from tejat.core.frozen import Value as Value
    from tejat.core.messages.declaration import FunctionDeclaration as FunctionDeclaration
    from tejat.core.messages.declaration import Kind as Kind
    from tejat.core.messages.history import Message as Message
    from tejat.core.messages.history import Role as Role
    from tejat.core.messages.types import FileData as FileData
    from tejat.core.messages.types import FunctionCall as FunctionCall
    from tejat.core.messages.types import FunctionResponse as FunctionResponse
    from tejat.core.messages.types import InlineData as InlineData
    from tejat.core.messages.types import JsonObject as JsonObject
    from tejat.core.messages.types import JsonValue as JsonValue
    from tejat.core.messages.types import MessagePart as MessagePart
    from tejat.core.messages.types import Opaque as Opaque
    from tejat.core.messages.types import Params as Params
    from tejat.core.messages.types import Part as Part
    from tejat.core.messages.types import PartListUnion as PartListUnion
    from tejat.core.messages.types import Text as Text
    from tejat.core.messages.types import Thought as Thought
    from tejat.core.messages.value_reader import InvalidValue as InvalidValue
    from tejat.core.model import Capability as Capability
    from tejat.core.model import ContextOverflow as ContextOverflow
    from tejat.core.model import FailureKind as FailureKind
    from tejat.core.model import FinishReason as FinishReason
    from tejat.core.model import Grounding as Grounding
    from tejat.core.model import GroundingSource as GroundingSource
    from tejat.core.model import Model as Model
    from tejat.core.model import ModelFailure as ModelFailure
    from tejat.core.model import ModelOutput as ModelOutput
    from tejat.core.model import ModelRequest as ModelRequest
    from tejat.core.model import ModelResponse as ModelResponse
    from tejat.core.model import TextDelta as TextDelta
    from tejat.core.model import ThoughtDelta as ThoughtDelta
    from tejat.core.model import Usage as Usage
    from tejat.core.provenance import ToolSource as ToolSource
    from tejat.core.tools.abilities import ModifiableTool as ModifiableTool
    from tejat.core.tools.base import BaseTool as BaseTool
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
    from tejat.core.tools.cancellation import CancelReason as CancelReason
    from tejat.core.tools.display import DiffStat as DiffStat
    from tejat.core.tools.display import FileDiff as FileDiff
    from tejat.core.tools.schema import Param as Param
    from tejat.core.tools.todos import Todo as Todo
    from tejat.core.tools.todos import TodoList as TodoList
    from tejat.core.tools.todos import TodoStatus as TodoStatus
    from tejat.core.undo import PathChange as PathChange
    from tejat.core.value_json import event_from_dict as event_from_dict
    from tejat.engine.calls.batch import Batch as Batch
    from tejat.engine.calls.scheduler import Scheduler as Scheduler
    from tejat.engine.sessions.storage_sessions import MemoryStorage as MemoryStorage
    from tejat.mcp.features.tool import DiscoveredMCPTool as DiscoveredMCPTool
    from tejat.models.custom.function_model import FunctionModel as FunctionModel
    from tejat.models.custom.function_model import ModelFunction as ModelFunction
    from tejat.models.custom.function_model import function_model as function_model
    from tejat.sync_agent import SyncAgent as SyncAgent
    from tejat.sync_agent import SyncRun as SyncRun
    from tejat.sync_tools import SyncTools as SyncTools
    from tejat.tools import builtin_registry as builtin_registry
    from tejat.tools.discovered.discovered_tool import DiscoveredTool as DiscoveredTool
    from tejat.tools.glob import GlobTool as GlobTool
    from tejat.tools.google_web_search import WebSearchTool as WebSearchTool
    from tejat.tools.list_directory import LSTool as LSTool
    from tejat.tools.python.function_tool import FunctionTool as FunctionTool
    from tejat.tools.python.function_tool import tool as tool
    from tejat.tools.read_file import ReadFileTool as ReadFileTool
    from tejat.tools.read_many_files import ReadManyFilesTool as ReadManyFilesTool
    from tejat.tools.registry import ToolEntry as ToolEntry
    from tejat.tools.registry import ToolRegistry as ToolRegistry
    from tejat.tools.replace import EditTool as EditTool
    from tejat.tools.run_shell_command import ShellTool as ShellTool
    from tejat.tools.save_memory import MemoryTool as MemoryTool
    from tejat.tools.search_file_content import GrepTool as GrepTool
    from tejat.tools.web_fetch import WebFetchTool as WebFetchTool
    from tejat.tools.write_file import WriteFileTool as WriteFileTool
    from tejat.workspace.context import Workspace as Workspace
    from tejat.workspace.paths.ignore_rules import IgnoreOptions as IgnoreOptions

__version__ = "0.2.0"

_MODULES = {
    "agent": "Agent",
    "app.tools.open_tools": "ToolSettings open_tools",
    "app.tools.toolset": "Toolset",
    "core.agent.compaction": "CompressionPreview",
    "core.agent.events": "AgentEvent Answered AwaitingModel Compressed CompressionStarted CompressionStatus EndReason "
    "EventSink HistoryRepaired LoopDetected ModelChanged Noticed PlanPresented Prompted QuestionAnswered QuestionAsked "
    "RequestFailed Retrying RunEnded SessionStarted Severity Steered TextStreamed ThoughtStreamed",
    "core.agent.hook_decorator": "hook",
    "core.agent.hooks": "Hook HookAnswer HookEvent HookFunction HookReply HooksLike",
    "core.agent.prices": "Price",
    "core.agent.questions": "PendingQuestion",
    "core.agent.settings": "AgentSettings",
    "core.agent.storage": "SessionConflict SessionStorage",
    "core.agent.subagent_events": "AgentActivity AgentEnded AgentStarted",
    "core.agent.subagents": "SubagentEnd",
    "core.approval.approver": "ApprovalAnswer ApproverLike",
    "core.approval.confirmation": "ApprovalReply ApprovalRequest ApprovalSubject Approver AskUserConfirmation "
    "Confirmation EditConfirmation ElicitationConfirmation ExecConfirmation InfoConfirmation McpConfirmation "
    "ModelChangeConfirmation Outcome PlanConfirmation Risk Scope ToolOrigin TrialConfirmation",
    "core.approval.modes": "ApprovalMode ModeName PlanModeName SandboxName",
    "core.approval.plans": "ApprovedPlan",
    "core.approval.user_question": "QuestionOption QuestionType UserQuestion UserUnavailable",
    "core.errors": "ConfigurationError ErrorType NotTrusted RunFailed SandboxUnavailable TejatError ToolFailure "
    "UsageError",
    "core.frozen": "Value",
    "core.messages.declaration": "FunctionDeclaration Kind",
    "core.messages.history": "Message Role",
    "core.messages.types": "FileData FunctionCall FunctionResponse InlineData JsonObject JsonValue MessagePart "
    "Opaque Params Part PartListUnion Text Thought",
    "core.model": "Capability ContextOverflow FailureKind FinishReason Grounding GroundingSource Model ModelFailure "
    "ModelOutput ModelRequest ModelResponse TextDelta ThoughtDelta Usage",
    "core.provenance": "ToolSource",
    "core.tools.abilities": "ModifiableTool",
    "core.tools.base": "BaseTool ProposingTool ToolContext ToolError ToolLocation ToolResult "
    "TypedTool validate_and_execute",
    "core.tools.call_events": "CallFinished CallState Event OutputUpdated StateChanged",
    "core.tools.cancellation": "CancelReason",
    "core.tools.display": "DiffStat FileDiff",
    "core.tools.schema": "Param",
    "core.tools.todos": "Todo TodoList TodoStatus",
    "core.undo": "PathChange",
    "core.value_json": "event_from_dict",
    "core.messages.value_reader": "InvalidValue",
    "engine.calls.batch": "Batch",
    "engine.calls.scheduler": "Scheduler",
    "engine.sessions.storage_sessions": "MemoryStorage",
    "mcp.features.tool": "DiscoveredMCPTool",
    "models.custom.function_model": "function_model FunctionModel ModelFunction",
    "sync_agent": "SyncAgent SyncRun",
    "sync_tools": "SyncTools",
    "tools": "builtin_registry",
    "tools.discovered.discovered_tool": "DiscoveredTool",
    "tools.glob": "GlobTool",
    "tools.google_web_search": "WebSearchTool",
    "tools.list_directory": "LSTool",
    "tools.python.function_tool": "FunctionTool tool",
    "tools.read_file": "ReadFileTool",
    "tools.read_many_files": "ReadManyFilesTool",
    "tools.registry": "ToolEntry ToolRegistry",
    "tools.replace": "EditTool",
    "tools.run_shell_command": "ShellTool",
    "tools.save_memory": "MemoryTool",
    "tools.search_file_content": "GrepTool",
    "tools.web_fetch": "WebFetchTool",
    "tools.write_file": "WriteFileTool",
    "workspace.context": "Workspace",
    "workspace.paths.ignore_rules": "IgnoreOptions",
}
_NAMES = {name: f"tejat.{module}" for module, names in _MODULES.items() for name in names.split()}
__all__ = ["__version__", *sorted(_NAMES)]  # noqa: PLE0604 -- names  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module 'tejat' has no attribute {name!r}")
    from importlib import import_module

    from tejat.core.garbage import PausedCollections

    # Nearly all objects that an import creates stay: looking for garbage among them would take a tenth of its time.
    with PausedCollections():
        value = globals()[name] = getattr(import_module(_NAMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
