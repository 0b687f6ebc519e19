"""One job on a Ray cluster. Everything that needs a cluster is in `test_cluster.py`."""

from tejat.batch.engines.ray.submission import share_rates, with_warnings
from tejat.batch.engines.ray.worker import ReplyKind, WorkerReply
from tejat.batch.result import TaskResult, TaskStatus, result_to_json


def test_each_machine_gets_its_part_of_the_rates() -> None:
    assert share_rates({"gemini": 60.0, "openai": 10.0}, 4) == {"gemini": 15.0, "openai": 2.5}
    assert share_rates({"gemini": 60.0}, 0) == {"gemini": 60.0}
    assert share_rates({}, 3) == {}


def test_files_that_were_too_large_are_reported() -> None:
    result = TaskResult("t", TaskStatus.PASSED, patch="tasks/t/patch.diff", warnings=("one",))
    reply = WorkerReply(ReplyKind.DONE, "node", "host", result=result_to_json(result))
    assert with_warnings(result, reply.shortened) == result
    cut = with_warnings(result, ("events.jsonl",))
    assert cut.patch == "tasks/t/patch.diff"
    assert cut.warnings == ("one", "events.jsonl was too large to be sent from the node, and is not complete.")
    assert with_warnings(result, ("patch.diff",)).patch == ""
