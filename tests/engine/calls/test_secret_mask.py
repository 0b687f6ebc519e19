"""Secrets that the program was given do not come out of a tool."""

import asyncio
from pathlib import Path

import pytest

from tejat.app.run_config import load_run_config
from tejat.app.tools.open_tools import open_tools
from tejat.app.tools.toolset import open_toolset
from tejat.core.agent.options import PolicyOptions
from tejat.core.errors import ErrorType
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, PartListUnion, Text
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.display import FileDiff
from tejat.engine.calls.secret_mask import SecretMask

KEY = "AIzaSyNotARealKey-1234567890"
OTHER = "another-secret-of-some-length"
MASK = SecretMask(
    {
        "GEMINI_API_KEY": KEY,
        "DB_PASSWORD": OTHER,
        "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLE",
        "SHORT_KEY": "abcdef",
        "KEY_PATH": "/home/me/the/key/file",
        "OWN_KEY": "~/the/key/of/mine",
    }
)
TAG = "[the secret GEMINI_API_KEY]"
IMAGE = InlineData("image/png", KEY.encode())


@pytest.mark.parametrize(
    ("content", "masked"),
    [
        (f"key={KEY};", f"key={TAG};"),
        (f"{KEY}{KEY} {OTHER}", f"{TAG}{TAG} [the secret DB_PASSWORD]"),
        ("abcdef /home/me/the/key/file", "abcdef /home/me/the/key/file"),
        ("~/the/key/of/mine", "~/the/key/of/mine"),
        ("=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLE", "=[the secret AWS_SECRET_ACCESS_KEY]"),
        (Text(f"a {KEY}", "signed"), Text(f"a {TAG}", "signed")),
        ([f"a {KEY}", IMAGE, Text("b")], [f"a {TAG}", IMAGE, Text("b")]),
        (
            FunctionResponse("f", {"content": [{"text": KEY}], "n": 1}, "1"),
            FunctionResponse("f", {"content": [{"text": TAG}], "n": 1}, "1"),
        ),
    ],
)
def test_what_the_model_gets(content: PartListUnion, masked: PartListUnion) -> None:
    assert MASK.mask_result(ToolResult(content, "shown")) == ToolResult(masked, "shown")


def test_what_the_user_is_shown_and_what_failed() -> None:
    failed = ToolResult(f"no {KEY}", f"no {KEY}", ToolError(f"no {KEY}", ErrorType.EXECUTION_FAILED))
    told = f"no {TAG}"
    assert MASK.mask_result(failed) == ToolResult(told, told, ToolError(told, ErrorType.EXECUTION_FAILED))


def test_a_traceback() -> None:
    failed = ToolResult("no", "no", ToolError("no", ErrorType.EXECUTION_FAILED, traceback=f"KeyError: {KEY}"))
    error = MASK.mask_result(failed).error
    assert error is not None
    assert error.traceback == f"KeyError: {TAG}"


def test_a_change_is_shown_as_it_is_on_disk() -> None:
    diff = FileDiff("a", "/a", f"+{KEY}", is_new_file=False)
    assert MASK.mask_result(ToolResult("done", diff)).return_display is diff


def test_a_result_without_secrets_is_the_very_same() -> None:
    result = ToolResult(["a", IMAGE, Text("b"), FunctionResponse("f", {"output": "x"}, "1")], "shown")
    assert MASK.mask_result(result) is result
    assert SecretMask({}).mask_result(result) is result


def test_of_two_secrets_one_in_the_other_the_longer_is_named() -> None:
    mask = SecretMask({"A_KEY": "0123456789abcdef", "B_KEY": "0123456789abcdef-and-more"})
    assert mask.mask_text("0123456789abcdef-and-more 0123456789abcdef") == "[the secret B_KEY] [the secret A_KEY]"


def test_a_file_with_the_key_read_for_a_model_and_for_the_user(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "config.ini").write_text(f"key = {KEY}\n")
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "GEMINI_API_KEY": KEY}
    call = FunctionCall("read_file", {"path": "config.ini"}, "1")
    run_config = load_run_config([str(project)], environment=environment)
    with open_toolset(run_config, None, policy=PolicyOptions(), sandbox="off", for_model=True) as toolset:
        for_model = asyncio.run(toolset.start_scheduler().run(call))
    with open_tools([str(project)], None, sandbox="off", environment=environment) as session:
        for_person = asyncio.run(session.scheduler.run(call))
    assert (for_model.llm_content, for_person.llm_content) == (f"key = {TAG}\n", f"key = {KEY}\n")


def test_the_exit_code_stays() -> None:
    mask = SecretMask({"A_KEY": "0123456789abcdef"})
    masked = mask.mask_result(ToolResult("0123456789abcdef", "x", exit_code=3))
    assert masked == ToolResult("[the secret A_KEY]", "x", exit_code=3)
