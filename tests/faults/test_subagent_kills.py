"""A session that is killed while its sub-agents work is resumed with a legal history, and no event is lost."""

import random
import sys
from pathlib import Path

from support.agent_kills import define_agents, kill_with_agents, next_parts
from support.model_servers.gemini import LoopbackServer, Received, Reply, error_reply, find_problem, text_reply
from support.session_kills import is_complete_request

KILLS = 8
TEJAT = [sys.executable, "-m", "tejat"]


def respond(received: Received) -> Reply:
    if not is_complete_request(received.headers, received.raw):
        return Reply()
    wrong = find_problem(received)
    return error_reply(400, wrong) if wrong else text_reply(*next_parts(received.body))


def test_every_session_resumes_and_no_event_of_an_agent_is_lost(tmp_path: Path) -> None:
    define_agents(str(tmp_path))
    chance = random.Random()
    with LoopbackServer(respond) as server:
        environment = {
            "HOME": str(tmp_path),
            "PATH": "/usr/bin:/bin",
            "GEMINI_API_KEY": "a key for tests",
            "GOOGLE_GEMINI_BASE_URL": server.address,
        }
        outcomes = [
            kill_with_agents(
                TEJAT,
                str(tmp_path / f"run-{number}"),
                environment,
                lambda: [request.raw for request in server.requests],
                chance,
            )
            for number in range(KILLS)
        ]
    assert [(each.moment, each.missing, each.problem) for each in outcomes if each.missing or each.problem] == []
    assert any(fact[0] == "agent" for each in outcomes for fact in each.acknowledged)
