"""Which model a sub-agent asks."""

from pathlib import Path

import pytest

from support.program import ProgramEnv, script_answer
from support.subagents import SubagentEnv, done, invoke
from tejat.core.agent.events import Noticed


@pytest.fixture
def agents(tmp_path: Path) -> SubagentEnv:
    return SubagentEnv(ProgramEnv(tmp_path.resolve()))


def test_a_model_of_its_own(agents: SubagentEnv) -> None:
    complete = [("complete_task", {"result": "Mine."})]
    answers = script_answer(calls=complete, purpose="agent:a") + script_answer(calls=complete)
    own = agents.env.script(answers, "own.toml")
    agents.agent("a", tools=[], model=own)
    session = agents.run({"main": [invoke("a"), "ok"]})
    assert session.started[0].model == own
    assert session.results()[0].endswith("Mine.")


def test_a_model_that_cannot_be_had_is_replaced_and_reported_once(agents: SubagentEnv) -> None:
    agents.agent("a", tools=[], model="no-such-service:model")
    session = agents.run({"main": [[invoke("a"), invoke("a")], "ok"], "agent:a#1": [done()], "agent:a#2": [done()]})
    assert [started.model for started in session.started] == ["lanes", "lanes"]
    notices = [event.message for event in session.events if isinstance(event, Noticed)]
    assert len([notice for notice in notices if "no-such-service:model" in notice]) == 1
