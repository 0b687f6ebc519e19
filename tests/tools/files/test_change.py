"""A change to one file: looked at, worked out, shown, made exactly as shown."""

import hashlib
from functools import partial
from pathlib import Path

import pytest

from support.tool_results import RULE
from tejat.core.approval.confirmation import EditConfirmation
from tejat.core.errors import ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import replace
from tejat.core.tools.base import ToolContext
from tejat.core.tools.display import DiffStat, FileDiff
from tejat.tools.files.change import (
    FileChange,
    apply_change,
    plan_edits,
    plan_rewrite,
)
from tejat.tools.files.current_file import read_current
from tejat.workspace.context import Workspace
from tejat.workspace.text.encoding import UTF_8, TextEncoding, UnencodableCharacter
from tejat.workspace.text.text_edits import TextEdit, TextFile


def go_on() -> None:
    """Nobody cancels."""


def rewritten(workspace: Workspace, path: str, content: str, *, proposed: str | None = None) -> FileChange:
    return plan_rewrite(read_current(workspace, workspace.roots.locate(path)), content, proposed=proposed)


def edited(workspace: Workspace, path: str, *edits: TextEdit, proposed: str | None = None) -> FileChange | None:
    current = read_current(workspace, workspace.roots.locate(path))
    assert current.text is not None
    return plan_edits(current, current.text, list(edits), proposed=proposed)


def content_of(change: FileChange) -> bytes:
    return b"".join(change.pieces)


