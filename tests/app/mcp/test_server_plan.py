"""Which servers the settings name, which of them may be started, and what is said of the others."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.external_tools import ExternalToolsEnv, hostile_server
from tejat.app.mcp.server_plan import ConnectionDeps, describe_server, plan_servers
from tejat.app.run_config import RunConfig, load_agent_config, load_run_config
from tejat.app.tools.tool_services import ToolServices
from tejat.config.mcp.enablement import set_server_enabled
from tejat.config.paths import SourceTier, app_paths
from tejat.config.settings.types import COMMAND_SERVER_NAME, McpServer, configured_servers
from tejat.core.agent.options import AgentOptions
from tejat.core.frozen import replace
from tejat.mcp.client import ServerPlan
from tejat.mcp.client_pool import InactiveServer
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.transports.stdio import StdioTransport
from tejat.mcp.transports.streamable_http import StreamableHttpTransport
from tejat.mcp.types import ServerState
from tejat.workspace.context import Workspace
from tejat.workspace.http.client import HttpClient

PROGRAM = {"command": "/bin/cat"}


@pytest.fixture
def env(tmp_path: Path) -> ExternalToolsEnv:
    return ExternalToolsEnv(tmp_path)


def load_config(
    env: ExternalToolsEnv, *, trusts_folder: bool = True, servers: Sequence[str] | None = None
) -> RunConfig:
    directories = [str(env.project)]
    return load_run_config(directories, environment=env.environment, trusts_folder=trusts_folder, servers=servers)


def planned(run_config: RunConfig) -> Sequence[ServerPlan | InactiveServer]:
    with Workspace(run_config.roots) as workspace, ToolServices(workspace, run_config, "off") as services:
        return plan_servers(
            run_config,
            ConnectionDeps(
                services.supervisor,
                HttpClient(environment={}),
                services.sandbox.wrap,
                no_login,
                services.variable_lists,
            ),
        )


def no_login(alias: str, server: McpServer) -> None:
    """Nobody has logged in anywhere."""


def barred(run_config: RunConfig) -> dict[str, tuple[ServerState, str] | None]:
    """What stands before each server, None for those that would be started."""
    return {
        plan.alias: (plan.state, plan.reason) if isinstance(plan, InactiveServer) else None
        for plan in planned(run_config)
    }


class TestServers:
    def test_are_those_of_the_person_and_of_a_trusted_folder(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"mine": PROGRAM, "both": {"command": "a", "trust": True}})
        env.write_project_settings(mcpServers={"its": PROGRAM, "both": {"command": "b", "trust": True}})
        strange, trusted = (
            configured_servers(load_config(env, trusts_folder=trusts).settings) for trusts in (False, True)
        )
        assert {alias: setting.value.command for alias, setting in strange.items()} == {"mine": "/bin/cat", "both": "a"}
        assert {alias: setting.value.command for alias, setting in trusted.items()} == {
            "mine": "/bin/cat",
            "both": "a",
            "its": "/bin/cat",
        }
        assert [setting["both"].value.is_trusted for setting in (strange, trusted)] == [True, True]

    @pytest.mark.parametrize("given", ["/bin/cat 'a b' c", ["/bin/cat", "a b", "c"]])
    def test_a_command_alone_is_one_too_and_comes_before_another_of_its_name(
        self, env: ExternalToolsEnv, given: object
    ) -> None:
        env.write_user_settings(
            mcp={"serverCommand": given}, mcpServers={COMMAND_SERVER_NAME: {"command": "other", "trust": True}}
        )
        (setting,) = configured_servers(load_config(env).settings).values()
        assert setting.value == McpServer(command="/bin/cat", arguments=("a b", "c"))
        assert (setting.tier, setting.source.startswith(str(env.home))) == (SourceTier.USER, True)


class TestBarriers:
    def test_none(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"a": PROGRAM, "b-1.x": PROGRAM})
        assert barred(load_config(env)) == {"a": None, "b-1.x": None}

    def test_a_folder_that_nobody_trusts(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"a": PROGRAM}, mcp={"serverCommand": "/bin/cat"})
        why = f"{env.project} is not trusted: not decided yet. Its servers are not started. See `tejat trust`."
        assert barred(load_config(env, trusts_folder=False)) == dict.fromkeys(["a", "mcp"], (ServerState.BLOCKED, why))

    def test_lists_of_the_settings(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(
            mcpServers={"a": PROGRAM, "b": PROGRAM, "c": PROGRAM}, mcp={"allowed": ["a", "b", "x"], "excluded": ["b"]}
        )
        settings = f"{env.home}/.gemini/settings.json"
        assert barred(load_config(env)) == {
            "a": None,
            "b": (ServerState.BLOCKED, f"{settings}:1 excludes it."),
            "c": (ServerState.BLOCKED, f"{settings}:1 does not list it."),
        }

    @pytest.mark.parametrize(("named", "started"), [(["b", "x"], ["b"]), ([], [])])
    def test_a_flag_takes_the_place_of_both(self, env: ExternalToolsEnv, named: list[str], started: list[str]) -> None:
        env.write_user_settings(mcpServers={"a": PROGRAM, "b": PROGRAM}, mcp={"allowed": ["a"], "excluded": ["b"]})
        found = barred(load_config(env, servers=named))
        assert [alias for alias, barrier in found.items() if barrier is None] == started
        assert found["a"] == (ServerState.BLOCKED, "--allowed-mcp-server-names does not list it.")

    def test_whoever_runs_the_machine_has_the_last_word(self, env: ExternalToolsEnv) -> None:
        admin = env.base / "admin"
        admin.mkdir(mode=0o755)
        settings = {"mcp": {"allowed": ["a", "b"], "excluded": ["b"]}}
        (admin / "settings.json").write_text(json.dumps(settings))
        (admin / "settings.json").chmod(0o644)
        env.environment["TEJAT_ADMIN_DIRECTORY"] = str(admin)
        env.write_user_settings(mcpServers=dict.fromkeys("abc", PROGRAM))
        found = barred(load_config(env, servers=["b", "c"]))
        assert [alias for alias, barrier in found.items() if barrier is None] == []

    def test_servers_of_an_editor_obey_the_same_lists_and_replace_those_of_the_settings(
        self, env: ExternalToolsEnv
    ) -> None:
        env.write_user_settings(
            mcpServers={"a": PROGRAM, "b": PROGRAM}, mcp={"allowed": ["a", "b", "c"], "excluded": ["c"]}
        )
        added = {"a": {"command": "/bin/other"}, "c": PROGRAM, "d": PROGRAM}
        options = AgentOptions((str(env.project),), environment=env.environment, mcp_servers=added, trusts_folder=True)
        run_config = load_agent_config(options)
        settings = f"{env.home}/.gemini/settings.json"
        assert barred(run_config) == {
            "a": None,
            "b": None,
            "c": (ServerState.BLOCKED, f"{settings}:1 excludes it."),
            "d": (ServerState.BLOCKED, f"{settings}:1 does not list it."),
        }
        assert run_config.settings.mcp_servers["a"].value.command == "/bin/other"
        untrusted = load_agent_config(replace(options, trusts_folder=False))
        assert {barrier[0] for barrier in barred(untrusted).values() if barrier} == {ServerState.BLOCKED}
        assert None not in barred(untrusted).values()

    def test_an_administrator_decides_about_servers_of_an_editor(self, env: ExternalToolsEnv) -> None:
        admin = env.base / "admin"
        admin.mkdir(mode=0o755)
        (admin / "settings.json").write_text(json.dumps({"mcp": {"allowed": ["a"]}}))
        (admin / "settings.json").chmod(0o644)
        env.environment["TEJAT_ADMIN_DIRECTORY"] = str(admin)
        added = {"a": PROGRAM, "b": PROGRAM}
        found = barred(
            load_agent_config(
                AgentOptions((str(env.project),), environment=env.environment, mcp_servers=added, trusts_folder=True)
            )
        )
        assert [alias for alias, barrier in found.items() if barrier is None] == ["a"]

    def test_what_the_person_switched_off(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"Loud": PROGRAM, "a": PROGRAM})
        set_server_enabled(app_paths(env.environment), "loud", enabled=False)
        told = "It is disabled. Enable it with `tejat mcp enable Loud`."
        assert barred(load_config(env)) == {"Loud": (ServerState.DISABLED, told), "a": None}

    @pytest.mark.parametrize("text", ["{", "[]"])
    def test_where_nobody_can_tell_what_is_switched_off_nothing_is_started(
        self, env: ExternalToolsEnv, text: str
    ) -> None:
        env.write_user_settings(mcpServers={"a": PROGRAM, "b": PROGRAM})
        path = env.home / ".gemini" / "mcp-server-enablement.json"
        path.write_text(text)
        reasons = set(barred(load_config(env)).values())
        assert len(reasons) == 1
        (barrier,) = reasons
        assert barrier is not None
        assert barrier[0] is ServerState.BLOCKED
        assert barrier[1].startswith(f"Could not read {path}: ")
        assert barrier[1].endswith("Fix it or remove it.")

    @pytest.mark.parametrize(
        ("alias", "why"),
        [("a__b", "'__' separates"), ("a b", "Use only letters"), ("_a", "'__'"), ("n" * 41, "too long")],
    )
    def test_a_name_that_tools_could_not_bear(self, env: ExternalToolsEnv, alias: str, why: str) -> None:
        env.write_user_settings(mcpServers={alias: PROGRAM, "good": PROGRAM})
        found = barred(load_config(env))
        barrier = found.pop(alias)
        assert found == {"good": None}
        assert barrier is not None
        assert (barrier[0], why in barrier[1]) == (ServerState.BLOCKED, True)


class TestPlans:
    def plan(self, env: ExternalToolsEnv, **entry: object) -> ServerPlan:
        env.write_user_settings(mcpServers={"it": entry})
        (plan,) = planned(load_config(env))
        assert isinstance(plan, ServerPlan)
        return plan

    def test_of_a_program(self, env: ExternalToolsEnv) -> None:
        entry = hostile_server("secret=1", timeout=7000, startTimeout=1500, sampling=True)
        plan = self.plan(env, **entry)
        assert plan == ServerPlan(
            "it",
            "stdio",
            str(entry["command"]),
            plan.connect,
            timeout=7.0,
            start_timeout=1.5,
            may_sample=True,
        )
        assert isinstance(plan.connect(), StdioTransport)

    def test_of_an_address(self, env: ExternalToolsEnv) -> None:
        plan = self.plan(env, httpUrl="https://example.org/mcp?key=secret")
        assert plan == ServerPlan("it", plan.transport, plan.location, plan.connect)
        assert "secret" not in f"{plan.transport} {plan.location}"
        assert plan.location.startswith("https://example.org")
        assert isinstance(plan.connect(), StreamableHttpTransport)

    def test_of_a_project_that_would_like_to_ask_the_model(self, env: ExternalToolsEnv) -> None:
        env.write_project_settings(mcpServers={"it": {**PROGRAM, "sampling": True}})
        (plan,) = planned(load_config(env))
        assert isinstance(plan, ServerPlan)
        assert plan.may_sample is False

    @pytest.mark.parametrize(
        ("entry", "shown", "problem"),
        [
            ({"command": "no-such-program"}, ("stdio", "no-such-program"), McpProblem.START),
            ({"description": "?"}, ("unknown", ""), McpProblem.CONFIGURATION),
            ({"tcp": "localhost:1"}, ("unknown", ""), McpProblem.CONFIGURATION),
            ({"url": "ftp://example.org/"}, ("unknown", ""), McpProblem.CONFIGURATION),
        ],
    )
    def test_of_what_cannot_be_reached_fail_only_when_they_are_tried(
        self, env: ExternalToolsEnv, entry: dict[str, object], shown: tuple[str, str], problem: McpProblem
    ) -> None:
        plan = self.plan(env, **entry)
        assert (plan.transport, plan.location) == shown
        with pytest.raises(McpFailure) as caught:
            plan.connect()
        assert caught.value.problem is problem


def test_what_is_told_of_a_server_can_be_shown() -> None:
    server = McpServer(command="cat\x1b[31m", arguments=("--token=secret",))
    assert describe_server(server) == ("stdio", "cat<U+001B>[31m")
    assert describe_server(replace(server, command=None)) == ("unknown", "")
