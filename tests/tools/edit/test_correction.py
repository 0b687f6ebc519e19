"""What is asked about, how often, and which answers are good enough to be used."""

import asyncio

import pytest

from tejat.core.tools.edit_failure import EditFailure
from tejat.tools.edit.correction import (
    MAX_CONTENT_BYTES,
    MAX_OLD_STRING_LENGTH,
    CorrectionCache,
    find_corrected,
    is_correctable,
)
from tejat.tools.edit.request import EditRequest
from tejat.workspace.text.encoding import UTF_8, TextEncoding
from tejat.workspace.text.text_edits import TextEdit, TextFile

EDIT = EditFailure("/w/f.py", "a = 1\n", "a=1", "a = 2", None, "not there")


def file_of(text: str, encoding: TextEncoding = UTF_8) -> TextFile:
    return TextFile(encoding.bom + encoding.encode_new(text), encoding)


class Answers:
    """Gives the answers in turn and remembers what was asked."""

    def __init__(self, *answers: str | Exception | None) -> None:
        self.answers = list(answers)
        self.asked: list[EditFailure] = []

    async def __call__(self, edit: EditFailure) -> str | None:
        self.asked.append(edit)
        answer = self.answers[len(self.asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


class TestAsking:
    def test_once_about_each_edit(self) -> None:
        answers = Answers("one", None, "two", "three", "four")
        corrections = CorrectionCache(answers)
        edits = [
            EDIT,
            EditFailure("/w/g.py", EDIT.content, EDIT.old_string, EDIT.new_string, None, ""),
            EditFailure(EDIT.path, "b", EDIT.old_string, EDIT.new_string, None, ""),
            EditFailure(EDIT.path, EDIT.content, "b", EDIT.new_string, None, ""),
            EditFailure(EDIT.path, EDIT.content, EDIT.old_string, "b", None, ""),
        ]

        async def main() -> list[str | None]:
            return [await corrections.get_correction(edit) for edit in [*edits, *edits]]

        assert asyncio.run(main()) == ["one", None, "two", "three", "four"] * 2
        assert answers.asked == edits

    def test_where_one_text_ends_and_the_next_begins_makes_a_difference(self) -> None:
        answers = Answers("one", "two")
        corrections = CorrectionCache(answers)
        assert asyncio.run(corrections.get_correction(EditFailure("p", "ab", "c", "d", None, ""))) == "one"
        assert asyncio.run(corrections.get_correction(EditFailure("p", "a", "bc", "d", None, ""))) == "two"

    def test_half_characters(self) -> None:
        edit = EditFailure("p", "\udc80", "\ud800", "", None, "")
        assert asyncio.run(CorrectionCache(Answers("one")).get_correction(edit)) == "one"

    def test_line_ends_of_the_answer(self) -> None:
        assert asyncio.run(CorrectionCache(Answers("a\r\nb\rc\n")).get_correction(EDIT)) == "a\nb\nc\n"

    def test_what_broke_is_asked_again(self) -> None:
        answers = Answers(ZeroDivisionError(), "one")
        corrections = CorrectionCache(answers)
        with pytest.raises(ZeroDivisionError):
            asyncio.run(corrections.get_correction(EDIT))
        assert asyncio.run(corrections.get_correction(EDIT)) == "one"

    def test_only_the_latest_are_remembered(self) -> None:
        answers = Answers(*map(str, range(70)))
        corrections = CorrectionCache(answers)

        async def ask(number: int) -> str | None:
            return await corrections.get_correction(EditFailure("p", "", str(number), "", None, ""))

        async def main() -> list[str | None]:
            first = [await ask(number) for number in range(65)]
            return [*first[-1:], await ask(64), await ask(1), await ask(0), await ask(1)]

        assert asyncio.run(main()) == ["64", "64", "1", "65", "66"]


@pytest.mark.parametrize(
    ("path", "content", "old", "can"),
    [
        ("/w/f.py", "abc", "abd", True),
        ("/w/json", "abc", "abd", True),
        ("/w/f.json", "abc", "abd", False),
        ("/w/F.JSON", "abc", "abd", False),
        ("/w/f.ipynb", "abc", "abd", False),
        ("/w/f.jsonc", "abc", "abd", False),
        ("/w/f.json5", "abc", "abd", False),
        ("/w/f.py", "abc", " \n\t", False),
        ("/w/f.py", "x" * MAX_CONTENT_BYTES, "abd", True),
        ("/w/f.py", "x" * (MAX_CONTENT_BYTES + 1), "abd", False),
        ("/w/f.py", "abc", "x" * MAX_OLD_STRING_LENGTH, True),
        ("/w/f.py", "abc", "x" * (MAX_OLD_STRING_LENGTH + 1), False),
    ],
)
def test_what_is_asked_about(path: str, content: str, old: str, can: bool) -> None:
    assert is_correctable(path, file_of(content), old) is can


class TestChecking:
    def test_one_place(self) -> None:
        file = file_of("total = sum(items)\nreturn total\n")
        found = find_corrected(file, EditRequest("total = sum(item)", "total = max(item)"), "total = sum(items)")
        assert found == [TextEdit(0, 18, "total = max(items)")]

    def test_as_many_places_as_expected(self) -> None:
        file = file_of("call(one)\ncall(one)\n")
        both = [TextEdit(0, 9, "call(two)"), TextEdit(10, 19, "call(two)")]
        for expected, found in [(1, []), (2, both), (3, []), (None, both)]:
            assert find_corrected(file, EditRequest("cal(one)", "cal(two)", expected), "call(one)") == found

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param("call(ones)", id="not there"),
            pytest.param("cal(one)", id="what was given"),
            pytest.param("def main():", id="something else"),
            pytest.param("call", id="too little of it"),
            pytest.param("def main():\n    call(one)\n", id="too much"),
            pytest.param("", id="nothing"),
        ],
    )
    def test_answers_that_are_not_used(self, answer: str) -> None:
        file = file_of("def main():\n    call(one)\n")
        assert find_corrected(file, EditRequest("cal(one)", "cal(two)"), "call(one)") != []
        assert find_corrected(file, EditRequest("cal(one)", "cal(two)"), answer) == []

    def test_one_character_in_three_may_differ(self) -> None:
        for answer, is_used in [("abcdefXX", True), ("abcdeXXX", False)]:
            file = file_of(f"{answer};")
            found = find_corrected(file, EditRequest("abcdefgh", "1 abcdefgh"), answer)
            assert found == ([TextEdit(0, 8, f"1 {answer}")] if is_used else [])

    def test_white_space_does_not_count(self) -> None:
        file = file_of("f( a,\n   b )\n# end of it all\n")
        found = find_corrected(file, EditRequest("f(a, b)", "f(a, b)  # why"), "f( a,\n   b )")
        assert found == []  # it resembles, but nobody can tell where the comment goes
        assert find_corrected(file, EditRequest("f(a,\nb)", "f(a,\ng)"), "f( a,\n   b )") == [
            TextEdit(0, 12, "f( a,\n   g )")
        ]

    def test_most_of_a_file_for_a_short_text(self) -> None:
        blank = "a" + " " * 50 + "b"
        assert find_corrected(file_of(blank), EditRequest("a b", "c a b"), blank) == []
        assert find_corrected(file_of(blank + "x" * 60), EditRequest("a b", "c a b"), blank) != []

    def test_what_is_not_certain_is_not_done(self) -> None:
        file = file_of("timeout_of_requests = 60\n")
        request = EditRequest("timeout_of_requests = 30", "timeout_of_requests = 90")
        assert find_corrected(file, request, "timeout_of_requests = 60") == []

    @pytest.mark.parametrize("encoding", [TextEncoding("utf-16-le", b"\xff\xfe"), TextEncoding("cp932", b"")])
    @pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
    def test_line_ends_and_encodings(self, encoding: TextEncoding, ending: str) -> None:
        file = file_of("日本語の本\nソース\n".replace("\n", ending), encoding)
        request = EditRequest("日本語本\r\nソース", "日本語本\r\nソースと表")
        edits = find_corrected(file, request, "日本語の本\nソース")
        changed = encoding.decode(b"".join(file.apply_edits(edits).pieces))
        assert changed == "日本語の本\nソースと表\n".replace("\n", ending)
