"""Templates: variables are replaced once, unknown ones are named, and a shell sees each value as one word."""

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.batch.plan.fields import MAX_TEXT_BYTES
from tejat.batch.plan.template import fill_command, fill_prompt, uses_variable
from tejat.batch.plan.types import InvalidTask

VARIABLES = {"id": "a", "name": "web", "Issue Title": "It's broken", "inner": "{{name}}"}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("Fix {{name}}.", "Fix web."),
        ("{{ name }}{{name}}", "webweb"),
        ("{{Issue Title}}", "It's broken"),
        ("{{inner}}", "{{name}}"),
        (r"\{{name}}", "{{name}}"),
        (r"\{{other}}", "{{other}}"),
        ("{{{name}}}", "{web}"),
        (
            "{name} {{}} {{ }} {{.State}} {{ form.media }} {{a b}}",
            "{name} {{}} {{ }} {{.State}} {{ form.media }} {{a b}}",
        ),
        ("{{na\nme}}", "{{na\nme}}"),
        ("{{name", "{{name"),
        ("", ""),
    ],
)
def test_prompts(template: str, expected: str) -> None:
    assert fill_prompt(template, VARIABLES) == expected


def test_an_unknown_variable_is_named_with_those_available() -> None:
    with pytest.raises(InvalidTask) as caught:
        fill_prompt("Fix {{titel}}", VARIABLES)
    assert str(caught.value) == (
        "Unknown variable titel in prompt. Available: Issue Title, id, inner, name. "
        r"Write \{{titel}} for literal text."
    )


def test_a_long_list_of_variables_is_cut() -> None:
    with pytest.raises(InvalidTask) as caught:
        fill_prompt("{{x}}", {f"v{number:02}": "" for number in range(50)})
    assert "v19, ..." in str(caught.value)
    assert "v20" not in str(caught.value)


def test_a_prompt_does_not_grow_without_bounds() -> None:
    with pytest.raises(InvalidTask, match="larger than 8 MB"):
        fill_prompt("{{v}}" * 1_000_000, {"v": "x" * 1_000_000})
    with pytest.raises(InvalidTask, match="larger than 8 MB"):
        fill_prompt("{{v}}" + "y" * MAX_TEXT_BYTES, {"v": "x"})


def test_braces_without_an_end_take_no_time() -> None:
    text = "{{" + " " * 1_000_000 + "{{" * 500_000
    assert fill_prompt(text, VARIABLES) == text


def test_use_of_a_variable() -> None:
    assert uses_variable("a {{ b }}", "b")
    assert not uses_variable(r"a \{{b}} {{c}}", "b")


class TestCommand:
    @pytest.mark.parametrize(
        ("template", "expected"),
        [
            ("test -f {{name}}", "test -f web"),
            ("grep {{Issue Title}} x", """grep 'It'"'"'s broken' x"""),
            ("grep -F '$x' {{inner}}", "grep -F '$x' '{{name}}'"),
            (r"echo \" {{name}}", r"echo \" web"),
            ("docker inspect --format '{{.State}}' {{name}}", "docker inspect --format '{{.State}}' web"),
            ("grep x <<< {{name}}", "grep x <<< web"),
        ],
    )
    def test_values_are_quoted(self, template: str, expected: str) -> None:
        assert fill_command(template, VARIABLES) == expected

    @pytest.mark.parametrize("template", ["grep '{{name}}' x", 'grep "{{name}}" x', "'a' \"b {{id}}", "'\\' '{{id}}'"])
    def test_quotes_around_a_variable_are_refused(self, template: str) -> None:
        with pytest.raises(InvalidTask, match="Remove the quotes"):
            fill_command(template, VARIABLES)

    def test_a_here_document_is_refused(self) -> None:
        with pytest.raises(InvalidTask, match="follows <<"):
            fill_command("cat <<END\n{{name}}\nEND", VARIABLES)

    def test_an_unknown_variable_is_named(self) -> None:
        with pytest.raises(InvalidTask, match="Unknown variable x in check"):
            fill_command("{{x}}", VARIABLES)

    @given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
    @settings(max_examples=40)
    def test_a_shell_sees_one_word(self, value: str) -> None:
        command = fill_command("printf '%s|' a {{v}} b", {"v": value})
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=True, timeout=60)
        assert done.stdout.decode() == f"a|{value}|b|"


PIECES = st.lists(st.sampled_from(["{{name}}", "{{ id }}", "{", "}", "{{", "}}", " ", "x", "{{Issue Title}}"]))


@given(PIECES)
def test_no_known_variable_is_left(pieces: list[str]) -> None:
    values = {"id": "1", "name": "2", "Issue Title": "3"}
    try:
        filled = fill_prompt("".join(pieces), values)
    except InvalidTask:
        return  # the pieces made a name that is none
    before = "".join(pieces).count("{{name}}")
    assert filled.count("2") >= before
    # What a replaced variable leaves around it may look like one: `{{{{id}}}}` has nothing but its value within.
    assert not re.search(r"\{\{\s*(name|id|Issue Title)\s*\}\}", filled)
