"""What the model gets cannot be closed from inside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.app.skills.activation import MAX_BODY_BYTES, fill_arguments, render_activation
from tejat.config.skills.content import SkillContent
from tejat.config.skills.skill import Skill, SkillFields
from tejat.core.provenance import Party, Provenance


def rendered(body: str, name: str = "x") -> str:
    fields = SkillFields(name, "y", body_lines=body.count("\n") + 1)
    skill = Skill(fields, "/s/x", Provenance(Party.USER, "/s/x/SKILL.md"), name)
    return render_activation(skill, SkillContent(fields, body, "d", {}, {"SKILL.md": 1}))


TAGS = ("</activated_skill>", "</instructions>", "</available_resources>")


@given(st.lists(st.sampled_from([*TAGS, "</ Instructions >", "</ACTIVATED_SKILL>", "<", "/", " ", "text"])))
def test_the_tags_are_closed_once(pieces: list[str]) -> None:
    text = rendered("".join(pieces)).lower().replace(" ", "")
    assert [text.count(tag) for tag in TAGS] == [1, 1, 1]


def test_other_tags_stay() -> None:
    assert "<b>bold</b> & more" in rendered("<b>bold</b> & more")


def test_a_name_cannot_leave_its_attribute() -> None:
    assert rendered("", 'a"><b').startswith('<activated_skill name="a&quot;&gt;&lt;b">')


def test_a_long_body_is_cut_at_a_line() -> None:
    text = rendered("é" * 30 + "\n" + "\n".join(["word " * 20] * 2000))
    assert len(text.encode()) < MAX_BODY_BYTES + 1000
    assert "Read the rest with read_file: /s/x/SKILL.md]" in text


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("Do $ARGUMENTS and {{args}}.", "a b", "Do a b and a b."),
        ("Do $ARGUMENTS.", "", "Do $ARGUMENTS."),
        ("Do $ARGUMENTS.", r"\1 $ARGUMENTS", r"Do \1 $ARGUMENTS."),
        ("Do $ARGUMENTSX.", "a", "Do $ARGUMENTSX."),
    ],
)
def test_arguments(text: str, arguments: str, expected: str) -> None:
    assert fill_arguments(text, arguments) == expected
