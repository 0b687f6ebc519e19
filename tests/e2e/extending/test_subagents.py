"""Sub-agents from the outside: no escalation, how they end, what they cost, and replays of several at once."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.external_tools import HOSTILE, tools_fault
from support.program import ProgramEnv, ProgramResult, script_answer

Call = tuple[str, Mapping[str, object]]
WRITE: Call = ("write_file", {"file_path": "x.txt", "content": "x"})


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path.resolve())


def agent(env: ProgramEnv, name: str, *, body: str = "You are a test.", **fields: object) -> None:
    directory = env.home / ".gemini" / "agents"
    directory.mkdir(parents=True, exist_ok=True)
    front = {"name": name, "description": f"The agent {name}.", **fields}
    lines = "\n".join(f"{key}: {json.dumps(value)}" for key, value in front.items())
    (directory / f"{name}.md").write_text(f"---\n{lines}\n---\n{body}\n")


def invoke(name: str, prompt: str = "Do it.") -> Call:
    return "invoke_agent", {"agent_name": name, "prompt": prompt}


def done(result: str = "Done.") -> Call:
    return "complete_task", {"result": result}


def of(name: str, *calls: Call, **fields: object) -> str:
    """An answer of the model inside an agent."""
    return script_answer(calls=calls, purpose=f"agent:{name}", **fields)


def script(env: ProgramEnv, calls: Sequence[Call], *answers: str, end: str = "That is all.") -> str:
    """A model that makes these calls, and these answers inside agents."""
    return env.script("".join([script_answer(calls=calls), *answers, script_answer(say=end)]))


def run(env: ProgramEnv, model: str, *words: str) -> ProgramResult:
    return env.run("-m", model, "-p", "go", "-o", "json", "--sandbox", "off", *words)


def stream(env: ProgramEnv, model: str, *words: str) -> list[dict[str, Any]]:
    result = env.run("-m", model, "-p", "go", "-o", "stream-json", "--sandbox", "off", *words)
    assert result.code == 0, result.stderr
    return result.lines


def parent_result(lines: Sequence[Mapping[str, Any]]) -> str:
    [result] = [line for line in lines if line["type"] == "tool_result" and "agent_id" not in line]
    return result["content"]


class TestNoEscalation:
    """Check 19."""

    @pytest.fixture
    def model(self, env: ProgramEnv) -> str:
        agent(
            env,
            "bold",
            tools=["*"],
            permissionMode="bypassPermissions",
            mcp_servers={"own": {"command": HOSTILE[0], "args": [*HOSTILE[1:], tools_fault("note")], "trust": True}},
        )
        calls = [
            WRITE,
            invoke("bold"),
            ("ask_user", {"questions": [{"question": "May I?", "header": "May", "type": "yesno"}]}),
            ("own__note", {"text": "x"}),
        ]
        return script(env, [invoke("bold")], of("bold", *calls), of("bold", done()))

    def test_everything_is_refused_and_the_agent_named(self, env: ProgramEnv, model: str) -> None:
        result = run(env, model, "--trust")
        assert result.code == 0, result.stderr
        denials = result.json["permission_denials"]
        assert [(each["tool_name"], each["agent_id"]) for each in denials] == [
            (name, "bold#1") for name in ("write_file", "invoke_agent", "ask_user", "own__note")
        ]
        assert not (env.project / "x.txt").exists()

    def test_what_a_flag_allows_is_allowed_and_nothing_else(self, env: ProgramEnv, model: str) -> None:
        denials = run(env, model, "--trust", "--allowed-tools", "write_file").json["permission_denials"]
        assert [each["tool_name"] for each in denials] == ["invoke_agent", "ask_user", "own__note"]
        assert (env.project / "x.txt").exists()

    def test_a_denial_holds_in_yolo_mode(self, env: ProgramEnv, model: str) -> None:
        policies = env.home / ".gemini" / "policies"
        policies.mkdir(parents=True)
        (policies / "a.toml").write_text('[[rule]]\ntoolName = "write_file"\ndecision = "deny"\n')
        denials = run(env, model, "-y").json["permission_denials"]
        assert "write_file" in [each["tool_name"] for each in denials]
        assert not (env.project / "x.txt").exists()


class TestEnds:
    """Check 20."""

    @pytest.mark.parametrize(
        ("answers", "reason", "result"),
        [
            ([of("a", done("Found."))], "GOAL", "Found."),
            ([of("a", say="Hm."), of("a", done("Late."))], "GOAL", "Late."),
            ([of("a", say="Hm."), of("a", say="Well.")], "ERROR_NO_COMPLETE_TASK_CALL", "Well."),
            (
                [of("a", ("glob", {"pattern": "*"})), of("a", ("glob", {"pattern": "?"})), of("a", say="")],
                "MAX_TURNS",
                "Agent reached max turns limit (2).",
            ),
        ],
        ids=["goal", "last request", "text", "turns"],
    )
    def test_the_parent_gets_the_reason(
        self, env: ProgramEnv, answers: Sequence[str], reason: str, result: str
    ) -> None:
        agent(env, "a", tools=["glob"], max_turns=2)
        lines = stream(env, script(env, [invoke("a")], *answers))
        assert parent_result(lines) == f"Subagent 'a' finished.\nTermination Reason: {reason}\nResult:\n{result}"
        [start] = [line for line in lines if line["type"] == "agent_start"]
        [end] = [line for line in lines if line["type"] == "agent_end"]
        assert (start["agent_id"], start["agent_name"], start["prompt"]) == ("a#1", "a", "Do it.")
        assert start["tool_id"] in [line.get("tool_id") for line in lines if line["type"] == "tool_use"]
        assert (end["reason"], end["status"]) == (reason, "success" if reason == "GOAL" else "error")

    def test_lines_of_agents_carry_their_id(self, env: ProgramEnv) -> None:
        agent(env, "a", tools=["glob"])
        model = script(env, [invoke("a")], of("a", ("glob", {"pattern": "*"}), say="I look."), of("a", done()))
        lines = stream(env, model)
        inner = [line["type"] for line in lines if line.get("agent_id") == "a#1"]
        assert inner == [
            *("agent_start", "message", "message", "tool_use", "tool_result"),
            *("tool_use", "tool_result", "agent_end"),
        ]
        assert [line["type"] for line in lines if "agent_id" not in line] == [
            *("init", "message", "tool_use", "tool_result", "message", "message", "message", "result"),
        ]


class TestMoney:
    """Check 21."""

    def test_an_agent_spends_the_budget_of_the_run(self, env: ProgramEnv) -> None:
        usage = {"prompt": 1000, "output": 0}
        agent(env, "a", tools=["glob"])
        looks = [of("a", ("glob", {"pattern": "*" * number}), usage=usage) for number in range(1, 9)]
        model = env.script("".join([script_answer(calls=[invoke("a")], usage=usage), *looks]))
        env.write_user_settings(model={"prices": {model: {"input": 4.0, "cached": 0.0, "output": 0.0}}})
        result = run(env, model, "--max-cost", "0.01")
        assert result.code == 53, result.stderr
        found = result.json
        assert found["cost_usd"] == pytest.approx(0.012)
        assert found["stats"]["agents"]["byName"]["a"]["cost_usd"] == pytest.approx(0.008)
        assert found["stats"]["agents"]["byName"]["a"]["outcomes"] == {"BUDGET": 1}
        [requests] = [model["api"]["totalRequests"] for model in found["stats"]["models"].values()]
        assert requests == 3


class TestSideBySide:
    """Check 22."""

    @pytest.fixture
    def model(self, env: ProgramEnv) -> str:
        for name in "ab":
            (env.project / f"{name}.txt").write_text(f"{name}\n")
        agent(env, "reader", tools=["read_file"])
        agent(env, "writer", tools=["read_file", "write_file"])

        def reads(number: int, name: str) -> list[str]:
            look = script_answer(calls=[("read_file", {"path": name})], purpose=f"agent:reader#{number}", say="I read.")
            return [look, script_answer(calls=[done(name)], purpose=f"agent:reader#{number}")]

        return script(
            env,
            [invoke("reader"), invoke("reader"), invoke("writer")],
            *reads(1, "a.txt"),
            *reads(2, "b.txt"),
            of("writer", WRITE),
            of("writer", done()),
        )

    @staticmethod
    def order(lines: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
        return [(line["type"], line["agent_id"]) for line in lines if line["type"].startswith("agent_")]

    def test_readers_overlap_and_the_writer_is_alone(self, env: ProgramEnv, model: str) -> None:
        order = self.order(stream(env, model, "-y"))
        assert order[:2] == [("agent_start", "reader#1"), ("agent_start", "reader#2")]
        assert order[4:] == [("agent_start", "writer#1"), ("agent_end", "writer#1")]

    def test_a_recording_replays_the_same(self, env: ProgramEnv, model: str) -> None:
        recording = str(env.base / "recording.jsonl")
        first = run(env, model, "-y", "--record", recording)
        assert first.code == 0, first.stderr
        (env.project / "x.txt").unlink()
        for _ in range(3):
            again = env.run("-p", "go", "-o", "json", "--sandbox", "off", "-y", "--replay", recording)
            assert again.code == 0, again.stderr
            assert again.json["response"] == first.json["response"]
            assert again.json["stats"]["agents"]["byName"].keys() == first.json["stats"]["agents"]["byName"].keys()
            (env.project / "x.txt").unlink()

    def test_another_content_names_the_lane(self, env: ProgramEnv, model: str) -> None:
        recording = str(env.base / "recording.jsonl")
        assert run(env, model, "-y", "--record", recording).code == 0
        (env.project / "x.txt").unlink()
        (env.project / "b.txt").write_text("changed\n")
        again = env.run("-p", "go", "-o", "json", "--sandbox", "off", "-y", "--replay", recording)
        assert "agent:reader#2" in again.stdout + again.stderr


class TestMcpToolsSideBySide:
    """A server's claim that its tool only reads counts if the user trusts the server and a rule says so."""

    RULE = '[[rule]]\ntoolName = "mcp_db_look"\ntoolAnnotations = { readOnlyHint = true }\ndecision = "allow"\n'
    ALLOWED = '[[rule]]\ntoolName = "mcp_db_*"\ndecision = "allow"\n'

    def order(self, env: ProgramEnv, *, rule: str, trust: bool = True, tool: str = "look") -> list[tuple[str, str]]:
        entry = {"command": HOSTILE[0], "args": HOSTILE[1:], "startTimeout": 60_000, "trust": trust}
        env.write_user_settings(mcpServers={"db": entry})
        rules = env.home / ".gemini" / "policies"
        rules.mkdir()
        (rules / "mine.toml").write_text(rule)
        agent(env, "reader", tools=["read_file", f"mcp_db_{tool}"])

        def looks(number: int) -> list[str]:
            purpose = f"agent:reader#{number}"
            call = script_answer(calls=[(f"mcp_db_{tool}", {})], purpose=purpose, say="I look.")
            return [call, script_answer(calls=[done()], purpose=purpose)]

        model = script(env, [invoke("reader"), invoke("reader")], *looks(1), *looks(2))
        lines = stream(env, model, "--trust", "-y")
        results = [line for line in lines if line["type"] == "tool_result" and "agent_id" in line]
        assert [result["status"] for result in results] == ["success"] * 4
        return TestSideBySide.order(lines)

    def test_a_rule_about_a_trusted_server(self, env: ProgramEnv) -> None:
        started = self.order(env, rule=self.RULE)[:2]
        assert started == [("agent_start", "reader#1"), ("agent_start", "reader#2")]

    @pytest.mark.parametrize(
        ("rule", "trust", "tool"),
        [("", True, "look"), (ALLOWED, True, "look"), (RULE, False, "look"), (ALLOWED + RULE, True, "add")],
        ids=["only a claim", "allowed without the annotation", "not trusted", "no claim"],
    )
    def test_otherwise_one_after_the_other(self, env: ProgramEnv, rule: str, trust: bool, tool: str) -> None:
        assert self.order(env, rule=rule, trust=trust, tool=tool) == [
            ("agent_start", "reader#1"),
            ("agent_end", "reader#1"),
            ("agent_start", "reader#2"),
            ("agent_end", "reader#2"),
        ]
