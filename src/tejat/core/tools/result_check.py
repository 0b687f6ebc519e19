"""The check of what a tool returns."""

from collections.abc import Sequence
from typing import TypeGuard, cast

from tejat.core.messages.types import FileData, FunctionResponse, InlineData, PartListUnion, Text
from tejat.core.tools.base import ToolResult
from tejat.core.tools.display import FileDiff
from tejat.core.tools.todos import TodoList

_CONTENTS = (str, Text, InlineData, FileData, FunctionResponse)
_DISPLAYS = (str, FileDiff, TodoList)


def checked_result(tool_name: str, returned: object) -> ToolResult:
    """Return the result of a tool. Text and parts become the `llm_content` of one; text is displayed as well.

    Raises TypeError for anything else.
    """
    if isinstance(returned, ToolResult):
        content: object = returned.llm_content
        if not is_content(content):
            raise TypeError(f'Tool "{tool_name}" returned an llm_content of type {_type_name(content)}.')
        display = cast("object", returned.return_display)
        if not isinstance(display, _DISPLAYS):
            raise TypeError(f'Tool "{tool_name}" returned a return_display of type {_type_name(display)}.')
        if not _is_plain_text(returned):
            _check_fields(tool_name, returned)
        return returned
    if isinstance(returned, str):
        return ToolResult(returned, returned)
    if is_content(returned):
        result = ToolResult(returned)
        _check_fields(tool_name, result)
        return result
    raise TypeError(f'Tool "{tool_name}" returned {_type_name(returned)} instead of a ToolResult.')


def _is_plain_text(result: ToolResult) -> bool:
    """Whether nothing is left to check, as in most results."""
    others = (result.error, result.exit_code, result.final_answer)
    return isinstance(result.llm_content, str) and isinstance(result.return_display, str) and others == _NO_OTHERS


def _check_fields(tool_name: str, result: ToolResult) -> None:
    from tejat.core.messages.value_check import check_value

    try:
        check_value(result)
    except TypeError as wrong:
        raise TypeError(f'Tool "{tool_name}" returned a wrong value: {wrong}') from None


_NO_OTHERS = (None, None, None)


def is_content(given: object) -> TypeGuard[PartListUnion]:
    """Whether a value can be sent to a model: text, a part, or a sequence of them."""
    if isinstance(given, _CONTENTS):
        return True
    if not isinstance(given, list | tuple):
        return False
    return all(isinstance(item, _CONTENTS) for item in cast("Sequence[object]", given))


def _type_name(given: object) -> str:
    """Name the type of a value, for a sequence also those of its items."""
    name = type(given).__name__
    if not isinstance(given, list | tuple):
        return name
    return f"{name} of {', '.join(sorted({type(item).__name__ for item in cast('Sequence[object]', given)}))}"
