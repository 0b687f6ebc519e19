"""Tests of checked members of messages."""

import pytest

from tejat.core.approval.confirmation import ApprovalReply, Outcome
from tejat.core.value_json import value_to_json
from tejat.ui.jsonrpc.peer import RequestError
from tejat.ui.remote.params import read_items, read_param


def test_values_of_the_expected_class() -> None:
    reply = ApprovalReply(Outcome.PROCEED_ONCE)
    assert read_param({"reply": value_to_json(reply)}, "reply", ApprovalReply) == reply
    assert read_param({"a": 1.5}, "a", (int, float)) == 1.5
    assert read_items({"a": ["x", "y"]}, "a", str) == ("x", "y")


@pytest.mark.parametrize("value", [None, 1, [], {}, {"$": "Outcome", "value": "proceed_once"}, {"$": "Unknown"}])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(RequestError, match="reply is invalid") as refused:
        read_param({"reply": value}, "reply", ApprovalReply)  # pyright: ignore[reportArgumentType]
    assert refused.value.code == -32602


def test_items_have_to_be_in_an_array() -> None:
    with pytest.raises(RequestError, match="a must be an array"):
        read_items({"a": "xy"}, "a", str)
    with pytest.raises(RequestError, match="a is invalid"):
        read_items({"a": ["x", 1]}, "a", str)
