"""Headers of files in a diff."""

from tejat.ui.shared.diff.file_header import FileHeader, parse_file_headers


def test_headers_of_git() -> None:
    lines = """\
diff --git a/from b/to
similarity index 100%
rename from from
rename to to
diff --git a/pic b/pic
index 1..2 100644
Binary files a/pic and b/pic differ
diff --git a/run b/run
old mode 100644
new mode 100755
diff --git a/new.py b/new.py
new file mode 100644
index 000..111
--- /dev/null
+++ b/new.py"""
    assert list(parse_file_headers(lines.split("\n"))) == [
        FileHeader("to (was from)", (), is_last=False),
        FileHeader("pic", ("Binary files a/pic and b/pic differ",), is_last=False),
        FileHeader("run", ("old mode 100644", "new mode 100755"), is_last=False),
        FileHeader("new.py (new file)", (), is_last=True),
    ]
    gone = ["diff --git a/gone b/gone", "deleted file mode 100644", "--- a/gone", "+++ /dev/null"]
    assert list(parse_file_headers(gone)) == [FileHeader("gone (deleted)", (), is_last=True)]


def test_our_own_headers() -> None:
    ours = ["Index: a.py", "=" * 67, "--- a.py\tCurrent", "+++ a.py\tProposed", "[The diff is too large to show]"]
    assert list(parse_file_headers(ours)) == [FileHeader("a.py", ("[The diff is too large to show]",), is_last=True)]


def test_other_lines_are_notes() -> None:
    assert list(parse_file_headers(["something else"])) == [FileHeader("", ("something else",), is_last=True)]
    assert list(parse_file_headers(["--- a/x", "+++ b/x"])) == [FileHeader("x", (), is_last=True)]
