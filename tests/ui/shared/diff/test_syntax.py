"""Code in diffs is split into tokens of its language."""

from tejat.ui.shared.diff.rows import build_diff_rows
from tejat.ui.shared.diff.syntax import diff_tokens
from tejat.ui.shared.text.code_tokens import CodeRole


def test_each_file_has_its_language_and_keeps_its_text() -> None:
    hunk = "@@ -1 +1 @@\n-return 1\n+return None # x\n"
    rows = build_diff_rows(f"--- a.py\n+++ a.py\n{hunk}--- b\n+++ b\n{hunk}")
    tokens = diff_tokens(rows, "")
    assert ["".join(text for text, _role in line) for line in tokens] == [row.text for row in rows]
    assert [any(role is CodeRole.KEYWORD for _text, role in line) for line in tokens] == [
        *(False, True, True),
        *(False, False, False),
    ]


def test_very_long_lines_stay_plain() -> None:
    (row,) = build_diff_rows(f"@@ -0,0 +1 @@\n+return {'1' * 5000}\n")
    assert diff_tokens([row], "a.py") == [[(row.text, None)]]
