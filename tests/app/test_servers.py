"""Which servers the settings name, which of them may be started, and what is said of the others."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from foreign_checks import Stage, hostile
from tejat.app.ground import Ground, survey
from tejat.app.house import House
from tejat.app.servers import Means, described, plan_servers
from tejat.config.mcp_enablement import switch_server
from tejat.config.places import SourceTier, places_of
from tejat.config.settings import COMMAND_ALIAS, McpServer, servers_of
from tejat.core.value import replace
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.link import ServerPlan
from tejat.mcp.pool import Barred
from tejat.mcp.stdio import StdioTransport
from tejat.mcp.streamable_http import StreamableHttpTransport
from tejat.mcp.values import ServerState
from tejat.workspace.http.client import HttpClient
from tejat.workspace.workspace import Workspace

PROGRAM = {"command": "/bin/cat"}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def look(stage: Stage, *, trusts_folder: bool = True, servers: Sequence[str] | None = None) -> Ground:
    directories = [str(stage.project)]
    return survey(directories, environment=stage.environment, trusts_folder=trusts_folder, servers=servers)


def planned(ground: Ground) -> Sequence[ServerPlan | Barred]:
    with Workspace(ground.roots) as workspace, House(workspace, ground, "off") as house:
        return plan_servers(ground, Means(house.keeper, HttpClient(environment={}), house.fence_in, no_login))


def no_login(alias: str, server: McpServer) -> None:
    """Nobody has logged in anywhere."""


def barred(ground: Ground) -> dict[str, tuple[ServerState, str] | None]:
    """What stands before each server, None for those that would be started."""
    return {plan.alias: (plan.state, plan.reason) if isinstance(plan, Barred) else None for plan in planned(ground)}


class TestServers:
    def test_are_those_of_the_person_and_of_a_trusted_folder(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"mine": PROGRAM, "both": {"command": "a", "trust": True}})
        stage.project_sets(mcpServers={"its": PROGRAM, "both": {"command": "b", "trust": True}})
        strange, trusted = (servers_of(look(stage, trusts_folder=trusts).settings) for trusts in (False, True))
        assert {alias: setting.value.command for alias, setting in strange.items()} == {"mine": "/bin/cat", "both": "a"}
        assert {alias: setting.value.command for alias, setting in trusted.items()} == {
            "mine": "/bin/cat",
            "both": "a",
            "its": "/bin/cat",
        }
        assert [setting["both"].value.is_trusted for setting in (strange, trusted)] == [True, True]

    @pytest.mark.parametrize("given", ["/bin/cat 'a b' c", ["/bin/cat", "a b", "c"]])
    def test_a_command_alone_is_one_too_and_comes_before_another_of_its_name(self, stage: Stage, given: object) -> None:
        stage.person_sets(mcp={"serverCommand": given}, mcpServers={COMMAND_ALIAS: {"command": "other", "trust": True}})
        (setting,) = servers_of(look(stage).settings).values()
        assert setting.value == McpServer(command="/bin/cat", arguments=("a b", "c"))
        assert (setting.tier, setting.source.startswith(str(stage.home))) == (SourceTier.USER, True)


class TestBarriers:
    def test_none(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"a": PROGRAM, "b-1.x": PROGRAM})
        assert barred(look(stage)) == {"a": None, "b-1.x": None}

    def test_a_folder_that_nobody_trusts(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"a": PROGRAM}, mcp={"serverCommand": "/bin/cat"})
        why = f"{stage.project} is not trusted: nobody has said so yet. No server is started there. See `tejat trust`."
        assert barred(look(stage, trusts_folder=False)) == dict.fromkeys(["a", "mcp"], (ServerState.BLOCKED, why))

    def test_lists_of_the_settings(self, stage: Stage) -> None:
        stage.person_sets(
            mcpServers={"a": PROGRAM, "b": PROGRAM, "c": PROGRAM}, mcp={"allowed": ["a", "b", "x"], "excluded": ["b"]}
        )
        settings = f"{stage.home}/.gemini/settings.json"
        assert barred(look(stage)) == {
            "a": None,
            "b": (ServerState.BLOCKED, f"{settings}:1 excludes it."),
            "c": (ServerState.BLOCKED, f"{settings}:1 does not name it."),
        }

    @pytest.mark.parametrize(("named", "started"), [(["b", "x"], ["b"]), ([], [])])
    def test_a_flag_takes_the_place_of_both(self, stage: Stage, named: list[str], started: list[str]) -> None:
        stage.person_sets(mcpServers={"a": PROGRAM, "b": PROGRAM}, mcp={"allowed": ["a"], "excluded": ["b"]})
        found = barred(look(stage, servers=named))
        assert [alias for alias, barrier in found.items() if barrier is None] == started
        assert found["a"] == (ServerState.BLOCKED, "--allowed-mcp-server-names does not name it.")

    def test_whoever_runs_the_machine_has_the_last_word(self, stage: Stage) -> None:
        admin = stage.base / "admin"
        admin.mkdir(mode=0o755)
        settings = {"mcp": {"allowed": ["a", "b"], "excluded": ["b"]}}
        (admin / "settings.json").write_text(json.dumps(settings))
        (admin / "settings.json").chmod(0o644)
        stage.environment["TEJAT_ADMIN_DIRECTORY"] = str(admin)
        stage.person_sets(mcpServers=dict.fromkeys("abc", PROGRAM))
        found = barred(look(stage, servers=["b", "c"]))
        assert [alias for alias, barrier in found.items() if barrier is None] == []

    def test_what_the_person_switched_off(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"Loud": PROGRAM, "a": PROGRAM})
        switch_server(places_of(stage.environment), "loud", on=False)
        told = "It is switched off. `tejat mcp enable Loud` switches it on."
        assert barred(look(stage)) == {"Loud": (ServerState.DISABLED, told), "a": None}

    @pytest.mark.parametrize("text", ["{", "[]"])
    def test_where_nobody_can_tell_what_is_switched_off_nothing_is_started(self, stage: Stage, text: str) -> None:
        stage.person_sets(mcpServers={"a": PROGRAM, "b": PROGRAM})
        path = stage.home / ".gemini" / "mcp-server-enablement.json"
        path.write_text(text)
        reasons = set(barred(look(stage)).values())
        assert len(reasons) == 1
        (barrier,) = reasons
        assert barrier is not None
        assert barrier[0] is ServerState.BLOCKED
        assert barrier[1].startswith(f"Cannot read {path}: ")
        assert barrier[1].endswith("Mend it or remove it.")

    @pytest.mark.parametrize(
        ("alias", "why"),
        [("a__b", "'__' stands between"), ("a b", "Use only letters"), ("_a", "'__'"), ("n" * 41, "too long")],
    )
    def test_a_name_that_tools_could_not_bear(self, stage: Stage, alias: str, why: str) -> None:
        stage.person_sets(mcpServers={alias: PROGRAM, "good": PROGRAM})
        found = barred(look(stage))
        barrier = found.pop(alias)
        assert found == {"good": None}
        assert barrier is not None
        assert (barrier[0], why in barrier[1]) == (ServerState.BLOCKED, True)


class TestPlans:
    def plan(self, stage: Stage, **entry: object) -> ServerPlan:
        stage.person_sets(mcpServers={"it": entry})
        (plan,) = planned(look(stage))
        assert isinstance(plan, ServerPlan)
        return plan

    def test_of_a_program(self, stage: Stage) -> None:
        entry = hostile("secret=1", timeout=7000, startTimeout=1500, sampling=True)
        plan = self.plan(stage, **entry)
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

    def test_of_an_address(self, stage: Stage) -> None:
        plan = self.plan(stage, httpUrl="https://example.org/mcp?key=secret")
        assert plan == ServerPlan("it", plan.transport, plan.where, plan.connect)
        assert "secret" not in f"{plan.transport} {plan.where}"
        assert plan.where.startswith("https://example.org")
        assert isinstance(plan.connect(), StreamableHttpTransport)

    def test_of_a_project_that_would_like_to_ask_the_model(self, stage: Stage) -> None:
        stage.project_sets(mcpServers={"it": {**PROGRAM, "sampling": True}})
        (plan,) = planned(look(stage))
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
        self, stage: Stage, entry: dict[str, object], shown: tuple[str, str], problem: McpProblem
    ) -> None:
        plan = self.plan(stage, **entry)
        assert (plan.transport, plan.where) == shown
        with pytest.raises(McpFailure) as caught:
            plan.connect()
        assert caught.value.problem is problem


def test_what_is_told_of_a_server_can_be_shown() -> None:
    server = McpServer(command="cat\x1b[31m", arguments=("--token=secret",))
    assert described(server) == ("stdio", "cat<U+001B>[31m")
    assert described(replace(server, command=None)) == ("unknown", "")
