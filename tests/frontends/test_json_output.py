"""One JSON object for a whole run."""

import json

from sample_events import A_RUN, ENDED, FAILED, STARTED, Written, told
from tejat.core.agent_events import EndReason, Noticed, RunEnded, Severity
from tejat.core.types import JsonObject
from tejat.core.value import replace
from tejat.engine.statistics import Statistics
from tejat.frontends.json_output import JsonOutput
from tejat.frontends.output import aside, one_line

HEARD = [one_line(heard) for event in A_RUN if (heard := aside(event))]


def statistics() -> Statistics:
    counting = Statistics(lambda seconds: round(seconds * 1000))
    for event in A_RUN:
        counting.count(event)
    return counting


EMPTY: JsonObject = Statistics(round).to_json()


def test_a_whole_run() -> None:
    written = told(JsonOutput, *A_RUN)
    assert json.loads(written.result) == {
        "version": 1,
        "session_id": "id-1",
        "response": "I look.\nDone.\nReally.",
        "stats": statistics().to_json(),
        "warnings": ["The disk is nearly full.", "The disk is full."],
        "permission_denials": statistics().denials,
        "cost_usd": 0.012346,
    }
    assert written.aside == HEARD


def test_it_is_laid_out_for_reading_and_comes_at_the_very_end() -> None:
    assert told(JsonOutput, *A_RUN[:-1]).result == ""
    written = told(JsonOutput, STARTED, ENDED)
    assert written.result.startswith('{\n  "version": 1,\n  "session_id": "id-1",\n  "response"')
    assert written.result.endswith("}\n")


def test_a_run_that_failed_has_an_error_and_what_was_said_before() -> None:
    written = told(JsonOutput, STARTED, FAILED)
    assert json.loads(written.result) == {
        "version": 1,
        "session_id": "id-1",
        "response": "I look.",
        "stats": EMPTY,
        "error": {"type": "unavailable", "message": "The service is down.", "code": 61},
        "permission_denials": [],
    }
    assert written.aside == ["The service is down."]


def test_one_that_ended_for_a_reason_of_its_own() -> None:
    ended = RunEnded(EndReason.TURN_LIMIT, message="Too many turns.")
    error = json.loads(told(JsonOutput, STARTED, ended).result)["error"]
    assert error == {"type": "turn_limit", "message": "Too many turns.", "code": 53}


def test_a_word_about_a_run_that_went_well_is_a_warning_and_a_note_is_none() -> None:
    noted = Noticed("Just so.", Severity.NOTE)
    written = told(JsonOutput, STARTED, noted, replace(ENDED, message="The model stopped early."))
    found = json.loads(written.result)
    assert (found["warnings"], "error" in found) == (["The model stopped early."], False)
    assert "warnings" not in json.loads(told(JsonOutput, STARTED, noted, ENDED).result)


def test_a_price_that_nobody_knows_is_left_out() -> None:
    assert "cost_usd" not in json.loads(told(JsonOutput, STARTED, replace(ENDED, cost=None)).result)


def test_no_code_for_a_terminal_gets_through() -> None:
    """Also not by what is no answer: what JSON must escape is escaped."""
    nasty = replace(FAILED, text="a\x1b]0;title\x07b\u009b2Jc\n\td", message="\x1b[2J")
    written = told(JsonOutput, replace(STARTED, session_id="\x1b[1m"), nasty)
    assert not set(written.result) & {"\x1b", "\x07", "\x9b"}
    assert json.loads(written.result)["response"] == "abc\n\td"
    assert written.aside == ["<U+001B>[2J"]


def test_without_durations_it_is_the_same_every_time() -> None:
    one = told(JsonOutput, *A_RUN, tells_durations=False)
    other = told(JsonOutput, *A_RUN[:-1], replace(ENDED, seconds=99.0), tells_durations=False)
    assert one == other
    assert '"totalLatencyMs": 0' in one.result
    assert '"totalLatencyMs": 688' not in one.result


def test_what_could_not_be_begun_is_an_object_too() -> None:
    written = Written()
    JsonOutput(written.streams()).fail("There is no key.", name="authentication", code=41)
    assert json.loads(written.result) == {
        "version": 1,
        "error": {"type": "authentication", "message": "There is no key.", "code": 41},
    }
    assert written.aside == ["There is no key."]
