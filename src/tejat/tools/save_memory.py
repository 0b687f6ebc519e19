"""`save_memory`: adds a fact to the file that every session reads at its start."""

import re
from typing import Annotated

from tejat.core.approval.confirmation import Confirmation
from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import Params
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.base import ProposingTool, ToolContext, ToolLocation, ToolResult
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params
from tejat.tools.files.change import FileChange, apply_change, plan_rewrite
from tejat.tools.files.current_file import CurrentFile, read_current
from tejat.workspace.files.memory_file import MemoryFile, add_memory, format_fact
from tejat.workspace.threads.offload import run_blocking
from tejat.workspace.threads.stop import StopToken

MAX_FACT_LENGTH = 4_000
"""Every later session reads every fact, so a fact is a sentence or two and not a document."""


class MemoryParams(Frozen):
    fact: Annotated[str, Param("The fact, as one sentence that can be understood alone.")]
    modified_by_user: Annotated[bool, Param(declared=False)] = False
    modified_content: Annotated[str | None, Param(declared=False)] = None

    @property
    def user_content(self) -> str | None:
        """The whole file as the user wrote it."""
        return self.modified_content if self.modified_by_user else None


class MemoryTool(ProposingTool[MemoryParams]):
    """The tool `save_memory`: save a fact in the user's context file."""

    error_label = "save memory"

    def __init__(self, memory: MemoryFile) -> None:
        super().__init__(**tool_labels("save_memory", "SaveMemory"), parameters=MemoryParams, kind=Kind.THINK)
        self._memory = memory

    def check(self, params: MemoryParams) -> None:
        fact = format_fact(params.fact)
        if not fact:
            raise invalid_params('Parameter "fact" must be a non-empty string.')
        if len(fact) > MAX_FACT_LENGTH:
            raise invalid_params(
                f'Parameter "fact" is {len(fact)} characters long; at most {MAX_FACT_LENGTH} can be remembered.'
            )
        hidden = _find_hidden_characters(fact)
        if hidden:
            raise invalid_params(f'Parameter "fact" has characters that nobody can see: {hidden}. Leave them out.')

    def describe(self, params: MemoryParams) -> str:
        return f"in {self._memory.short_path}"

    def locations(self, params: MemoryParams) -> list[ToolLocation]:
        return [ToolLocation(self._memory.path)]

    async def propose(self, params: MemoryParams) -> Confirmation | None:
        return await run_blocking(lambda _: self._build_confirmation(params))

    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        return {**params, "modified_by_user": True, "modified_content": new_content}

    async def run(self, params: MemoryParams, context: ToolContext) -> ToolResult:
        if params.user_content is not None and context.approved is None:
            # Otherwise a model that needs no approval could write anything, not just a fact.
            raise _failure(lazy("Only the user can rewrite the file, and the user was not asked."), _EXECUTION_ERROR)
        return await run_blocking(lambda stop: self._save(params, context, stop))

    def _build_confirmation(self, params: MemoryParams) -> Confirmation:
        try:
            with self._memory.open_workspace() as (workspace, location):
                change = _plan_change(read_current(workspace, location), params)
        except (ToolFailure, UsageError, OSError) as error:
            raise _translate_error(error) from error
        return change.confirmation(lazy("Confirm Memory Save: {path}", path=self._memory.short_path))

    def _save(self, params: MemoryParams, context: ToolContext, stop: StopToken) -> ToolResult:
        try:
            with self._memory.lock(stop), self._memory.open_workspace() as (workspace, location):
                apply_change(
                    workspace,
                    location,
                    context,
                    lambda: _plan_change(read_current(workspace, location), params),
                    stop,
                    is_private=True,
                )
        except (ToolFailure, UsageError, OSError) as error:
            raise _translate_error(error) from error
        if params.user_content is None:
            message = lazy('Okay, I\'ve remembered that: "{fact}"', fact=format_fact(params.fact))
        else:
            message = lazy("Okay, I've updated the memory file with your modifications.")
        return ToolResult(dump_json({"success": True, "message": message}), message)


_EXECUTION_ERROR = ErrorType.MEMORY_TOOL_EXECUTION_ERROR

# Joiners and emoji selectors that many scripts need: at most two after a letter that may need them.
_NEEDED_JOINERS = re.compile("(?<=[^\x00-\x7f\u200b-\u200f\ufe00-\ufe0f])[\u200c\u200d\ufe0e\ufe0f]{1,2}")


def _find_hidden_characters(fact: str) -> str:
    """List the invisible characters, each once, in their printable form."""
    plain = _NEEDED_JOINERS.sub("", fact)
    hidden = {sanitize_text(character) for character in plain if sanitize_text(character) != character}
    return ", ".join(sorted(hidden))


def _plan_change(current: CurrentFile, params: MemoryParams) -> FileChange:
    if current.text is None:
        message = lazy("Not a text file: {path}", path=current.location.path)
        raise ToolFailure(message, ErrorType.READ_CONTENT_FAILURE)
    text = current.text.text.replace("\r\n", "\n").replace("\r", "\n")
    proposed = add_memory(text, params.fact)
    if params.user_content is None:
        return plan_rewrite(current, proposed)
    return plan_rewrite(current, params.user_content, proposed=proposed)


def _translate_error(error: ToolFailure | UsageError | OSError) -> ToolFailure:
    """Keep STALE_FILE as the error type, so that the change can be proposed again."""
    if isinstance(error, OSError):
        return _failure(f"{error.strerror}: {error.filename}", _EXECUTION_ERROR)
    is_stale = isinstance(error, ToolFailure) and error.error_type is ErrorType.STALE_FILE
    return _failure(str(error), ErrorType.STALE_FILE if is_stale else _EXECUTION_ERROR)


def _failure(reason: str, error_type: ErrorType) -> ToolFailure:
    detail = lazy("[MemoryTool] Failed to add memory entry: {reason}", reason=reason)
    message = dump_json({"success": False, "error": f"Failed to save memory. Detail: {detail}"})
    return ToolFailure(message, error_type, display=lazy("Error saving memory: {reason}", reason=detail))
