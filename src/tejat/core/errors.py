"""Exceptions that Tejat raises.

TejatError
├── ToolFailure            reported to the model as a ToolResult with an error
│   └── WorkspaceError     the same, raised by the workspace, with a path
├── UsageError             an impossible request; stops, never reaches a model
│   ├── ConfigurationError an invalid settings, policy or trust file
│   ├── NotTrusted         an action that needs a trusted folder
│   └── SandboxUnavailable a sandbox is required, and none is available
├── BadPrompt              a prompt that cannot be sent to a model
├── StoppedByHook          a hook stopped the run
├── CallbackFailure        a function of the embedding program raised; its caller gets that exception
│   └── ApproverFailure    the function was the approver
├── RunFailed              a run did not finish; raised on request of the caller only
└── ModelFailure           a model did not answer (in core/model.py)
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from tejat.core.text.str_enum import StrEnum

if TYPE_CHECKING:
    from types import UnionType

    from tejat.core.agent.events import EndReason, RunEnded


class ErrorType(StrEnum):
    """The kind of a failure that the model gets. The values are part of the contract."""

    POLICY_VIOLATION = "policy_violation"
    INVALID_TOOL_PARAMS = "invalid_tool_params"
    UNKNOWN = "unknown"
    UNHANDLED_EXCEPTION = "unhandled_exception"
    TOOL_NOT_REGISTERED = "tool_not_registered"
    EXECUTION_FAILED = "execution_failed"
    FILE_NOT_FOUND = "file_not_found"
    FILE_WRITE_FAILURE = "file_write_failure"
    READ_CONTENT_FAILURE = "read_content_failure"
    ATTEMPT_TO_CREATE_EXISTING_FILE = "attempt_to_create_existing_file"
    FILE_TOO_LARGE = "file_too_large"
    PERMISSION_DENIED = "permission_denied"
    NO_SPACE_LEFT = "no_space_left"
    TARGET_IS_DIRECTORY = "target_is_directory"
    PATH_NOT_IN_WORKSPACE = "path_not_in_workspace"
    SEARCH_PATH_NOT_FOUND = "search_path_not_found"
    SEARCH_PATH_NOT_A_DIRECTORY = "search_path_not_a_directory"
    EDIT_PREPARATION_FAILURE = "edit_preparation_failure"
    EDIT_NO_OCCURRENCE_FOUND = "edit_no_occurrence_found"
    EDIT_EXPECTED_OCCURRENCE_MISMATCH = "edit_expected_occurrence_mismatch"
    EDIT_NO_CHANGE = "edit_no_change"
    EDIT_NO_CHANGE_LLM_JUDGEMENT = "edit_no_change_llm_judgement"
    GLOB_EXECUTION_ERROR = "glob_execution_error"
    GREP_EXECUTION_ERROR = "grep_execution_error"
    LS_EXECUTION_ERROR = "ls_execution_error"
    PATH_IS_NOT_A_DIRECTORY = "path_is_not_a_directory"
    MCP_TOOL_ERROR = "mcp_tool_error"
    MCP_RESOURCE_NOT_FOUND = "mcp_resource_not_found"
    MEMORY_TOOL_EXECUTION_ERROR = "memory_tool_execution_error"
    READ_MANY_FILES_SEARCH_ERROR = "read_many_files_search_error"
    SHELL_EXECUTE_ERROR = "shell_execute_error"
    SANDBOX_EXPANSION_REQUIRED = "sandbox_expansion_required"
    DISCOVERED_TOOL_EXECUTION_ERROR = "discovered_tool_execution_error"
    WEB_FETCH_NO_URL_IN_PROMPT = "web_fetch_no_url_in_prompt"
    WEB_FETCH_FALLBACK_FAILED = "web_fetch_fallback_failed"
    WEB_FETCH_PROCESSING_ERROR = "web_fetch_processing_error"
    WEB_SEARCH_FAILED = "web_search_failed"
    STOP_EXECUTION = "stop_execution"
    # Not in Gemini CLI.
    STALE_FILE = "stale_file"
    SPECIAL_FILE = "special_file"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    ANSWER_REQUIRED = "answer_required"


class TejatError(Exception):
    """The base of all exceptions that Tejat raises. They can be pickled, with their attributes."""

    def __reduce__(self) -> "tuple[object, ...]":
        # An exception is made again by passing `args` to its class, which fails where it takes more than a message.
        return _restore_error, (type(self), self.args, vars(self))


_E = TypeVar("_E", bound=TejatError)


def _restore_error(cls: type[_E], args: tuple[object, ...], attributes: Mapping[str, object]) -> _E:
    error = cls.__new__(cls, *args)
    error.args = args
    vars(error).update(attributes)
    return error


def require_type(name: str, given: object, cls: "type | UnionType", expected: str) -> None:
    """Check an argument of an exception where it is made: nobody sees the mistake after that. Raises TypeError."""
    if not isinstance(given, cls):
        raise TypeError(f"{name} must be {expected}, not {given!r}.")


class ToolFailure(TejatError):
    """A failed tool call. `message` is for the model, `display` for the user; it defaults to the message."""

    def __init__(self, message: str, error_type: ErrorType, *, display: str | None = None) -> None:
        super().__init__(message)
        require_type("message", message, str, "a string")
        require_type("error_type", error_type, ErrorType, "an ErrorType member")
        require_type("display", display, str | None, "a string or None")
        self.message = message
        self.error_type = error_type
        self.display = message if display is None else display


class WorkspaceError(ToolFailure):
    """A file or directory that cannot be used. `path` is the path as the caller spelled it."""

    def __init__(self, message: str, error_type: ErrorType, *, path: str, display: str | None = None) -> None:
        super().__init__(message, error_type, display=display)
        self.path = path


class UsageError(TejatError):
    """A mistake of the user or of the calling program. The message says what to do."""


class ConfigurationError(UsageError):
    """An invalid configuration file. The message names the file.

    `path` and `line` say where the problem is, `fix` are the words of a command that helps; each is empty if unknown.
    """

    def __init__(self, message: str, *, path: str = "", line: int | None = None, fix: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.fix = fix


class NotTrusted(UsageError):
    """An action that needs a trusted folder."""


class SandboxUnavailable(UsageError):
    """A sandbox is required, and none is available. `pull_command` fetches the missing image, if there is one."""

    def __init__(self, message: str, *, pull_command: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.pull_command = pull_command


class BadPrompt(TejatError):
    """A prompt that cannot be sent to a model. The message says why."""


class StoppedByHook(TejatError):
    """A hook stopped the run, or a hook that guards it failed. The message says which and why."""


class CallbackFailure(TejatError):
    """An exception in a function of the embedding program, on its way through tools and runs, which do not handle it.

    A batch of calls ends first, so that each call has a response. `Toolset` and the agent raise `error` itself.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error

    def __str__(self) -> str:
        return str(self.error) or type(self.error).__name__


class ApproverFailure(CallbackFailure):
    """An exception in the approver."""


class RunFailed(TejatError):
    """A run that ended without an answer. `ended` is its last event; the message says why it ended."""

    def __init__(self, ended: "RunEnded") -> None:
        super().__init__(ended)
        self.ended = ended

    @property
    def reason(self) -> "EndReason":
        return self.ended.reason

    @property
    def message(self) -> str:
        return self.ended.message

    def __str__(self) -> str:
        return f"{self.message} ({self.reason})" if self.message else f"The run ended early ({self.reason})."
