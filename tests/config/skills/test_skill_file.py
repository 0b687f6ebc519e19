"""What a SKILL.md says, and what is done where it is wrong."""

from pathlib import Path

import pytest

from tejat.config.skills.skill import SkillFields
from tejat.config.skills.skill_file import parse_skill, read_skill_text
from tejat.core.errors import ConfigurationError


def parse(header: str, body: str = "Body", directory: str = "/x/pdf") -> SkillFields:
    return parse_skill(f"---\n{header}\n---\n{body}", directory)[0]


def test_all_fields() -> None:
    fields = parse(
        "name: pdf\ndescription: Fills forms.\nlicense: MIT\ncompatibility: needs python\n"
        "metadata: {author: me, version: 1.0}\nallowed-tools: Bash(git add:*) Read, Write\n"
        "disable-model-invocation: true\nuser-invocable: false\nargument-hint: '[file]'\nmodel: opus\nhooks: {}\n"
    )
    assert fields == SkillFields(
        name="pdf",
        description="Fills forms.",
        license="MIT",
        compatibility="needs python",
        metadata={"author": "me", "version": "1.0"},
        allowed_tools=("Bash(git add:*)", "Read", "Write"),
        is_model_invocable=False,
        is_user_invocable=False,
        argument_hint="[file]",
        ineffective=("model", "hooks"),
        body_lines=1,
        body_tokens=1,
    )


@pytest.mark.parametrize(
    ("written", "name", "note"),
    [
        ("a:b/c<d>", "a-b-c-d", "is changed to"),
        ("my skill", "my-skill", "is changed to"),
        ("PDF", "PDF", "lower-case"),
        ("a--b", "a--b", "single hyphens"),
        ("x" * 65, "x" * 65, "more than 64"),
        ("other", "other", "differs from that of the directory"),
    ],
)
def test_names_that_break_the_format(written: str, name: str, note: str) -> None:
    fields = parse(f'name: "{written}"\ndescription: x')
    assert fields.name == name
    assert any(note in each for each in fields.notes)


def test_a_missing_name_is_that_of_the_directory() -> None:
    fields = parse("description: x")
    assert fields.name == "pdf"
    assert "the name of the directory is used" in fields.notes[0]


def test_numbers_and_words_as_names() -> None:
    assert parse("name: 42\ndescription: x").name == "42"
    assert parse("name: on\ndescription: x").name == "on"


def test_a_description_over_several_lines() -> None:
    assert parse("name: pdf\ndescription: >\n  one\n  two").description == "one two"


def test_a_long_description_is_reported() -> None:
    assert any("longer than 1024" in note for note in parse(f"name: pdf\ndescription: {'x' * 1025}").notes)


def test_switches_that_are_no_booleans_are_reported() -> None:
    fields = parse("name: pdf\ndescription: x\ndisable-model-invocation: yes")
    assert fields.is_model_invocable
    assert any("neither true nor false" in note for note in fields.notes)


@pytest.mark.parametrize(("policy", "expected"), [("false", False), ("true", True), ("[", True)])
def test_settings_for_codex(tmp_path: Path, policy: str, expected: bool) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents/openai.yaml").write_text(f"policy:\n  allow_implicit_invocation: {policy}\n")
    assert parse("description: x", directory=str(tmp_path)).is_model_invocable is expected


def test_long_bodies() -> None:
    assert parse("description: x", "line\n" * 501).is_long
    assert parse("description: x", "word " * 4001).is_long
    assert not parse("description: x", "line\n" * 400).is_long


def test_nothing_in_a_body_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    body = parse_skill(f"---\ndescription: x\n---\n!`touch {mark}`", "/x/pdf")[1]
    assert body == f"!`touch {mark}`"
    assert not mark.exists()


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_skill_text(str(tmp_path / "SKILL.md"))
