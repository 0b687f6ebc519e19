"""A run killed at any moment is taken up again with everything that it had told."""

import random
import sys
from pathlib import Path

from support.model_servers.gemini import LoopbackServer, Received, Reply, error_reply, find_problem, text_reply
from support.session_kills import TURNS, is_complete_request, kill_and_resume, next_model_parts

KILLS = 25
TEJAT = [sys.executable, "-m", "tejat"]


def respond(received: Received) -> Reply:
    if not is_complete_request(received.headers, received.raw):
        return Reply()
    wrong = find_problem(received)
    return error_reply(400, wrong) if wrong else text_reply(*next_model_parts(received.body))


def test_every_session_resumes_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    chance = random.Random()
    with LoopbackServer(respond) as server:
        environment = {
            "HOME": str(tmp_path),
            "PATH": "/usr/bin:/bin",
            "GEMINI_API_KEY": "a key for tests",
            "GOOGLE_GEMINI_BASE_URL": server.address,
        }
        outcomes = [
            kill_and_resume(
                TEJAT,
                str(tmp_path / f"run-{number:02}"),
                environment,
                lambda: [received.raw for received in server.requests],
                chance,
            )
            for number in range(KILLS)
        ]
    assert [outcome for outcome in outcomes if outcome.missing or outcome.problem] == []
    # Had the kills come too early or too late, all this would prove little.
    assert len({len(outcome.acknowledged) for outcome in outcomes}) > TURNS
