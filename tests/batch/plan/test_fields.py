"""Every field has a type, a range, and an error that names field, value and what is expected."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.batch.plan.fields import (
    FIELD_NAMES,
    IGNORED_FIELDS,
    GivenFields,
    did_you_mean,
    parse_fields,
    readable_id,
    rename_fields,
    show_value,
)
from tejat.batch.plan.types import InvalidTask
from tejat.core.sanitize import sanitize_line


def refusal(**values: object) -> str:
    with pytest.raises(InvalidTask) as caught:
        parse_fields(values)
    return str(caught.value)


class TestValues:
    def test_all_fields(self) -> None:
        found = parse_fields(
            {
                "id": "a",
                "repo": "r",
                "commit": "main",
                "prompt": "p",
                "model": "m",
                "timeout": 60,
                "max_cost": 0.5,
                "max_tokens": 1e6,
                "max_turns": 7,
                "allowed_tools": ["a", "b"],
                "exclude_tools": "c, d",
                "approval_mode": "yolo",
                "sandbox": "podman",
                "trust": True,
                "check": "true",
                "check_timeout": 5,
                "allow_no_changes": False,
                "allow_dirty": True,
                "vars": {"a": "b", "n": 1, "f": 1.5, "yes": True, "none": None},
            }
        )
        assert found == GivenFields(
            *(
                "a",
                "r",
                "main",
                "p",
                None,
                None,
                "m",
                60.0,
                0.5,
                1_000_000,
                7,
                ("a", "b"),
                ("c", "d"),
                "yolo",
                "podman",
            ),
            *(True, "true", 5.0, False, True),
            {"a": "b", "n": "1", "f": "1.5", "yes": "true", "none": ""},
        )
        assert (type(found.timeout), type(found.max_tokens)) == (float, int)

    def test_null_is_not_given(self) -> None:
        assert parse_fields(dict.fromkeys(FIELD_NAMES)) == GivenFields()

    def test_an_id_may_be_a_number(self) -> None:
        assert parse_fields({"id": 7}).id == "7"

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (True, "required"),
            (False, "off"),
            ("true", "required"),
            ("0", "off"),
            ("AUTO", "auto"),
            ("off", "off"),
            ("docker", "docker"),
            ("sandbox-exec", "sandbox-exec"),
        ],
    )
    def test_sandbox_words(self, given: object, expected: str) -> None:
        assert parse_fields({"sandbox": given}).sandbox == expected

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ([], ()),
            ("", ()),
            ("a", ("a",)),
            (" a ,, b,", ("a", "b")),
            ("read_file, run_shell_command(git log, all), x", ("read_file", "run_shell_command(git log, all)", "x")),
        ],
    )
    def test_lists_of_tools(self, given: object, expected: tuple[str, ...]) -> None:
        assert parse_fields({"allowed_tools": given}).allowed_tools == expected

    @pytest.mark.parametrize("commit", ["main", "HEAD~2", "HEAD^", "v1.0", "feature/a-b", "0a1b2c", "", "@"])
    def test_commits(self, commit: str) -> None:
        assert parse_fields({"commit": commit}).commit == commit


SANDBOXES = "auto, required, off, docker, podman, runsc, lxc, sandbox-exec, windows-native"


class TestRefusals:
    @pytest.mark.parametrize(
        ("field", "value", "message"),
        [
            ("id", "", "id is empty."),
            ("id", " \t", "id is empty."),
            ("id", "x" * 201, "id has 201 characters. At most 200 are allowed."),
            ("id", "a\x1b[2J", 'id contains control characters: "a\\u001b[2J"'),
            ("id", "a\nb", 'id contains control characters: "a\\nb"'),
            ("id", "a\u202eb", 'id contains control characters: "a<U+202E>b"'),
            ("id", True, "id must be text, not true."),
            ("id", 1.5, "id must be text, not 1.5."),
            ("prompt", 7, "prompt must be text, not 7."),
            ("prompt", "a\0b", "prompt contains a NUL character."),
            ("prompt", "a\ud800", "prompt is not valid Unicode: it contains half of a surrogate pair."),
            ("repo", "", "repo is empty."),
            ("repo", ["a"], 'repo must be text, not ["a"].'),
            ("repo", "a\nb", 'repo must be one line, not "a\\nb".'),
            ("model", " ", "model is empty."),
            ("commit", "--upload-pack=x", 'commit must be a hash, a branch or a tag, not "--upload-pack=x".'),
            ("commit", "a b", 'commit must be a hash, a branch or a tag, not "a b".'),
            ("commit", "a..b", 'commit must be a hash, a branch or a tag, not "a..b".'),
            ("commit", ":/fix", 'commit must be a hash, a branch or a tag, not ":/fix".'),
            ("timeout", -1, "timeout must be a number greater than 0, not -1."),
            ("timeout", 0, "timeout must be a number greater than 0, not 0."),
            ("timeout", "60", 'timeout must be a number greater than 0, not "60".'),
            ("timeout", True, "timeout must be a number greater than 0, not true."),
            ("timeout", float("nan"), "timeout must be a number greater than 0, not nan."),
            ("timeout", float("inf"), "timeout must be a number greater than 0, not inf."),
            ("max_cost", -0.1, "max_cost must be a number greater than 0, not -0.1."),
            ("max_tokens", 1.5, "max_tokens must be an integer greater than 0, not 1.5."),
            ("max_tokens", float("nan"), "max_tokens must be an integer greater than 0, not nan."),
            ("max_turns", 0, "max_turns must be an integer greater than 0, not 0."),
            ("max_turns", True, "max_turns must be an integer greater than 0, not true."),
            ("trust", "yes", 'trust must be true or false, not "yes".'),
            ("trust", 1, "trust must be true or false, not 1."),
            (
                "allowed_tools",
                {"a": 1},
                'allowed_tools must be a list of tools, or text separated by commas, not {"a":1}.',
            ),
            (
                "allowed_tools",
                ["a", 1],
                'allowed_tools must be a list of tools, or text separated by commas, not ["a",1].',
            ),
            ("allowed_tools", [""], "allowed_tools is empty."),
            ("exclude_tools", "a(b", 'exclude_tools: the parentheses of "a(b" do not match.'),
            ("exclude_tools", "a)b(", 'exclude_tools: the parentheses of "a)b(" do not match.'),
            (
                "approval_mode",
                "yollo",
                'approval_mode must be one of default, auto_edit, yolo, plan, not "yollo". Did you mean yolo?',
            ),
            ("approval_mode", 1, "approval_mode must be one of default, auto_edit, yolo, plan, not 1."),
            (
                "sandbox",
                "dokcer",
                f'sandbox must be one of {SANDBOXES}, not "dokcer". Did you mean docker?',
            ),
            ("vars", [], "vars must be an object, not []."),
            ("vars", {"a": [1]}, "vars.a must be text, a number, true or false, not [1]."),
            ("vars", {"a": "\0"}, "vars.a contains a NUL character."),
            ("promt", "x", 'Unknown field "promt". Did you mean prompt?'),
            ("colour", "x", 'Unknown field "colour". Put variables for templates into vars.'),
            ("patch", "x", 'Unknown field "patch". Put variables for templates into vars.'),
        ],
    )
    def test_messages(self, field: str, value: object, message: str) -> None:
        assert refusal(**{field: value}) == message

    def test_an_unknown_field_without_a_value_is_one(self) -> None:
        assert refusal(promt=None) == 'Unknown field "promt". Did you mean prompt?'

    def test_a_long_value_is_cut(self) -> None:
        message = refusal(trust="x" * 10_000)
        assert len(message) < 200
        assert message.endswith("xxx....")


ROW: dict[str, object] = {
    "repo": "django/django",
    "instance_id": "django__django-1",
    "base_commit": "abc",
    "problem_statement": "It fails.",
    **dict.fromkeys(IGNORED_FIELDS, "secret"),
}


class TestNamesOfSweBench:
    def test_a_row_is_a_task(self) -> None:
        found = parse_fields(ROW)
        assert (found.id, found.commit, found.problem_statement) == ("django__django-1", "abc", "It fails.")
        assert "secret" not in repr(found)

    def test_our_names_precede(self) -> None:
        assert rename_fields({"instance_id": "a", "id": "b", "base_commit": "c", "commit": None}) == {
            "id": "b",
            "commit": "c",
        }

    def test_only_a_row_of_swe_bench_may_have_its_fields(self) -> None:
        with pytest.raises(InvalidTask, match="Unknown field"):
            parse_fields({name: value for name, value in ROW.items() if name != "instance_id"})


class TestId:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ({"id": "a", "timeout": -1}, "a"),
            ({"instance_id": "b"}, "b"),
            ({"id": "a\0"}, ""),
            ({"id": ["a"]}, ""),
            ({"id": None}, ""),
            ({}, ""),
        ],
    )
    def test_is_read_from_a_record_that_is_wrong_otherwise(self, values: dict[str, object], expected: str) -> None:
        assert readable_id(values) == expected


def test_suggestions() -> None:
    assert did_you_mean("tymeout", FIELD_NAMES) == " Did you mean timeout?"
    assert did_you_mean("x" * 10_000, FIELD_NAMES) == ""
    assert did_you_mean("", FIELD_NAMES) == ""


def test_shown_values() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert show_value(deep) == "list"
    assert show_value(date(2026, 1, 2)) == "2026-01-02"
    assert show_value("\x1b\n\u200b") == '"\\u001b\\n<U+200B>"'
    while deep:  # a list this deep cannot be freed at once by older interpreters
        deep = deep[0]


@given(st.dictionaries(st.sampled_from(FIELD_NAMES) | st.text(), st.none() | st.text() | st.integers() | st.floats()))
def test_nothing_but_a_refusal_is_raised(values: dict[str, object]) -> None:
    message = ""
    try:
        parse_fields(values)
    except InvalidTask as error:
        message = str(error)
    assert sanitize_line(message) == message
