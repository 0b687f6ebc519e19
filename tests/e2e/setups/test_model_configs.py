"""Model presets of a settings file, in the requests of the installed command."""

from pathlib import Path
from typing import Any

import pytest

from support.model_servers.gemini import LoopbackServer, ModelServer, error_reply, text_reply
from support.program import ProgramEnv, ProgramResult


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def preset(**fields: Any) -> dict[str, Any]:
    config = {key: fields.pop(key) for key in ("model", "generateContentConfig") if key in fields}
    return {**fields, "modelConfig": config}


PRECISE = preset(extends="chat-base", model="gemini-3.8-flash", generateContentConfig={"temperature": 0})


def run(machine: ProgramEnv, *words: str) -> tuple[ProgramResult, list[Any]]:
    """Run a prompt, and return the requests that reached the service."""
    with ModelServer([text_reply("Done.")]) as server:
        address, key = server.address, "a-key-for-tests"
        result = machine.run(*words, "-p", "hi", GOOGLE_GEMINI_BASE_URL=address, GEMINI_API_KEY=key)
        return result, list(server.requests)


def test_an_alias_of_the_user(machine: ProgramEnv) -> None:
    machine.write_user_settings(modelConfigs={"customAliases": {"precise": PRECISE}})
    result, (request,) = run(machine, "-m", "precise")
    assert result.code == 0, result.stderr
    assert request.target.startswith("/v1beta/models/gemini-3.8-flash:")
    generation = request.body["generationConfig"]
    assert (generation["temperature"], generation["topP"], generation["topK"]) == (0, 0.95, 64)
    assert generation["thinkingConfig"] == {"includeThoughts": True, "thinkingLevel": "HIGH"}


def test_without_presets_only_the_thinking_is_sent(machine: ProgramEnv) -> None:
    result, (request,) = run(machine, "-m", "gemini-2.5-pro")
    assert result.code == 0, result.stderr
    assert request.body["generationConfig"] == {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 8192}}


@pytest.mark.parametrize(
    ("aliases", "said"),
    [
        ({"a": preset(extends="b"), "b": preset(extends="a")}, "extends itself: a -> b -> a"),
        ({"a": preset(extends="nobody")}, "extends 'nobody'"),
        ({"a": preset(model="gemini-2.5-pro", generateContentConfig={"tools": []})}, "generateContentConfig.tools"),
    ],
)
def test_a_broken_preset_ends_the_run(machine: ProgramEnv, aliases: Any, said: str) -> None:
    path = machine.write_user_settings(modelConfigs={"customAliases": aliases})
    result, requests = run(machine, "-m", "gemini-2.5-pro")
    assert (result.code, requests) == (52, [])
    assert said in result.stderr
    assert f"{path}:" in result.stderr


def answer_or_fail(failures: dict[str, Any]) -> Any:
    """A service on which some models fail."""

    def answer(received: Any) -> Any:
        failed = next((reply for model, reply in failures.items() if f"/{model}:" in received.target), None)
        return text_reply("Done.") if failed is None else failed

    return answer


def asked_models(server: LoopbackServer) -> list[str]:
    return [request.target.rpartition("/")[2].partition(":")[0] for request in server.requests]


PRO, FLASH = "gemini-3.1-pro-preview", "gemini-3.8-flash"


@pytest.mark.parametrize(
    ("model", "status", "code", "asked"),
    [
        ("auto", 503, 0, [PRO, PRO, FLASH]),
        ("auto", 404, 0, [PRO, FLASH]),
        ("pro", 503, 61, [PRO, PRO]),
        ("pro", 404, 0, [PRO, FLASH]),
        (PRO, 503, 61, [PRO, PRO]),
    ],
)
def test_who_takes_over_without_a_person(
    machine: ProgramEnv, model: str, status: int, code: int, asked: list[str]
) -> None:
    machine.write_user_settings(general={"maxAttempts": 2})
    with LoopbackServer(answer_or_fail({PRO: error_reply(status, "no", retry_after="0")})) as server:
        address, key = server.address, "a-key-for-tests"
        result = machine.run("-m", model, "-p", "hi", GOOGLE_GEMINI_BASE_URL=address, GEMINI_API_KEY=key)
        assert asked_models(server) == asked
    assert result.code == code, result.stderr
    assert ("Switched from" in result.stderr) is (code == 0)


LITE = "gemini-3.5-flash-lite"


def routed(machine: ProgramEnv, judge: Any, *words: str) -> tuple[ProgramResult, list[str]]:
    """Run a prompt with the router, and return the models that were asked."""
    machine.write_user_settings(model={"router": True})
    with LoopbackServer(answer_or_fail({LITE: judge})) as server:
        address, key = server.address, "a-key-for-tests"
        result = machine.run(*words, "-p", "hi", GOOGLE_GEMINI_BASE_URL=address, GEMINI_API_KEY=key)
        return result, asked_models(server)


@pytest.mark.parametrize(
    ("judge", "asked"),
    [
        (text_reply('{"reasoning": "Easy.", "difficulty": 10}'), [LITE, FLASH]),
        (text_reply('{"reasoning": "Hard.", "difficulty": 95}'), [LITE, PRO]),
        (error_reply(503, "busy"), [LITE, PRO]),
    ],
)
def test_the_router_chooses(machine: ProgramEnv, judge: Any, asked: list[str]) -> None:
    result, models = routed(machine, judge)
    assert result.code == 0, result.stderr
    assert models == asked


def test_a_plan_and_a_named_model_need_no_router(machine: ProgramEnv) -> None:
    easy = text_reply('{"difficulty": 10}')
    assert routed(machine, easy, "--approval-mode", "plan")[1] == [PRO]
    assert routed(machine, easy, "-m", "pro")[1] == [PRO]


def test_no_router_unless_it_is_set(machine: ProgramEnv) -> None:
    with LoopbackServer(answer_or_fail({})) as server:
        machine.run("-p", "hi", GOOGLE_GEMINI_BASE_URL=server.address, GEMINI_API_KEY="a-key-for-tests")
        assert asked_models(server) == [PRO]
