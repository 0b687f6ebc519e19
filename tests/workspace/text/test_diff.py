import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tejat.core.tools.display import DiffStat
from tejat.workspace.text.diff import Patch, count_diff_stat, create_patch, create_patch_from_edits
from tejat.workspace.text.text_edits import ByteEdit

RULE = "=" * 67
texts = st.text("ab\n\r é", max_size=60) | st.lists(
    st.sampled_from(["a\n", "b\n", "a\r\n", "\n", "c"]), max_size=40
).map("".join)


def patched(old: str, new: str) -> Patch:
    return create_patch("f.txt", old, new, old_header="Current", new_header="Proposed")


def patched_by(old: bytes, edits: list[ByteEdit]) -> Patch:
    return create_patch_from_edits(
        "f.txt", old, edits, decode=lambda raw: raw.decode(), old_header="Current", new_header="Proposed"
    )


def body(patch: Patch) -> str:
    header = f"Index: f.txt\n{RULE}\n--- f.txt\tCurrent\n+++ f.txt\tProposed\n"
    assert patch.text.startswith(header)
    return patch.text.removeprefix(header)


def applied(old: str, patch: Patch) -> str:
    """A strict reader of unified patches: every line, every number and every mark must be right."""
    old_lines = old.split("\n")
    old_lines = [line + "\n" for line in old_lines[:-1]] + [line for line in old_lines[-1:] if line]
    result: list[str] = []
    at = 0
    lines = body(patch).split("\n")[:-1]
    index = 0
    added = removed = 0
    while index < len(lines):
        old_range, new_range = lines[index].removeprefix("@@ -").removesuffix(" @@").split(" +")
        old_start, old_count = map(int, old_range.split(","))
        new_start, new_count = map(int, new_range.split(","))
        start = old_start - 1 if old_count else old_start
        assert start >= at
        result += old_lines[at:start]
        assert len(result) == (new_start - 1 if new_count else new_start)
        at = start
        begin = len(result)
        index += 1
        while index < len(lines) and not lines[index].startswith("@@"):
            sign, line = lines[index][:1], lines[index][1:] + "\n"
            index += 1
            if index < len(lines) and lines[index] == "\\ No newline at end of file":
                line = line[:-1]
                index += 1
            if sign in " -":
                assert old_lines[at] == line
                at += 1
            if sign in " +":
                result.append(line)
            added += sign == "+"
            removed += sign == "-"
        assert at - start == old_count
        assert len(result) - begin == new_count
    assert (added, removed) == (patch.added, patch.removed)
    return "".join(result + old_lines[at:])


