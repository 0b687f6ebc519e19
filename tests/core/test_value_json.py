"""Tests of the JSON form of values, with instances of every class that has one."""

import json
from types import MappingProxyType
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tejat
from support.public_values import NOT_VALUES, comparable, instances, public_classes, value_classes
from tejat.core.agent import questions
from tejat.core.agent.events import Noticed, TextStreamed
from tejat.core.approval.confirmation import ApprovalReply, EditConfirmation
from tejat.core.frozen import Value, is_frozen
from tejat.core.i18n import lazy
from tejat.core.messages.value_reader import InvalidValue, value_from_json
from tejat.core.ui import commands, prompter, report, status
from tejat.core.value_json import event_from_dict, value_to_json

SENT = (
    *(ApprovalReply, questions.PendingQuestion, status.Status, status.Preferences, status.ModeChange, report.Report),
    *(commands.CommandSummary, commands.CompletionItem, commands.AgentSummary, *get_args(commands.CommandAction)),
    *(prompter.Choice, prompter.ChoicePreview),
)


@pytest.mark.parametrize("cls", SENT, ids=lambda cls: cls.__name__)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_front_ends_get_besides_events(cls: type, data: st.DataObject) -> None:
    value = data.draw(instances(cls))
    assert comparable(value_from_json(json.loads(json.dumps(value_to_json(value))), cls)) == comparable(value)


def test_a_proposal_stays_with_the_tool() -> None:
    edit = EditConfirmation("t", "f", "/f", "diff", None, "new", digest="d", proposal=object())
    received = value_from_json(value_to_json(edit), EditConfirmation)
    assert (received.proposal, received.digest) == (None, "d")


def test_texts_for_the_user_are_sent_as_text() -> None:
    assert value_to_json(Noticed(lazy("{count} files", count=3))) == {
        "$": "Noticed",
        "message": "3 files",
        "severity": "warning",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        3,
        {},
        {"$": "Popen", "args": "sh"},
        {"$": "TextStreamed"},
        {"$": "TextStreamed", "text": "x", "more": 1},
        {"$": "Severity", "value": "none"},
        {"$": "Noticed", "message": "x", "severity": {"$": "Severity", "value": "loud"}},
        {"$": "ExecConfirmation", "title": "t", "command": "c", "directory": "/"},
        {"$bytes": "***"},
        {"$": ["TextStreamed"]},
        [{"$": "TextStreamed", "text": "x"}],
    ],
)
def test_anything_else_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidValue):
        event_from_dict(wrong)


class TestPublicValues:
    @pytest.mark.parametrize("cls", value_classes(), ids=lambda cls: cls.__name__)
    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(data=st.data())
    def test_a_dict_holds_all_of_a_value(self, cls: type[Value], data: st.DataObject) -> None:
        value = data.draw(instances(cls))
        read = json.loads(json.dumps(value.to_dict()))
        assert read["$"] == cls.__name__
        for restored in (cls.from_dict(read), Value.from_dict(read)):
            assert comparable(restored) == comparable(value)

    def test_every_public_frozen_class_is_a_value(self) -> None:
        frozen = [cls for cls in public_classes() if is_frozen(cls)]
        assert {cls.__name__ for cls in frozen if not issubclass(cls, Value)} == set(NOT_VALUES)
        assert len(value_classes()) > 50

    def test_a_class_reads_its_own_values_only(self) -> None:
        with pytest.raises(InvalidValue, match="expected RunEnded, got TextStreamed"):
            tejat.RunEnded.from_dict(TextStreamed("x").to_dict())
        assert tejat.event_from_dict(TextStreamed("x").to_dict()) == TextStreamed("x")
        with pytest.raises(InvalidValue, match="expected an event, got ToolResult"):
            tejat.event_from_dict(tejat.ToolResult("x").to_dict())

    def test_lists_stay_lists(self) -> None:
        result = tejat.ToolResult(["a", tejat.InlineData("image/png", b"\x89")])
        assert tejat.ToolResult.from_dict(result.to_dict()) == result

    def test_enums_are_their_values_and_objects_are_plain(self) -> None:
        call = tejat.FunctionCall("glob", {"pattern": "*"}, id="1")
        event = tejat.StateChanged(0, call, tejat.CallState.EXECUTING)
        assert event.to_dict() == {
            "$": "StateChanged",
            "index": 0,
            "call": {"$": "FunctionCall", "name": "glob", "args": {"pattern": "*"}, "id": "1", "signature": None},
            "state": "executing",
        }

    @pytest.mark.parametrize("content", [object(), {1: "a"}, {"a": object()}, {"a": b"x"}, {"a": {"b"}}])
    def test_what_is_not_json_is_refused_at_once(self, content: Any) -> None:
        with pytest.raises(TypeError, match=r"has no JSON form|not a string"):
            tejat.FunctionCall("x", content).to_dict()

    def test_read_only_mappings_and_tuples_become_json(self) -> None:
        call = tejat.FunctionCall("x", MappingProxyType({"a": (1, 2), "b": MappingProxyType({})}))
        assert json.loads(json.dumps(call.to_dict()))["args"] == {"a": [1, 2], "b": {}}
