"""Markdown with fields in front."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.config.front_matter import MAX_BYTES, MAX_FILE_BYTES, FrontMatterError, parse_front_matter


def test_fields_and_body() -> None:
    found = parse_front_matter("---\nname: pdf\ndescription: Fills forms.\ntools: [a, b]\n---\n\n# Title\n\nText\n\n")
    assert found.fields == {"name": "pdf", "description": "Fills forms.", "tools": ["a", "b"]}
    assert found.body == "# Title\n\nText"
    assert not found.is_fallback
    assert found.notes == ()


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", ["", " ", "\t "])
def test_line_ends_byte_order_mark_and_trailing_blanks(mark: str, line_end: str, blank: str) -> None:
    lines = [f"---{blank}", "name: x", f"---{blank}", "a", "b"]
    found = parse_front_matter(mark + line_end.join(lines))
    assert (found.fields, found.body) == ({"name": "x"}, "a\nb")


def test_a_file_that_ends_with_its_front_matter() -> None:
    found = parse_front_matter("---\nname: x\n---")
    assert (found.fields, found.body) == ({"name": "x"}, "")


def test_empty_front_matter() -> None:
    assert parse_front_matter("---\n---\nbody").fields == {}
    assert parse_front_matter("---\n# only a comment\n---\nbody").notes == ()


def test_a_line_of_dashes_in_the_body_stays() -> None:
    assert parse_front_matter("---\nname: x\n---\na\n---\nb").body == "a\n---\nb"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the first line must be ---"),
        ("# Title\n---\nname: x\n---\n", "the first line must be ---"),
        ("\n---\nname: x\n---\n", "the first line must be ---"),
        (" ---\nname: x\n---\n", "the first line must be ---"),
        ("---\nname: x\n", "no closing line ---"),
        ("---\nname: x\n --- \n", "no closing line ---"),
        ("---\n- name: x\n---\n", "does not consist of lines"),
        ("---\njust words\n---\n", "does not consist of lines"),
        ("---\nname: &a x\n---\n", "anchors"),
        ("---\nname: x\ndescription: *a\n---\n", "aliases.*line 3"),
        ("---\nname: !important x\n---\n", "tags"),
        ("---\nname: x\n<<: {a: 1}\n---\n", "merge keys"),
        ("---\nname: x\nname: y\n---\n", "'name' is defined twice"),
        ("---\nname: x\ndescription: a: b\nname: y\n---\n", "'name' is defined twice"),
        ("---\ntools: [a\nmodel: x: y\n---\n", "invalid front matter"),
        (f"---\nname: {'x' * MAX_BYTES}\n---\n", "front matter is larger than 64 KB"),
        (f"---\nname: {'é' * (MAX_BYTES // 2)}\n---\n", "front matter is larger than 64 KB"),
        ("---\nname: x\n---\n" + "x" * MAX_FILE_BYTES, "larger than 512 KB"),
    ],
)
def test_unusable_files_get_one_line(text: str, why: str) -> None:
    with pytest.raises(FrontMatterError, match=why) as raised:
        parse_front_matter(text)
    assert "\n" not in str(raised.value)


def test_invalid_yaml_falls_back_to_name_and_description() -> None:
    text = "---\nname: pdf\ndescription: Use when: forms\n  are to be filled\ntools: [a\n---\nBody"
    found = parse_front_matter(text)
    assert found.fields == {"name": "pdf", "description": "Use when: forms are to be filled"}
    assert found.is_fallback
    assert found.unread == ("tools",)
    assert len(found.notes) == 1
    assert "line 3" in found.notes[0]
    assert "Only name and description are used" in found.notes[0]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("description: 'a: b", "'a: b"),
        ("description: @handle", "@handle"),
        ("description: >-\n  one\n  two\nx: y: z", "one two"),
        ('description: "quoted"\nx: y: z', "quoted"),
        ("description:\n  next line: here", "next line: here"),
    ],
)
def test_descriptions_read_by_line(lines: str, expected: str) -> None:
    found = parse_front_matter(f"---\nname: x\n{lines}\nbad: : :\n---\n")
    assert found.fields["description"] == expected


def test_only_a_description_continues() -> None:
    found = parse_front_matter("---\nname: a\n  b\ndescription: x: y\n---\n")
    assert found.fields["name"] == "a"


def test_hidden_characters_are_removed_and_reported() -> None:
    found = parse_front_matter("---\nname: p\u202edf\ndescription: a\u200bb\n---\nbo\U000e0041dy 👨\u200d👩")
    assert found.fields == {"name": "pdf", "description": "ab"}
    assert found.body == "body 👨👩"
    assert [note.split(" contains")[0] for note in found.notes] == ["the name", "the description", "the body"]
    assert "<U+202E>" in found.notes[0]


def test_emoji_need_no_notice() -> None:
    assert parse_front_matter("---\nname: x\ndescription: ok ✔\ufe0f\n---\n").notes == ()


@pytest.mark.parametrize(
    ("field", "expected"), [("x", "x"), ("on", "on"), ("true", "true"), ("1", "1"), ("1.5", "1.5"), ("[a]", None)]
)
def test_fields_as_text(field: str, expected: str | None) -> None:
    assert parse_front_matter(f"---\nname: {field}\n---\n").text("name") == expected


def test_a_missing_field_has_no_text() -> None:
    assert parse_front_matter("---\n---\n").text("name") is None


@given(st.text(max_size=300))
def test_any_front_matter_is_read_or_refused_with_one_line(header: str) -> None:
    try:
        found = parse_front_matter(f"---\n{header}\n---\nbody")
    except FrontMatterError as error:
        lines, fallback_fields = [str(error)], set[str]()
    else:
        lines = list(found.notes)
        fallback_fields = set(found.fields) if found.is_fallback else set[str]()
    assert all(len(line.splitlines()) == 1 for line in lines)
    assert fallback_fields <= {"name", "description"}