class TestFormat:
    def test_a_new_file(self) -> None:
        assert create_patch("a.py", "", "x\ny\nz\n", old_header="Original", new_header="Written") == Patch(
            f"Index: a.py\n{RULE}\n--- a.py\tOriginal\n+++ a.py\tWritten\n@@ -0,0 +1,3 @@\n+x\n+y\n+z\n",
            added=3,
            removed=0,
            is_summary=False,
        )

    def test_both_counts_are_always_there(self) -> None:
        assert body(patched("a\n", "a\nb\n")) == "@@ -1,1 +1,2 @@\n a\n+b\n"
        assert body(patched("a\n", "b\n")) == "@@ -1,1 +1,1 @@\n-a\n+b\n"
        assert body(patched("a\n", "")) == "@@ -1,1 +0,0 @@\n-a\n"

    def test_three_lines_of_context(self) -> None:
        old = "".join(f"{number}\n" for number in range(1, 21))
        assert body(patched(old, old.replace("10\n", "ten\n"))) == (
            "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
        )

    def test_hunks_whose_context_touches_are_one(self) -> None:
        old = "".join(f"{number}\n" for number in range(1, 21))
        assert body(patched(old, old.replace("5\n", "five\n", 1).replace("12\n", "twelve\n"))) == (
            "@@ -2,14 +2,14 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n+twelve\n 13\n 14\n 15\n"
        )
        assert body(patched(old, old.replace("5\n", "", 1).replace("13\n", "13\nmore\n"))) == (
            "@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n@@ -11,6 +10,7 @@\n 11\n 12\n 13\n+more\n 14\n 15\n 16\n"
        )

    def test_a_missing_last_line_end_is_marked(self) -> None:
        mark = "\\ No newline at end of file\n"
        assert body(patched("a\nb", "a\nb\n")) == f"@@ -1,2 +1,2 @@\n a\n-b\n{mark}+b\n"
        assert body(patched("a\nb\n", "a\nb")) == f"@@ -1,2 +1,2 @@\n a\n-b\n+b\n{mark}"
        assert body(patched("a\nb", "x\nb")) == f"@@ -1,2 +1,2 @@\n-a\n+x\n b\n{mark}"
        assert body(patched("a", "b")) == f"@@ -1,1 +1,1 @@\n-a\n{mark}+b\n{mark}"

    def test_white_space_and_line_endings_are_changes(self) -> None:
        assert body(patched("a\n", "a \n")) == "@@ -1,1 +1,1 @@\n-a\n+a \n"
        assert body(patched("a\r\nb\r\n", "a\nb\r\n")) == "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n"
        assert (
            body(patched("a\rb\u2028c\f\n", "a\rX\u2028c\f\n")) == "@@ -1,1 +1,1 @@\n-a\rb\u2028c\f\n+a\rX\u2028c\f\n"
        )

    def test_no_change_is_the_header_alone(self) -> None:
        assert body(patched("a\nb", "a\nb")) == ""
        assert body(patched("", "")) == ""
        assert body(patched_by(b"a\nb\n", [])) == ""

    def test_a_file_name_cannot_write_into_the_patch(self) -> None:
        patch = create_patch("a\n+b\t\x1b[2J", "", "x\n", old_header="Current", new_header="Proposed")
        assert patch.text == (
            f"Index: a\\n+b\\t\\x1b[2J\n{RULE}\n--- a\\n+b\\t\\x1b[2J\tCurrent\n+++ a\\n+b\\t\\x1b[2J\tProposed\n"
            "@@ -0,0 +1,1 @@\n+x\n"
        )


@settings(max_examples=250, deadline=None)
@given(texts, texts)
@example("a\nb\nb\nb", "a\nb\nb\nb\nb")
def test_a_patch_turns_old_into_new(old: str, new: str) -> None:
    patch = patched(old, new)
    assert not patch.is_summary
    assert applied(old, patch) == new
    assert (patch.added + patch.removed == 0) == (old == new)


