"""The official Python package as the client: how a connection begins, and how the user logs in."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp import schema
from acp.exceptions import RequestError

from support.acp.scripts import text_topic
from support.acp.sdk_client import FILES, Agent, run_agent
from support.model_servers.gemini import ModelServer, text_reply
from support.program import ProgramEnv
from tejat import __version__

AUTH_REQUIRED = -32000
INVALID_PARAMS = -32602
KEY = "AIza-entered-in-the-editor-0123456789"


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def run(env: ProgramEnv, scenario: Callable[[Agent], Awaitable[None]], *words: str, **variables: str) -> None:
    async def main() -> None:
        async with run_agent(env, *words, variables=variables) as agent:
            await scenario(agent)

    asyncio.run(main())


async def refused(work: Awaitable[Any]) -> RequestError:
    with pytest.raises(RequestError) as caught:
        await work
    return caught.value


def test_initialize(env: ProgramEnv) -> None:
    async def scenario(agent: Agent) -> None:
        response = await agent.initialize(fs=FILES, terminal=True)
        assert response.protocol_version == 1
        assert response.agent_info is not None
        assert (response.agent_info.name, response.agent_info.version) == ("tejat", __version__)
        offered = response.agent_capabilities
        assert offered is not None
        assert offered.load_session is True
        assert offered.prompt_capabilities == schema.PromptCapabilities(image=True, audio=True, embedded_context=True)
        assert offered.mcp_capabilities == schema.McpCapabilities(http=True, sse=True)
        assert offered.session_capabilities is not None
        assert {*offered.session_capabilities.model_fields_set} == {
            *("list", "delete", "resume", "close", "additional_directories"),
        }

    run(env, scenario)


def test_a_client_of_another_version_gets_ours(env: ProgramEnv) -> None:
    async def scenario(agent: Agent) -> None:
        assert (await agent.request("initialize", {"protocolVersion": 7}))["protocolVersion"] == 1

    run(env, scenario)


def test_initialize_comes_first(env: ProgramEnv) -> None:
    async def scenario(agent: Agent) -> None:
        error = await refused(agent.new_session())
        assert "initialize" in str(error)
        await agent.initialize()

    run(env, scenario)


def test_the_end_of_the_input_ends_the_program(env: ProgramEnv) -> None:
    async def scenario(agent: Agent) -> None:
        await agent.initialize()

    async def main() -> None:
        async with run_agent(env) as agent:
            await scenario(agent)
        assert agent.process.returncode == 0

    asyncio.run(main())


class TestLogin:
    """Keys for the Gemini API, whose server is on this machine."""

    def test_without_a_key_the_client_gets_the_methods(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            response = await agent.initialize()
            error = await refused(agent.new_session())
            assert error.code == AUTH_REQUIRED
            assert error.data is not None
            offered = [method["id"] for method in error.data["authMethods"]]
            assert offered == ["gemini-api-key", "anthropic-api-key", "openai-api-key"]
            assert [method.id for method in response.auth_methods or []] == offered

        run(env, scenario)

    def test_a_login_at_a_terminal_is_offered_to_clients_that_have_one(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            response = await agent.initialize(auth=schema.AuthCapabilities(terminal=True))
            (method,) = [each for each in response.auth_methods or [] if each.id == "login"]
            assert isinstance(method, schema.TerminalAuthMethod)
            assert method.args == ["--login"]
            command = (method.field_meta or {})["terminal-auth"]
            assert command["args"][-3:] == ["tejat", "acp", "--login"]

        run(env, scenario)

    def test_a_key_of_the_environment_needs_no_login(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            await agent.initialize()
            assert await agent.prompt(await agent.new_session(), "Hello?") == "end_turn"

        with ModelServer([text_reply("Hello.")]) as model:
            run(env, scenario, GEMINI_API_KEY="from-outside", GOOGLE_GEMINI_BASE_URL=model.address)
        assert model.requests[-1].headers["x-goog-api-key"] == "from-outside"

    def test_a_key_that_was_entered_in_the_client(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            await agent.initialize()
            await agent.connection.authenticate("gemini-api-key", **{"api-key": KEY})
            assert await agent.prompt(await agent.new_session(), "Hello?") == "end_turn"

        with ModelServer([text_reply("Hello.")]) as model:
            run(env, scenario, GOOGLE_GEMINI_BASE_URL=model.address)
        assert model.requests[-1].headers["x-goog-api-key"] == KEY
        stored = [path for path in env.base.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
        assert stored == []

    def test_a_login_without_a_key(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            await agent.initialize()
            error = await refused(agent.connection.authenticate("anthropic-api-key"))
            assert error.code == INVALID_PARAMS
            assert "ANTHROPIC_API_KEY is not set" in str(error)
            error = await refused(agent.connection.authenticate("nonsense"))
            assert "gemini-api-key" in str(error)

        run(env, scenario)

    def test_a_login_keeps_a_model_that_works(self, env: ProgramEnv) -> None:
        """Some clients log in with the first method they find, whether it is needed or not."""

        async def scenario(agent: Agent) -> None:
            await agent.initialize()
            await agent.connection.authenticate("gemini-api-key")
            assert await agent.prompt(await agent.new_session(), "Hello?") == "end_turn"
            assert agent.text() == "As ever."

        env.write_user_settings(model={"name": env.script(text_topic("Hello", "As ever."))})
        run(env, scenario, GEMINI_API_KEY="from-outside")

    def test_a_login_chooses_a_model_of_its_service(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            await agent.initialize()
            await agent.connection.authenticate("anthropic-api-key", **{"api-key": KEY})
            opened = await agent.connection.new_session(cwd=str(env.project))
            (model,) = [each for each in opened.config_options or [] if each.id == "model"]
            assert str(model.current_value).startswith(("anthropic:", "claude"))

        run(env, scenario)
