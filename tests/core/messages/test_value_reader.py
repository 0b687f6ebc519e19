"""Only what a value can be is read: mistakes are named with their path, and what is accepted is written as it was."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tejat
from support.public_values import NOT_VALUES, instances, json_values, value_classes
from tejat.core.approval.confirmation import ApprovalReply, Outcome
from tejat.core.frozen import Value
from tejat.core.messages.value_reader import InvalidValue, _fields, readable_classes, value_from_json
from tejat.core.value_json import event_from_dict

CALL = {"$": "FunctionCall", "name": "glob", "args": {"pattern": "*"}, "id": "1", "signature": None}
CHANGED = {"$": "StateChanged", "index": 0, "call": CALL, "state": "executing"}
PICTURE = {"$": "InlineData", "mime_type": "image/png", "data": {"$bytes": "iQ=="}}
RESULT = tejat.ToolResult(["a", tejat.InlineData("image/png", b"\x89")]).to_dict()


def changed(dictionary: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**dictionary, **changes}


class TestMistakes:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (None, "expected an event, got null"),
            (3, "expected an event, got an integer"),
            ([], "expected an event, got an array"),
            ({}, "expected an event as an object with `$`, got an object"),
            ({"$": "Popen"}, "unknown class 'Popen'"),
            ({"$": ["TextStreamed"]}, "unknown class ['TextStreamed']"),
            ({"$": "Hook", "function": "x"}, "expected an event, got Hook"),
            (RESULT, "expected an event, got ToolResult"),
            ({"$": "TextStreamed"}, "text: missing, and TextStreamed needs it"),
            ({"$": "TextStreamed", "text": "x", "more": 1}, "more: unknown field of TextStreamed"),
            ({"$": "TextStreamed", "text": 5}, "text: expected a string, got an integer"),
            (changed(CHANGED, index=True), "index: expected an integer, got a boolean"),
            (changed(CHANGED, index=1.0), "index: expected an integer, got a number"),
            (changed(CHANGED, state=5), "state: expected one of 'validating', "),
            (changed(CHANGED, call=None), "call: expected FunctionCall, got null"),
            (changed(CHANGED, call=PICTURE), "call: expected FunctionCall, got InlineData"),
            (changed(CHANGED, call=changed(CALL, args="x")), "call.args: expected an object, got a string"),
            (changed(CHANGED, call=changed(CALL, id=5)), "call.id: expected a string or null, got an integer"),
            (
                changed(CHANGED, call=changed(CALL, args={"$": "x"})),
                "call.args: expected a plain object, got x",
            ),
            (
                changed(CHANGED, call=changed(CALL, args={"$object": {"a": 1}})),
                "call.args['$object']: expected a key such as `$` in it",
            ),
            (
                changed(CHANGED, call=changed(CALL, args={"a b": [1, (2,)]})),
                "call.args['a b'][1]: expected JSON, got the Python type tuple",
            ),
            (changed(CHANGED, call=changed(CALL, args={1: 2})), "call.args: the key 1 is not a string"),
        ],
    )
    def test_of_events(self, wrong: Any, message: str) -> None:
        with pytest.raises(InvalidValue) as caught:
            event_from_dict(wrong)
        assert str(caught.value).startswith(message)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (changed(RESULT, llm_content=5), "llm_content: expected a string or an array or Text or "),
            (changed(RESULT, llm_content=["a", 5]), "llm_content[1]: expected a string or Text or InlineData "),
            (changed(RESULT, llm_content=changed(PICTURE, data="x")), "llm_content.data: expected bytes as "),
            (
                changed(RESULT, llm_content=changed(PICTURE, data={"$bytes": "***"})),
                "llm_content.data['$bytes']: expected base64",
            ),
            (
                changed(RESULT, llm_content=changed(PICTURE, data={"$bytes": "iR=="})),
                "llm_content.data['$bytes']: expected base64",
            ),
            ({"$": "Hook", "function": "x"}, "expected a value, got Hook"),
            (
                {"$": "ModelRequest", "messages": [], "capabilities": {"$set": ["search", "search"]}},
                "capabilities",
            ),
            ({"$": "Price", "input": 1, "output": 1, "cached": 1, "steps": [[1]]}, "steps[0]: expected an array of 2 "),
            ({"$": "HookReply", "decision": "maybe"}, "decision: expected one of 'allow', 'ask', 'deny', got 'maybe'"),
        ],
    )
    def test_of_values(self, wrong: Any, message: str) -> None:
        with pytest.raises(InvalidValue) as caught:
            Value.from_dict(wrong)
        assert str(caught.value).startswith(message)

    def test_the_path_goes_through_arrays(self) -> None:
        message = tejat.Message(tejat.Role.MODEL, (tejat.Text("a"), tejat.FunctionCall("x", {"a": [1]})))
        given = message.to_dict()
        given["parts"][1]["args"]["a"][0] = {"b": object()}
        with pytest.raises(
            InvalidValue, match=r"^parts\[1\]\.args\.a\[0\]\.b: expected JSON, got the Python type object$"
        ):
            tejat.Message.from_dict(given)

    def test_what_is_nested_too_deeply(self) -> None:
        args: dict[str, Any] = {}
        for _ in range(100_000):
            args = {"a": args}
        with pytest.raises(InvalidValue, match="nested too deeply"):
            event_from_dict(changed(CHANGED, call=changed(CALL, args=args)))


def test_every_class_but_those_with_functions_can_be_read() -> None:
    unreadable: set[str] = set()
    for name, cls in readable_classes().items():
        try:
            _fields(cls)
        except TypeError:
            unreadable.add(name)
    assert unreadable <= {*NOT_VALUES}
    assert "Hook" in unreadable


def test_fields_with_a_default_may_be_missing() -> None:
    assert value_from_json({"$": "ApprovalReply", "outcome": "cancel"}, ApprovalReply) == ApprovalReply(Outcome.CANCEL)


def test_whole_numbers_are_numbers() -> None:
    ended = tejat.RunEnded.from_dict({"$": "RunEnded", "reason": "finished", "seconds": 3})
    assert (ended.seconds, ended.to_dict()["seconds"]) == (3, 3)


def test_contents_are_copied() -> None:
    given = copy.deepcopy(CALL)
    call = tejat.FunctionCall.from_dict(given)
    given["args"]["pattern"] = "changed"  # pyright: ignore[reportIndexIssue, reportArgumentType, reportOptionalSubscript]
    assert call.args == {"pattern": "*"}


STRANGE = st.sampled_from(
    [
        *(None, True, 0, -1, 1.5, 2**70, "", "x", "\ud800", [], {}, (), b"x", {"a"}, object(), float("inf"), {1: 2}),
        *({"$": "Text"}, {"$": "FunctionCall"}, {"$bytes": "eA=="}, {"$bytes": 1}, {"$set": []}, {"$object": {}}),
        *({"$": "Text", "text": "x"}, {"$object": {"$": 1}}, {"$set": ["a", "a"]}, [[]], [{}], ["x"], {"": {}}),
    ]
).map(copy.deepcopy)
KEYS = st.sampled_from(["$", "$bytes", "$object", "more", "text", "name", 5])


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything in a dictionary."""
    steps = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    return [path, *(each for key, inner in steps for each in places(inner, (*path, key)))]