class TestPatchOfEdits:
    @settings(max_examples=250, deadline=None)
    @given(st.data())
    def test_one_edit_gives_a_patch_as_good_as_that_of_the_whole_texts(self, data: st.DataObject) -> None:
        old = data.draw(st.lists(st.sampled_from(["a\n", "b\n", "ab\n", "\n", "c"]), max_size=30).map("".join))
        start = data.draw(st.integers(0, len(old)))
        end = data.draw(st.integers(start, min(len(old), start + 12)))
        text = data.draw(st.text("ab\n", max_size=8))
        edits = [ByteEdit(start, end, text.encode())]
        new = old[:start] + text + old[end:]
        patch, whole = patched_by(old.encode(), edits), patched(old, new)
        assert applied(old, patch) == new
        assert (patch.added, patch.removed) == (whole.added, whole.removed)

    @settings(max_examples=250, deadline=None)
    @given(st.data())
    def test_several_edits_turn_old_into_new(self, data: st.DataObject) -> None:
        old = data.draw(st.lists(st.sampled_from(["a\n", "b\n", "ab\r\n", "\n", "c", "é\n"]), max_size=60).map("".join))
        cuts = sorted(
            data.draw(st.lists(st.integers(0, len(old)), max_size=10).filter(lambda cuts: len(cuts) % 2 == 0))
        )
        edits: list[ByteEdit] = []
        new, at = "", 0
        for start, end in zip(cuts[::2], cuts[1::2], strict=True):
            text = data.draw(st.text("abé\n", max_size=5))
            edits.append(ByteEdit(len(old[:start].encode()), len(old[:end].encode()), text.encode()))
            new += old[at:start] + text
            at = end
        new += old[at:]
        assert applied(old, patched_by(old.encode(), edits)) == new

    def test_line_numbers_far_down_a_large_file(self) -> None:
        lines = [f"line {number}\n" for number in range(1, 200_001)]
        old = "".join(lines).encode()
        first, second = old.index(b"line 100000\n"), old.index(b"line 150000\n")
        edits = [ByteEdit(first, first + 12, b"new\nnew\n"), ByteEdit(second, second + 4, b"LINE")]
        assert body(patched_by(old, edits)) == (
            "@@ -99997,7 +99997,8 @@\n line 99997\n line 99998\n line 99999\n-line 100000\n+new\n+new\n"
            " line 100001\n line 100002\n line 100003\n"
            "@@ -149997,7 +149998,7 @@\n line 149997\n line 149998\n line 149999\n-line 150000\n+LINE 150000\n"
            " line 150001\n line 150002\n line 150003\n"
        )

    @pytest.mark.parametrize("gap", [5, 6, 7])
    def test_hunks_are_one_where_those_of_the_whole_texts_are(self, gap: int) -> None:
        old = "".join(f"{number}\n" for number in range(1_000, 1_050))
        second = 100 + 5 * (gap + 1)
        edits = [ByteEdit(100, 104, b"first"), ByteEdit(second, second + 4, b"second")]
        new = old[:100] + "first" + old[104:second] + "second" + old[second + 4 :]
        assert patched_by(old.encode(), edits) == patched(old, new)
        assert patched(old, new).text.count("@@ -") == (1 if gap <= 6 else 2)

    def test_decode_sees_only_lines_around_the_edits(self) -> None:
        seen: list[bytes] = []

        def decode(raw: bytes) -> str:
            seen.append(raw)
            return raw.decode("cp1251")

        old = "".join(f"строка {number}\n" for number in range(1000)).encode("cp1251")
        place = old.index(b"500")
        patch = create_patch_from_edits(
            "f.txt",
            old,
            [ByteEdit(place, place + 3, b"new")],
            decode=decode,
            old_header="Current",
            new_header="Proposed",
        )
        assert body(patch) == (
            "@@ -498,7 +498,7 @@\n строка 497\n строка 498\n строка 499\n-строка 500\n+строка new\n"
            " строка 501\n строка 502\n строка 503\n"
        )
        assert [len(raw.splitlines()) for raw in seen] == [7, 7]

    def test_a_repeated_line_removed_is_shown_where_whole_texts_differ(self) -> None:
        old = "x\n" + "same\n" * 5_000 + "y\n"
        assert patched_by(old.encode(), [ByteEdit(2, 7, b"")]) == patched(old, old.replace("same\n", "", 1))
        assert patched_by(old.encode(), [ByteEdit(2, 2, b"same\n")]) == patched(old, "x\nsame\n" + old[2:])


APPLICABLE = [
    ("a\nb\nc\n", "a\nB\nc\n"),
    ("a\nb", "a\nb\nc"),
    ("a\r\nb\r\nc\r\n", "a\r\nB\nc\r\n"),
    ("".join(f"{n}\n" for n in range(99)), "".join(f"{n}\n" for n in range(99) if n % 20).replace("44\n", "x\ny\n")),
    ("é\n\t\n  \n", "é\n\n  \nü\n"),
    ("a\nb\n", ""),
]
PATCH = ("patch", "--binary", "--posix", "-p0", "-i", "change.patch")
GIT = ("git", "apply", "-p0", "--whitespace=nowarn", "change.patch")


