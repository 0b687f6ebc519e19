"""Logs of headless runs, whole and cut off."""

import json

from tejat.integrations.run_events import RunFigures, as_json_object, read_log

INIT = {"type": "init", "session_id": "abc", "model": "gemini:x"}
RESULT = {
    "type": "result",
    "status": "success",
    "stats": {
        "total_tokens": 130,
        "input_tokens": 100,
        "output_tokens": 20,
        "cached": 40,
        "models": {"gemini-x": {"total_tokens": 130, "input_tokens": 100, "output_tokens": 20, "cached": 40}},
    },
    "cost_usd": 0.25,
}


def lines(*events: object) -> list[str]:
    return [json.dumps(event) + "\n" for event in events]


def test_figures_of_a_run() -> None:
    log = read_log(lines(INIT, RESULT))
    assert (log.session_id, log.model, log.error) == ("abc", "gemini:x", "")
    # Thoughts are output.
    assert log.figures == RunFigures(100, 30, 40, 0.25)
    assert log.by_model == {"gemini-x": RunFigures(100, 30, 40, None)}


def test_runs_that_continue_a_session_are_added() -> None:
    log = read_log(lines(INIT, RESULT, INIT, RESULT))
    assert log.figures == RunFigures(200, 60, 80, 0.5)
    assert log.by_model == {"gemini-x": RunFigures(200, 60, 80, None)}
    without_price = {key: value for key, value in RESULT.items() if key != "cost_usd"}
    assert read_log(lines(INIT, RESULT, INIT, without_price)).figures == RunFigures(200, 60, 80, None)


def test_a_failed_run() -> None:
    failed = {"type": "result", "status": "error", "error": {"type": "x", "message": "Too many requests."}}
    log = read_log(lines(failed))
    assert (log.error, log.figures) == ("Too many requests.", RunFigures())
    assert read_log(lines(failed, RESULT)).error == ""


def test_a_log_that_was_cut() -> None:
    log = read_log([*lines(INIT), '{"type":"mess'])
    assert (len(log.events), log.figures, log.error) == (1, None, "")


def test_lines_that_are_no_events() -> None:
    assert read_log(["", "Killed\n", "[]\n", "7\n", "{}\n", '{"type":1}\n', "\ud800\n"]).events == ()
    assert read_log(lines({"type": "result", "stats": "?", "cost_usd": "?"})).figures == RunFigures()


def test_as_json_object() -> None:
    assert (as_json_object({"a": 1}), as_json_object([1]), as_json_object(None)) == ({"a": 1}, {}, {})