def mutate(data: st.DataObject, dictionary: dict[str, Any]) -> Any:
    root: Any = {"root": copy.deepcopy(dictionary)}
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from(places(root)[1:]))
        node = root
        for step in way:
            node = node[step]
        match data.draw(st.sampled_from(["replace", "delete", "add", "json", "borrow"])):
            case "replace":
                node[last] = data.draw(STRANGE)
            case "json":
                node[last] = data.draw(json_values)
            case "borrow":
                node[last] = copy.deepcopy(data.draw(instances(data.draw(st.sampled_from(value_classes())))).to_dict())
            case "delete" if node is not root:
                del node[last]
            case _ if isinstance(node, dict):
                node[data.draw(KEYS)] = data.draw(STRANGE)
            case _:
                node.insert(0, data.draw(STRANGE))
        if "root" not in root:
            return None
    return root["root"]


def covers(written: Any, given: Any) -> bool:
    """Whether what was given was written again, with the defaults of absent fields and sets in any order."""
    if isinstance(given, dict) and "$" in given and isinstance(written, dict) and "$" in written:
        return given.keys() <= written.keys() and all(covers(written[key], each) for key, each in given.items())
    if isinstance(given, dict) and isinstance(written, dict):
        if given.keys() == written.keys() == {"$set"} and isinstance(given["$set"], list):
            return sorted(map(str, given["$set"])) == sorted(map(str, written["$set"]))
        return given.keys() == written.keys() and all(covers(written[key], each) for key, each in given.items())
    if isinstance(given, list) and isinstance(written, list):
        return len(given) == len(written) and all(map(covers, written, given))
    return type(given) is type(written) and given == written


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_changed_dictionaries_are_refused_or_read_as_they_are(data: st.DataObject) -> None:
    cls = data.draw(st.sampled_from(value_classes()))
    dictionary = json.loads(json.dumps(data.draw(instances(cls)).to_dict()))
    given = mutate(data, dictionary)
    for read in (cls.from_dict, Value.from_dict, event_from_dict):
        try:
            value = read(given)
        except InvalidValue:
            continue
        assert covers(value.to_dict(), given)
