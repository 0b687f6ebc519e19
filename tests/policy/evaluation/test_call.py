import json
from typing import Any

import pytest

from tejat.core.messages.declaration import Kind
from tejat.policy.evaluation.call import Call
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier

ROOTS = ("/w/project", "/w/project/inner")


def call(**fields: Any) -> Call:
    known: dict[str, Any] = {
        "tool": "read_file",
        "kind": Kind.READ,
        "arguments": {},
        "roots": ROOTS,
        "home": "/home/me",
    }
    return Call(CallFacts(**(known | fields)))


def rule(decision: Decision = Decision.DENY, **fields: Any) -> PolicyRule:
    return PolicyRule(decision, Tier.USER, "x", **fields)


def test_arguments_are_written_alike_whatever_their_order() -> None:
    assert (
        call(arguments={"b": [1, {"d": 2, "c": "ü"}], "a": None}).arguments_json.text
        == '{"a":null,"b":[1,{"c":"ü","d":2}]}'
    )
    assert call(arguments={"x": {1}}).arguments_json.text == '{"x":"{1}"}'
    assert json.loads(call(arguments={"x": "\n"}).arguments_json.text) == {"x": "\n"}


def test_arguments_that_hold_themselves_are_an_error() -> None:
    arguments: dict[str, object] = {}
    arguments["again"] = arguments
    with pytest.raises((ValueError, RecursionError)):
        _ = call(arguments=arguments).arguments_json.text


@pytest.mark.parametrize(
    ("given", "fields", "meant"),
    [
        (rule(), {}, True),
        (rule(tool="write_file"), {}, False),
        (rule(project="/w/project"), {}, True),
        (rule(project="/w"), {}, False),
        (rule(arguments='"path":"a'), {"arguments": {"path": "abc"}}, True),
        (rule(arguments='"path":"a'), {"arguments": {"path": "bc"}}, False),
        (rule(path="a/**"), {"paths": ("/w/project/a/b",)}, True),
        (rule(path="a/**"), {"paths": ("/w/project/c", "/w/project/a/b")}, True),
        (rule(path="a/**"), {"paths": ("/w/project/c",)}, False),
        (rule(path="a/**"), {}, False),
        (rule(Decision.ALLOW, path="a/**"), {"paths": ("/w/project/a/b",)}, True),
        (rule(Decision.ALLOW, path="a/**"), {"paths": ("/w/project/c", "/w/project/a/b")}, False),
        (rule(Decision.ALLOW, path="a/**"), {}, False),
        (rule(Decision.ASK, path="a/**"), {"paths": ("/w/project/c", "/w/project/a/b")}, True),
        (rule(command=("ls",)), {}, False),
    ],
)
def test_is_meant_by(given: PolicyRule, fields: dict[str, object], meant: bool) -> None:
    assert call(**fields).matches_rule(given) == meant


def test_a_control_file_is_told_with_its_reason() -> None:
    told = call(paths=("/w/project/a", "/w/project/.envrc")).control_file_warning()
    assert told == "/w/project/.envrc is a control file: a shell or a session runs it at startup"
    assert call(paths=("/w/project/a",)).control_file_warning() is None


def test_names_above_the_nearest_root_do_not_count() -> None:
    assert call(roots=("/r", "/r/.vscode/x"), paths=("/r/.vscode/x/a",)).control_file_warning() is None
    assert call(roots=("/r",), paths=("/r/.vscode/x/a",)).control_file_warning()
    assert call(roots=("/r",), paths=("/elsewhere/.vscode/x/a",)).control_file_warning()
