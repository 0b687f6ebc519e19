"""`save_memory`: adds a fact to the file that is read at the start of every session."""

import re
from typing import Annotated

from tejat.core.confirm import Confirmation
from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.json_text import dump_json
from tejat.core.schema import Param
from tejat.core.tool import Kind, ProposingTool, ToolContext, ToolLocation, ToolResult
from tejat.core.types import Params
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.tools.file_change import CurrentFile, FileChange, look, make, rewriting
from tejat.tools.words import description_of
from tejat.workspace.memory_file import MemoryFile, one_line, with_memory
from tejat.workspace.offload import Stop, off_loop

LONGEST_FACT = 4_000
"""Characters. Every session to come reads every fact, so one of them is a sentence or two, not a document."""


@value
class MemoryParams:
    fact: Annotated[str, Param("The fact, as one sentence that can be understood alone.")]
    modified_by_user: Annotated[bool, Param(declared=False)] = False
    modified_content: Annotated[str | None, Param(declared=False)] = None

    @property
    def rewritten(self) -> str | None:
        """The whole file as the person wrote it."""
        return self.modified_content if self.modified_by_user else None


class MemoryTool(ProposingTool[MemoryParams]):
    spoken_name = "save memory"

    def __init__(self, memory: MemoryFile) -> None:
        super().__init__(
            name="save_memory",
            display_name="SaveMemory",
            description=description_of("save_memory"),
            parameters=MemoryParams,
            kind=Kind.THINK,
        )
        self._memory = memory

    def check(self, params: MemoryParams) -> None:
        fact = one_line(params.fact)
        if not fact:
            raise _invalid('Parameter "fact" must be a non-empty string.')
        if len(fact) > LONGEST_FACT:
            raise _invalid(
                f'Parameter "fact" is {len(fact)} characters long; at most {LONGEST_FACT} can be remembered.'
            )
        hidden = _hidden_in(fact)
        if hidden:
            raise _invalid(f'Parameter "fact" has characters that nobody can see: {hidden}. Leave them out.')

    def describe(self, params: MemoryParams) -> str:
        return f"in {self._memory.short_path}"

    def locations(self, params: MemoryParams) -> list[ToolLocation]:
        return [ToolLocation(self._memory.path)]

    async def propose(self, params: MemoryParams) -> Confirmation | None:
        return await off_loop(lambda _: self._proposal(params))

    def modified_params(self, params: Params, confirmation: Confirmation, new_content: str) -> Params:
        return {**params, "modified_by_user": True, "modified_content": new_content}

    async def run(self, params: MemoryParams, context: ToolContext) -> ToolResult:
        if params.rewritten is not None and context.approved is None:
            # Or else a model that need not ask could write whatever it likes, and not just a fact.
            raise _failure(phrase("Only the user can rewrite the file, and nobody was asked."), _FAILED)
        return await off_loop(lambda stop: self._save(params, context, stop))

    def _proposal(self, params: MemoryParams) -> Confirmation:
        try:
            with self._memory.opened() as (workspace, location):
                change = _work_out(look(workspace, location), params)
        except (ToolFailure, UsageError, OSError) as error:
            raise _in_words(error) from error
        return change.confirmation(phrase("Confirm Memory Save: {path}", path=self._memory.short_path))

    def _save(self, params: MemoryParams, context: ToolContext, stop: Stop) -> ToolResult:
        try:
            with self._memory.held(stop), self._memory.opened() as (workspace, location):
                make(workspace, location, context, lambda: _work_out(look(workspace, location), params), stop)
        except (ToolFailure, UsageError, OSError) as error:
            raise _in_words(error) from error
        if params.rewritten is None:
            fact = one_line(params.fact)
            message = phrase('Okay, I\'ve remembered that: "{fact}"', fact=fact)
        else:
            message = phrase("Okay, I've updated the memory file with your modifications.")
        return ToolResult(dump_json({"success": True, "message": message}), message)


_FAILED = ErrorType.MEMORY_TOOL_EXECUTION_ERROR

# Joiners and emoji selectors, which many scripts cannot do without, up to two behind a letter that may need them.
_NEEDED_JOINERS = re.compile("(?<=[^\x00-\x7f\u200b-\u200f\ufe00-\ufe0f])[\u200c\u200d\ufe0e\ufe0f]{1,2}")


def _invalid(problem: str) -> ToolFailure:
    return ToolFailure(problem, ErrorType.INVALID_TOOL_PARAMS)


def _hidden_in(fact: str) -> str:
    """The characters that a person would not see, each once, as they are written for people."""
    plain = _NEEDED_JOINERS.sub("", fact)
    hidden = {visible(character) for character in plain if visible(character) != character}
    return ", ".join(sorted(hidden))


def _work_out(current: CurrentFile, params: MemoryParams) -> FileChange:
    if current.text is None:
        message = phrase("It is not a text file: {path}", path=current.location.path)
        raise ToolFailure(message, ErrorType.READ_CONTENT_FAILURE)
    text = current.text.text.replace("\r\n", "\n").replace("\r", "\n")
    proposed = with_memory(text, params.fact)
    if params.rewritten is None:
        return rewriting(current, proposed)
    return rewriting(current, params.rewritten, proposed=proposed)


def _in_words(error: ToolFailure | UsageError | OSError) -> ToolFailure:
    """A file that has moved on keeps its kind, so that the change can be proposed again."""
    if isinstance(error, OSError):
        return _failure(f"{error.strerror}: {error.filename}", _FAILED)
    is_stale = isinstance(error, ToolFailure) and error.error_type is ErrorType.STALE_FILE
    return _failure(str(error), ErrorType.STALE_FILE if is_stale else _FAILED)


def _failure(reason: str, error_type: ErrorType) -> ToolFailure:
    detail = phrase("[MemoryTool] Failed to add memory entry: {reason}", reason=reason)
    told = dump_json({"success": False, "error": f"Failed to save memory. Detail: {detail}"})
    return ToolFailure(told, error_type, display=phrase("Error saving memory: {reason}", reason=detail))
