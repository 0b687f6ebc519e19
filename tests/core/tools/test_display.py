"""What a person is shown of a change, with the names of the documents."""

from tejat.core.tools.display import DiffStat, FileDiff, display_to_json

STAT = DiffStat(
    model_added_lines=1,
    model_removed_lines=2,
    model_added_chars=3,
    model_removed_chars=4,
    user_added_lines=5,
    user_removed_lines=6,
    user_added_chars=7,
    user_removed_chars=8,
)


def test_plain_text_stays_text() -> None:
    assert display_to_json("**done**") == "**done**"
    assert display_to_json("") == ""


def test_a_diff_stat_says_who_changed_what() -> None:
    assert STAT.to_json() == {
        "model_added_lines": 1,
        "model_removed_lines": 2,
        "model_added_chars": 3,
        "model_removed_chars": 4,
        "user_added_lines": 5,
        "user_removed_lines": 6,
        "user_added_chars": 7,
        "user_removed_chars": 8,
    }


def test_a_person_who_changed_nothing_counts_nothing() -> None:
    assert DiffStat(1, 2, 3, 4) == DiffStat(1, 2, 3, 4, 0, 0, 0, 0)


def test_a_whole_file_diff() -> None:
    diff = FileDiff(
        file_name="a.txt",
        file_path="/w/a.txt",
        file_diff="@@ -1,1 +1,1 @@",
        is_new_file=False,
        original_content="old",
        new_content="new",
        diff_stat=STAT,
    )
    assert display_to_json(diff) == {
        "fileDiff": "@@ -1,1 +1,1 @@",
        "fileName": "a.txt",
        "filePath": "/w/a.txt",
        "isNewFile": False,
        "originalContent": "old",
        "newContent": "new",
        "diffStat": STAT.to_json(),
    }


def test_a_new_file_has_null_as_its_old_content() -> None:
    diff = FileDiff(file_name="a", file_path="/w/a", file_diff="+x", is_new_file=True, new_content="x")
    assert diff.to_json() == {
        "fileDiff": "+x",
        "fileName": "a",
        "filePath": "/w/a",
        "isNewFile": True,
        "originalContent": None,
        "newContent": "x",
    }


def test_an_emptied_file_still_has_its_contents_told() -> None:
    diff = FileDiff("a", "/w/a", "-x", is_new_file=False, original_content="x", new_content="")
    told = diff.to_json()
    assert (told["originalContent"], told["newContent"]) == ("x", "")


def test_a_big_change_is_told_by_its_patch_alone() -> None:
    diff = FileDiff(file_name="a", file_path="/w/a", file_diff="+x", is_new_file=False)
    assert diff.to_json() == {"fileDiff": "+x", "fileName": "a", "filePath": "/w/a", "isNewFile": False}