class TestWorkingOut:
    def test_a_new_file_is_exactly_as_given(self, workspace: Workspace) -> None:
        change = rewritten(workspace, "f", "a\r\nb\rc\n")
        assert content_of(change) == b"a\r\nb\rc\n"
        assert (change.is_new_file, change.name, change.before, change.after) == (True, "f", "", "a\r\nb\rc\n")

    def test_line_ends_are_shown_only_where_they_differ(self, workspace: Workspace, root: Path) -> None:
        for raw, shown in (
            (b"a\r\nb\r\n", "a\nb\n"),
            (b"a\rb\r", "a\nb\n"),
            (b"a\r\nb\n", "a\r\nb\n"),
            (b"a\rb\n", "a\rb\n"),
            (b"a\r\r\n", "a\r\r\n"),
        ):
            (root / "f").write_bytes(raw)
            assert rewritten(workspace, "f", "x").before == shown

    def test_an_edit_that_changes_nothing_is_none(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("abc")
        assert edited(workspace, "f", TextEdit(1, 2, "b")) is None

    def test_edits(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("a b c")
        change = edited(workspace, "f", TextEdit(0, 1, "x"), TextEdit(4, 5, "zz"))
        assert change is not None
        assert (content_of(change), change.replacements) == (b"x b zz", 2)
        assert (change.before, change.after) == ("a b c", "x b zz")

    @pytest.mark.parametrize("mark", [b"", b"\xff\xfe"])
    def test_large_contents_are_not_carried(self, workspace: Workspace, root: Path, mark: bytes) -> None:
        encoding = TextEncoding("utf-16-le", mark) if mark else UTF_8
        text = "some text on a line\n" * 60_000
        (root / "f").write_bytes(mark + encoding.encode_new(text))
        start = len(mark)
        change = edited(workspace, "f", TextEdit(start, start + encoding.code_unit_size * 4, "more"))
        assert change is not None
        assert (change.before, change.after, change.stat) == (None, None, None)
        confirmation = change.confirmation("Title")
        assert confirmation.file_diff == (
            f"Index: f\n{RULE}\n--- f\tCurrent\n+++ f\tProposed\n@@ -1,4 +1,4 @@\n-some text on a line\n"
            "+more text on a line\n" + " some text on a line\n" * 3
        )
        assert (confirmation.original_content, confirmation.new_content) == (None, None)
        assert content_of(change) == mark + encoding.encode_new(f"more{text[4:]}")

    def test_a_large_file_with_crlf_is_shown_without_it(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_bytes(b"some text on a line\r\n" * 60_000)
        change = edited(workspace, "f", TextEdit(0, 4, "more\n"))
        assert change is not None
        assert change.display("a", "b").file_diff == (
            f"Index: f\n{RULE}\n--- f\ta\n+++ f\tb\n@@ -1,4 +1,5 @@\n-some text on a line\n+more\n+ text on a line\n"
            + " some text on a line\n" * 3
        )

    @pytest.mark.parametrize("ending", ["\n", "\r\n"])
    def test_a_large_file_that_is_rewritten_shows_what_changed(
        self, workspace: Workspace, root: Path, ending: str
    ) -> None:
        lines = [f"line {number} with an é" for number in range(100_000)]
        (root / "f").write_bytes(ending.join([*lines, ""]).encode())
        lines[50_000] = "another"
        change = rewritten(workspace, "f", "\n".join([*lines, ""]))
        assert content_of(change) == ending.join([*lines, ""]).encode()
        assert (change.before, change.after, change.stat) == (None, None, None)
        assert change.patch.text.endswith(
            "@@ -49998,7 +49998,7 @@\n line 49997 with an é\n line 49998 with an é\n line 49999 with an é\n"
            "-line 50000 with an é\n+another\n line 50001 with an é\n line 50002 with an é\n line 50003 with an é\n"
        )

    def test_what_the_encoding_lacks(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_bytes("à bientôt, très cher élève de la forêt".encode("cp1252"))
        with pytest.raises(UnencodableCharacter):
            rewritten(workspace, "f", "日")
        with pytest.raises(UnencodableCharacter):
            edited(workspace, "f", TextEdit(0, 1, "日"))


class TestShowing:
    def test_confirmation_and_display(self, workspace: Workspace, root: Path) -> None:
        (root / "sub").mkdir()
        (root / "sub" / "f").write_text("a\n")
        change = rewritten(workspace, "sub/f", "b\n")
        patch = f"Index: f\n{RULE}\n--- f\t%s\n+++ f\t%s\n@@ -1,1 +1,1 @@\n-a\n+b\n"
        confirmation = change.confirmation("Title")
        assert confirmation == EditConfirmation(
            title="Title",
            file_name="f",
            file_path=f"{root}/sub/f",
            file_diff=patch % ("Current", "Proposed"),
            original_content="a\n",
            new_content="b\n",
            diff_stat=DiffStat(1, 1, 1, 1),
            digest=hashlib.sha256(f"{root}/sub/f\0b\n".encode()).hexdigest(),
        )
        assert confirmation.proposal is change
        assert change.display("Old", "New") == FileDiff(
            file_name="f",
            file_path=f"{root}/sub/f",
            file_diff=patch % ("Old", "New"),
            is_new_file=False,
            original_content="a\n",
            new_content="b\n",
            diff_stat=DiffStat(1, 1, 1, 1),
        )

    @pytest.mark.parametrize(
        ("old", "proposed", "final", "expected"),
        [
            ("", None, "a\nb\n", DiffStat(2, 0, 2, 0)),
            ("a\nb\n", None, "", DiffStat(0, 2, 0, 2)),
            ("a\n", None, "a \n", DiffStat(1, 1, 2, 1)),
            ("a\n", "b\n", "b\nc\n", DiffStat(1, 1, 1, 1, 1, 0, 1, 0)),
            ("a\n", "b\n", "a\n", DiffStat(1, 1, 1, 1, 1, 1, 1, 1)),
        ],
    )
    def test_who_changed_how_much(
        self, workspace: Workspace, root: Path, old: str, proposed: str | None, final: str, expected: DiffStat
    ) -> None:
        (root / "f").write_text(old)
        assert rewritten(workspace, "f", final, proposed=proposed).stat == expected


class TestMaking:
    def make(self, workspace: Workspace, path: str, content: str, approved: FileChange | None = None) -> FileChange:
        location = workspace.roots.locate(path)
        context = ToolContext(approved=None if approved is None else approved.confirmation("Title"))
        plan = partial(rewritten, workspace, path, content)
        change, side_effects = apply_change(workspace, location, context, plan, go_on)
        assert side_effects == ""
        return change

    def test_what_is_found_now(self, workspace: Workspace, root: Path) -> None:
        self.make(workspace, "f", "x")
        assert (root / "f").read_text() == "x"

    def test_what_was_approved_and_nothing_else(self, workspace: Workspace, root: Path) -> None:
        approved = rewritten(workspace, "f", "approved")
        assert self.make(workspace, "f", "other", approved) is approved
        assert (root / "f").read_text() == "approved"

    def test_other_hard_links_are_a_side_effect(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("old")
        (root / "g").hardlink_to(root / "f")
        plan = partial(rewritten, workspace, "f", "new")
        _, side_effects = apply_change(workspace, workspace.roots.locate("f"), ToolContext(), plan, go_on)
        assert side_effects == " The file had other hard links; they still hold the old content."
        assert ((root / "f").read_text(), (root / "g").read_text()) == ("new", "old")

    def test_it_is_remembered(self, workspace: Workspace, root: Path) -> None:
        self.make(workspace, "f", "x")
        assert workspace.read_tracker.last_content(f"{root}/f") == b"x"

    def test_the_file_moved_on(self, workspace: Workspace, root: Path) -> None:
        (root / "f").write_text("old")
        approved = rewritten(workspace, "f", "new")
        (root / "f").write_text("user")
        with pytest.raises(WorkspaceError) as caught:
            self.make(workspace, "f", "other", approved)
        assert caught.value.error_type is ErrorType.STALE_FILE
        assert (root / "f").read_text() == "user"

    def test_what_was_approved_is_not_what_would_be_written(self, workspace: Workspace, root: Path) -> None:
        location = workspace.roots.locate("f")
        shown, other = rewritten(workspace, "f", "shown"), rewritten(workspace, "f", "other")
        elsewhere = rewritten(workspace, "g", "shown")
        confirmation = shown.confirmation("Title")
        for forged in (
            replace(confirmation, proposal=other),
            replace(confirmation, proposal=elsewhere),
            replace(confirmation, proposal=None),
            replace(confirmation, digest=""),
        ):
            with pytest.raises(ToolFailure) as caught:
                apply_change(workspace, location, ToolContext(approved=forged), lambda: other, go_on)
            assert (caught.value.message, caught.value.error_type) == (
                f"The change differs from the one you approved, so nothing was written: {root}/f",
                ErrorType.EXECUTION_FAILED,
            )
        assert list(root.iterdir()) == []

    def test_the_path_leads_elsewhere(self, workspace: Workspace, root: Path) -> None:
        for name in ("one", "two"):
            (root / name).write_text("old")
        (root / "link").symlink_to("one")
        approved = rewritten(workspace, "link", "new")
        (root / "link").unlink()
        (root / "link").symlink_to("two")
        with pytest.raises(WorkspaceError) as caught:
            self.make(workspace, "link", "other", approved)
        assert (caught.value.message, caught.value.error_type) == (
            f"{root}/link now points to a different file, so nothing was written. Read it again first.",
            ErrorType.STALE_FILE,
        )
        assert [(root / name).read_text() for name in ("one", "two")] == ["old", "old"]

    def test_a_failure_lets_the_file_go(self, workspace: Workspace, root: Path) -> None:
        location = workspace.roots.locate("f")

        def fail() -> FileChange:
            raise UnencodableCharacter("x", "ascii")

        with pytest.raises(UnencodableCharacter):
            apply_change(workspace, location, ToolContext(), fail, go_on)
        self.make(workspace, "f", "x")
        assert (root / "f").read_text() == "x"

    def test_told_to_stop_nothing_is_written(self, workspace: Workspace, root: Path) -> None:
        def stop() -> None:
            raise TimeoutError

        with pytest.raises(TimeoutError):
            apply_change(
                workspace, workspace.roots.locate("a/f"), ToolContext(), lambda: rewritten(workspace, "a/f", "x"), stop
            )
        assert list(root.iterdir()) == []


def test_a_text_file_of_another_encoding_is_edited_in_it(workspace: Workspace, root: Path) -> None:
    raw = "à bientôt, très cher élève de la forêt".encode("cp1252")
    (root / "f").write_bytes(raw)
    current = read_current(workspace, workspace.roots.locate("f"))
    change = plan_edits(current, TextFile(raw, TextEncoding("cp1252", b"")), [TextEdit(0, 1, "ça")])
    assert change is not None
    assert content_of(change) == "ça bientôt, très cher élève de la forêt".encode("cp1252")