@pytest.mark.parametrize(
    ("program", "old", "new"),
    [
        # git wants /dev/null as the old name of a new file.
        (PATCH, "", "a\nb\n"),
        *((program, old, new) for program in (PATCH, GIT) for old, new in APPLICABLE),
    ],
)
def test_real_programs_apply_the_patches(tmp_path: Path, program: tuple[str, ...], old: str, new: str) -> None:
    target = tmp_path / "f.txt"
    target.write_bytes(old.encode())
    (tmp_path / "change.patch").write_bytes(patched(old, new).text.encode())
    if shutil.which(program[0]) is None:
        assert program is PATCH, "git is what every test machine has"
        pytest.skip("there is no patch program here; git apply tries the same patches")
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    subprocess.run(program, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (target.read_bytes() if target.exists() else b"") == new.encode()


LINES = [f"line number {number} of a text of about a megabyte\n" for number in range(20_000)]


class TestBounds:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            pytest.param("".join(LINES), "".join("x" + line for line in LINES), id="every line"),
            pytest.param(
                "".join(LINES),
                "".join("x" + line if index % 10 == 0 else line for index, line in enumerate(LINES)),
                id="every tenth line",
            ),
            pytest.param("a" * 1_000_000, "a" * 999_999 + "b", id="one line"),
            pytest.param("\n" * 1_000_000, "x\n" * 500_000, id="blank lines"),
            pytest.param("".join(LINES), "".join(reversed(LINES)), id="reversed"),
            pytest.param("".join(LINES), "".join(random.Random(3).sample(LINES, len(LINES))), id="shuffled"),
        ],
    )
    def test_a_megabyte(self, old: str, new: str) -> None:
        begin = time.thread_time()
        patch = patched(old, new)
        # Under 0.2 seconds where it was measured; the rest is for slow and busy machines.
        assert time.thread_time() - begin < 3
        assert len(patch.text) <= 2 << 20
        if not patch.is_summary:
            assert applied(old, patch) == new

    def test_a_patch_of_too_many_characters_is_summarised(self) -> None:
        assert patched("a" * 1_200_000, "b" * 1_200_000 + "\nc\n") == Patch(
            f"Index: f.txt\n{RULE}\n--- f.txt\tCurrent\n+++ f.txt\tProposed\n"
            "[The diff is too large to show: 1 line removed, 2 lines added]\n",
            added=2,
            removed=1,
            is_summary=True,
        )

    def test_texts_too_large_to_compare_are_summarised(self) -> None:
        old, new = "same\n" + "a\n" * 3_000_000 + "same\n", "same\n" + "b\n" * 2_000_000 + "same\n"
        assert body(patched(old, new)) == (
            "[The diff is too large to show: 3000000 lines removed, 2000000 lines added]\n"
        )

    def test_a_small_change_in_a_large_text_is_shown(self) -> None:
        old = "same line\n" * 2_000_000
        assert body(patched(old, old[:-10] + "other\n")) == (
            "@@ -1999997,4 +1999997,4 @@\n same line\n same line\n same line\n-same line\n+other\n"
        )

    def test_too_many_edits_are_summarised(self) -> None:
        old = b"ab ab\n" * 100_000
        edits = [ByteEdit(at, at + 2, b"x") for at in range(0, len(old), 3)]
        patch = patched_by(old, edits)
        assert patch == Patch(
            f"Index: f.txt\n{RULE}\n--- f.txt\tCurrent\n+++ f.txt\tProposed\n"
            "[The diff is too large to show: 100000 lines removed, 100000 lines added]\n",
            added=100_000,
            removed=100_000,
            is_summary=True,
        )

    def test_a_large_text_that_is_mostly_the_same_is_compared(self) -> None:
        old = b"".join(b"line %d\n" % number for number in range(800_000))
        at = old.index(b"line 400000\n")
        new = old[:at] + b"another line\n" + old[at:]
        assert body(patched_by(old, [ByteEdit(0, len(old), new)])) == (
            "@@ -399998,6 +399998,7 @@\n line 399997\n line 399998\n line 399999\n+another line\n"
            " line 400000\n line 400001\n line 400002\n"
        )

    def test_only_what_differs_in_large_texts_is_counted(self) -> None:
        old = b"same line\n" * 1_000_000 + b"old line\n" * 1_000_000
        new = b"same line\n" * 1_000_000 + b"new words\n" * 900_000
        patch = patched_by(old, [ByteEdit(0, len(old), new)])
        assert (patch.added, patch.removed, patch.is_summary) == (900_000, 1_000_000, True)

    def test_large_pieces_are_summarised_without_decoding(self) -> None:
        def decode(_: bytes) -> str:
            raise AssertionError("nothing need be decoded")

        patch = create_patch_from_edits(
            "f.txt",
            b"",
            [ByteEdit(0, 0, b"line\n" * 1_000_000)],
            decode=decode,
            old_header="Current",
            new_header="Proposed",
        )
        assert (patch.added, patch.removed, patch.is_summary) == (1_000_000, 0, True)

    def test_scattered_edits_of_a_megabyte(self) -> None:
        old = "".join(LINES).encode()
        edits = [ByteEdit(at, at + 4, b"LINE") for at in range(0, len(old) - 4, 1_000) if old[at : at + 1] != b"\n"]
        begin = time.thread_time()
        patch = patched_by(old, edits)
        assert time.thread_time() - begin < 3
        new = bytearray(old)
        for edit in edits:
            new[edit.start : edit.end] = edit.new
        assert applied("".join(LINES), patch) == new.decode()


