"""The tree of failures and the kinds that are part of the contract."""

import ast
import copy
import pickle
from collections.abc import Container
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.public_values import comparable
from support.public_values import errors as errors_of
from support.source_tree import LOADED_BY_OTHERS, module_name, modules
from tejat.core import errors
from tejat.core.errors import ErrorType, TejatError, ToolFailure, UsageError, WorkspaceError
from tejat.core.model import FailureKind, ModelFailure

CONTRACT = [
    "policy_violation",
    "invalid_tool_params",
    "unknown",
    "unhandled_exception",
    "tool_not_registered",
    "execution_failed",
    "file_not_found",
    "file_write_failure",
    "read_content_failure",
    "attempt_to_create_existing_file",
    "file_too_large",
    "permission_denied",
    "no_space_left",
    "target_is_directory",
    "path_not_in_workspace",
    "search_path_not_found",
    "search_path_not_a_directory",
    "edit_preparation_failure",
    "edit_no_occurrence_found",
    "edit_expected_occurrence_mismatch",
    "edit_no_change",
    "edit_no_change_llm_judgement",
    "glob_execution_error",
    "grep_execution_error",
    "ls_execution_error",
    "path_is_not_a_directory",
    "mcp_tool_error",
    "mcp_resource_not_found",
    "memory_tool_execution_error",
    "read_many_files_search_error",
    "shell_execute_error",
    "sandbox_expansion_required",
    "discovered_tool_execution_error",
    "web_fetch_no_url_in_prompt",
    "web_fetch_fallback_failed",
    "web_fetch_processing_error",
    "web_search_failed",
    "stop_execution",
]
OURS = ["stale_file", "special_file", "timeout", "cancelled", "answer_required"]


def test_the_kinds_of_failure_are_those_of_the_contract_and_a_few_of_ours() -> None:
    assert [kind.value for kind in ErrorType] == CONTRACT + OURS


def test_every_failure_hangs_in_the_tree_drawn_on_top() -> None:
    raised = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert {kind.__name__: kind.__mro__[1].__name__ for kind in raised} == {
        "TejatError": "Exception",
        "CallbackFailure": "TejatError",
        "ApproverFailure": "CallbackFailure",
        "RunFailed": "TejatError",
        "ToolFailure": "TejatError",
        "ConfigurationError": "UsageError",
        "NotTrusted": "UsageError",
        "WorkspaceError": "ToolFailure",
        "UsageError": "TejatError",
        "SandboxUnavailable": "UsageError",
        "BadPrompt": "TejatError",
        "StoppedByHook": "TejatError",
    }


def test_a_person_is_shown_what_the_model_is_told_unless_said_otherwise() -> None:
    plain = ToolFailure("too big", ErrorType.FILE_TOO_LARGE)
    assert (plain.message, plain.display, plain.error_type, str(plain)) == (
        "too big",
        "too big",
        ErrorType.FILE_TOO_LARGE,
        "too big",
    )
    assert ToolFailure("long story", ErrorType.UNKNOWN, display="short").display == "short"
    assert ToolFailure("silent", ErrorType.UNKNOWN, display="").display == ""


def test_a_workspace_error_knows_the_path_as_it_was_spelled() -> None:
    error = WorkspaceError("gone", ErrorType.FILE_NOT_FOUND, path="a/../b", display="Gone.")
    assert (error.message, error.display, error.error_type, error.path) == (
        "gone",
        "Gone.",
        ErrorType.FILE_NOT_FOUND,
        "a/../b",
    )


def test_a_usage_error_never_passes_for_something_to_tell_the_model() -> None:
    with pytest.raises(TejatError) as caught:
        raise UsageError("no such directory")
    assert not isinstance(caught.value, ToolFailure)


@cache
def error_classes() -> list[type[TejatError]]:
    """Every exception of the package, in whatever module it is."""
    found: dict[str, type[TejatError]] = {"TejatError": TejatError}
    before = 0
    while len(found) > before:
        before = len(found)
        for file, name in classes_below(found):
            found[name] = getattr(import_module(module_name(file)), name)
    return list(found.values())


def classes_below(names: Container[str]) -> list[tuple[str, str]]:
    """The file and name of every class whose first base has one of these names."""
    return [
        (file, node.name)
        for file, tree in modules().items()
        if file not in LOADED_BY_OTHERS
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.bases and ast.unparse(node.bases[0]) in names
    ]


class TestCopies:
    @settings(max_examples=100, deadline=None)
    @given(data=st.data())
    def test_every_error_is_pickled_and_copied_with_its_attributes(self, data: st.DataObject) -> None:
        error = data.draw(errors_of(data.draw(st.sampled_from(error_classes()))))
        for copied in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error), copy.copy(error)):
            assert comparable(copied) == comparable(error)
            assert (str(copied), repr(copied)) == (str(error), repr(error))

    def test_the_errors_that_users_see_are_among_them(self) -> None:
        names = {cls.__name__ for cls in error_classes()}
        assert names >= {"ToolFailure", "WorkspaceError", "UsageError", "ModelFailure", "ConfigurationError"}
        assert len(names) > 15

    def test_a_subclass_of_a_user_need_not_do_anything(self) -> None:
        copied = pickle.loads(pickle.dumps(OwnFailure("disk", size=3)))
        assert (type(copied), copied.size, copied.message, copied.error_type) == (
            OwnFailure,
            3,
            "disk: 3",
            ErrorType.UNKNOWN,
        )


class OwnFailure(ToolFailure):
    """A failure with a constructor of its own."""

    def __init__(self, name: str, *, size: int) -> None:
        super().__init__(f"{name}: {size}", ErrorType.UNKNOWN)
        self.size = size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((KeyError("a"), ErrorType.TIMEOUT), "message must be a string, not KeyError('a')."),
        (("a", "timeout"), "error_type must be an ErrorType member, not 'timeout'."),
    ],
)
def test_wrong_arguments_of_a_tool_failure_are_refused_where_it_is_raised(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        ToolFailure(*arguments)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("message", None, "message must be a string, not None."),
        ("kind", "bad_request", "kind must be a FailureKind member, not 'bad_request'."),
        ("status", "404", "status must be a whole number or None, not '404'."),
        ("retry_after", "5", "retry_after must be seconds or None, not '5'."),
        ("can_retry", "no", "can_retry must be True or False, not 'no'."),
    ],
)
def test_wrong_arguments_of_a_model_failure_too(name: str, value: object, message: str) -> None:
    arguments: dict[str, Any] = {"message": "a", "kind": FailureKind.BAD_REQUEST} | {name: value}
    with pytest.raises(TypeError) as raised:
        ModelFailure(**arguments)
    assert str(raised.value) == message