class TestHeaders:
    @pytest.mark.parametrize("new", ["a\tb\n--- c\n", "a\n", "x" * 3_000_000])
    def test_other_headers_give_the_patch_that_was_made_with_them(self, new: str) -> None:
        patch = create_patch("a\tb.txt", "a\n", new, old_header="Current", new_header="Proposed")
        wanted = create_patch("a\tb.txt", "a\n", new, old_header="Original", new_header="Written")
        assert patch.with_headers(old_header="Original", new_header="Written") == wanted.text


class TestDiffStat:
    def test_added_removed_modified(self) -> None:
        assert count_diff_stat("one\ntwo\n", "one\ntwo\nthree\n", "one\ntwo\nthree\n") == DiffStat(
            1, 0, 5, 0, 0, 0, 0, 0
        )
        assert count_diff_stat("one\ntwo\n", "two\n", "two\n") == DiffStat(0, 1, 0, 3, 0, 0, 0, 0)
        assert count_diff_stat("one\ntwo\n", "one\nTWOS\n", "one\nTWOS\n") == DiffStat(1, 1, 4, 3, 0, 0, 0, 0)
        assert count_diff_stat("", "", "") == DiffStat(0, 0, 0, 0, 0, 0, 0, 0)

    def test_what_the_person_changed_is_counted_apart(self) -> None:
        assert count_diff_stat("a\n", "a\nbb\n", "a\nccc\ndddd\n") == DiffStat(1, 0, 2, 0, 2, 1, 7, 2)

    def test_white_space_alone_is_a_change(self) -> None:
        assert count_diff_stat("a\n", "  a\n", "  a \n") == DiffStat(1, 1, 3, 1, 1, 1, 4, 3)

    def test_line_ends_are_not_characters(self) -> None:
        assert count_diff_stat("a\r\nb\r\n", "a\r\nxyz\r\n", "a\r\nxyz") == DiffStat(1, 1, 3, 1, 1, 1, 3, 3)

    def test_texts_too_large_to_compare_count_whole(self) -> None:
        old, new = "same\n" + "a\r\n" * 2_000_000, "same\n" + "bb\n" * 1_000_000
        assert count_diff_stat(old, new, new) == DiffStat(1_000_000, 2_000_000, 2_000_000, 2_000_000, 0, 0, 0, 0)

    @settings(max_examples=200, deadline=None)
    @given(texts, texts, texts)
    def test_agrees_with_the_patches(self, old: str, proposed: str, final: str) -> None:
        stat = count_diff_stat(old, proposed, final)
        model, user = patched(old, proposed), patched(proposed, final)
        assert (stat.model_added_lines, stat.model_removed_lines) == (model.added, model.removed)
        assert (stat.user_added_lines, stat.user_removed_lines) == (user.added, user.removed)
