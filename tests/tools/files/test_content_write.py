"""New content of files that an editor has open: no byte outside of an edit changes, and no unsaved text is lost."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from support.editor import age
from support.editor_workspace import EditorWorkspace
from support.text_samples import CODECS
from support.tool_results import RULE
from tejat.core.approval.confirmation import EditConfirmation
from tejat.core.errors import ErrorType
from tejat.core.tools.base import ToolResult
from tejat.workspace.files.editor.buffer_text import normalize_text


@pytest.fixture
def env(root: Path) -> Iterator[EditorWorkspace]:
    with EditorWorkspace(root) as env:
        yield env


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditorWorkspace]:
    with EditorWorkspace(tmp_path_factory.mktemp("shared").resolve()) as env:
        yield env


def message_of(result: ToolResult) -> str:
    assert isinstance(result.llm_content, str)
    return result.llm_content


def succeed(result: ToolResult) -> str:
    assert result.error is None, result.error
    return message_of(result)


def fail(result: ToolResult) -> tuple[str, ErrorType]:
    assert result.error is not None, result.llm_content
    return message_of(result), result.error.type


# --- whatever the file and the editor ---

numbers = count()
EDITORS: list[dict[str, Any]] = [
    {},
    {"shows_carriage_returns": True},
    {"drops_last_newline": True},
    {"naive": True},
    {"missing": "empty"},
    {"read": "error"},
]
DEFAULTS: dict[str, Any] = {
    "shows_carriage_returns": False,
    "drops_last_newline": False,
    "naive": False,
    "missing": "error",
    "read": "",
}
endings = st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=3, max_size=3) | st.sampled_from(
    [["\n"] * 3, ["\r\n"] * 3, ["\r\n", "\r\n", ""], ["\n", "\n", ""]]
)
relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def encode(codec: str, mark: bytes, lines: list[str], line_ends: list[str]) -> bytes:
    return mark + "".join(line + end for line, end in zip(lines, line_ends, strict=True)).encode(codec)


@relaxed
@given(st.sampled_from(CODECS), endings, st.sampled_from(EDITORS), st.booleans())
def test_bytes_outside_of_an_edit_survive(
    shared: EditorWorkspace,
    encoding: tuple[str, bytes, list[str]],
    line_ends: list[str],
    behaviour: dict[str, Any],
    reads_first: bool,
) -> None:
    """The editor has no unsaved changes."""
    # An editor that ends every file with a newline formats the file.
    assume(line_ends[-1] or "drops_last_newline" not in behaviour)
    shared.editor.set(**DEFAULTS | behaviour)
    codec, mark, lines = encoding
    raw = encode(codec, mark, lines, line_ends)
    name = f"f{next(numbers)}"
    path = shared.file(name, raw)
    if reads_first:
        succeed(shared.read(name))
    succeed(shared.replace(name, "edit_me", "edited"))
    assert path.read_bytes() == raw.replace("edit_me".encode(codec), "edited".encode(codec))
    # What was written counts as seen.
    succeed(shared.replace(name, "edited", "edited again"))


@relaxed
@given(
    st.sampled_from([entry for entry in CODECS if entry[0] == "utf-8"]),
    st.sampled_from([["\n"] * 3, ["\r\n"] * 3, ["\r\n", "\r\n", ""], ["\n", "\n", ""]]),
    st.booleans(),
    st.booleans(),
    st.text(st.sampled_from("xé日 \n"), min_size=1, max_size=20).filter(str.strip),
)
def test_unsaved_text_survives(
    shared: EditorWorkspace,
    encoding: tuple[str, bytes, list[str]],
    line_ends: list[str],
    shows_carriage_returns: bool,
    reads_first: bool,
    typed: str,
) -> None:
    shared.editor.set(**DEFAULTS | {"shows_carriage_returns": shows_carriage_returns})
    codec, mark, lines = encoding
    name = f"f{next(numbers)}"
    path = shared.file(name, encode(codec, mark, lines, line_ends))
    as_saved = encode(codec, mark, [typed.replace("\n", line_ends[0]), *lines[1:]], line_ends)
    unsaved = as_saved.removeprefix(mark).decode()
    shared.editor.type(path, unsaved if shows_carriage_returns else normalize_text(unsaved))
    if reads_first:
        assert typed.partition("\n")[0] in succeed(shared.read(name))
    succeed(shared.replace(name, "edit_me", "edited"))
    assert path.read_bytes() == as_saved.replace(b"edit_me", b"edited")
    assert shared.replaced[str(path)] == as_saved
    succeed(shared.replace(name, "edited", "edited again"))


# --- through the editor, or to the disk ---


def test_the_editor_saves_plain_files(env: EditorWorkspace) -> None:
    path = env.file("f", b"a\nb\n")
    assert succeed(env.replace("f", "b", "c")) == f"Successfully modified file: {path} (1 replacements)."
    assert (path.read_bytes(), env.editor.written()) == (b"a\nc\n", ["a\nc\n"])


def test_a_new_file(env: EditorWorkspace) -> None:
    """The editor answers that there is no such file."""
    path = env.root / "new/directory/f"
    assert succeed(env.write("new/directory/f", "a\n")) == f"Successfully created and wrote to new file: {path}."
    assert (path.read_bytes(), env.editor.written()) == (b"a\n", ["a\n"])
    assert succeed(env.write("new/directory/f", "b\n")) == f"Successfully overwrote file: {path}."
    assert path.read_bytes() == b"b\n"


@pytest.mark.parametrize("content", ["a\r\nb\r\n", "a\r\nb\n", "a\rb", "\ufeffa", "", "a\0b"])
def test_new_files_are_exactly_as_given(env: EditorWorkspace, content: str) -> None:
    env.editor.set(missing="empty")
    succeed(env.write("f", content))
    assert (env.root / "f").read_bytes() == content.encode()


@pytest.mark.parametrize(
    "raw",
    [
        "à bientôt, très cher élève de la forêt a".encode("cp1252"),
        b"\xef\xbb\xbfa\n",
        b"a\r\nb\n",
        b"a\rb\r",
    ],
)
def test_what_an_editor_might_not_keep_is_written_to_the_disk(env: EditorWorkspace, raw: bytes) -> None:
    path = env.file("f", raw)
    succeed(env.replace("f", raw.decode("cp1252")[-3:] if b"\xe0" in raw else "a", "z"))
    assert env.editor.written() == []
    assert path.read_bytes() != raw


def test_links_are_kept(env: EditorWorkspace) -> None:
    path = env.file("f", b"a\n")
    (env.root / "link").symlink_to("f")
    succeed(env.replace("link", "a", "b"))
    assert (env.root / "link").is_symlink()
    assert (path.read_bytes(), env.editor.written()) == (b"b\n", [])


def test_an_editor_that_only_reads(root: Path) -> None:
    with EditorWorkspace(root, writes=False) as env:
        path = env.file("f", b"a\n")
        succeed(env.replace("f", "a", "b"))
        assert (path.read_bytes(), env.editor.written()) == (b"b\n", [])
        env.editor.type(path, "c\n")
        age(path)
        message = (
            f"The file has unsaved changes in the editor: {path}. The editor does not accept changes. Ask the user to "
            "save or discard them."
        )
        assert fail(env.write("f", "d\n")) == (message, ErrorType.FILE_WRITE_FAILURE)
        assert (path.read_bytes(), env.editor.text(path)) == (b"b\n", "c\n")


def test_an_editor_that_only_writes(root: Path) -> None:
    with EditorWorkspace(root, reads=False) as env:
        path = env.file("f", b"a\n")
        succeed(env.read("f"))
        succeed(env.replace("f", "a", "b"))
        assert (path.read_bytes(), env.editor.written()) == (b"b\n", ["b\n"])
        assert {request["method"] for request in env.editor.log()} == {"fs/write_text_file"}


def test_an_editor_that_does_not_restore_line_endings(root: Path) -> None:
    """It shows CRLF as LF and saves LF: the bytes are written again."""
    with EditorWorkspace(root, naive=True) as env:
        path = env.file("f", b"a\r\nb\r\n")
        assert succeed(env.replace("f", "b", "c")) == f"Successfully modified file: {path} (1 replacements)."
        assert (path.read_bytes(), env.editor.written()) == (b"a\r\nc\r\n", ["a\nc\n"])


def test_files_outside_of_the_editor(tmp_path: Path, root: Path) -> None:
    other = tmp_path.resolve() / "other"
    other.mkdir()
    with EditorWorkspace(root) as env:
        env.workspace.roots.add(str(other))
        (other / "f").write_bytes(b"a\n")
        succeed(env.read(str(other / "f")))
        succeed(env.replace(str(other / "f"), "a", "b"))
        assert ((other / "f").read_bytes(), env.editor.log()) == (b"b\n", [])


@pytest.mark.parametrize("mode", [0o444, 0o000])
def test_files_that_may_not_be_written(env: EditorWorkspace, mode: int) -> None:
    path = env.file("f", b"a\n")
    path.chmod(mode)
    assert fail(env.write("f", "b\n"))[1] is ErrorType.PERMISSION_DENIED
    assert env.editor.written() == []


# --- unsaved text ---


def test_the_user_is_shown_the_change_of_the_unsaved_text(env: EditorWorkspace) -> None:
    path = env.file("f", b"a\nb\n")
    env.editor.type(path, "typed\nb\n")
    shown = env.propose("f", "b", "c")
    assert isinstance(shown, EditConfirmation)
    assert (shown.original_content, shown.new_content) == ("typed\nb\n", "typed\nc\n")
    assert succeed(env.approve("f", "b", "c", shown)) == (
        f"Successfully modified file: {path} (1 replacements)."
        " The unsaved changes that the user had in the editor were saved with it."
    )
    assert (path.read_bytes(), env.editor.text(path)) == (b"typed\nc\n", "typed\nc\n")
    assert env.replaced == {str(path): b"typed\nb\n"}


def test_the_user_types_before_the_answer(env: EditorWorkspace) -> None:
    """Between the question and the write."""
    path = env.file("f", b"a\n")
    for before, after in (("a\n", "a1\n"), ("a1\n", "a2\n")):
        env.editor.type(path, before)
        shown = env.propose("f", "a", "b")
        env.editor.type(path, after)
        message = (
            f"The file has changed in the editor since it was read, so nothing was written: {path}. Read it again "
            "first."
        )
        assert fail(env.approve("f", "a", "b", shown)) == (message, ErrorType.STALE_FILE)
        assert (path.read_bytes(), env.editor.text(path), env.replaced) == (b"a\n", after, {})


def test_the_disk_changes_before_the_answer(env: EditorWorkspace) -> None:
    path = env.file("f", b"a\n")
    env.editor.set(reloads=False)
    for typed in ("a\n", "a1\n"):
        env.editor.type(path, typed)
        shown = env.propose("f", "a", "b")
        before = path.read_bytes()
        env.file("f", before + b"more\n")
        assert fail(env.approve("f", "a", "b", shown))[1] is ErrorType.STALE_FILE
        assert path.read_bytes() == before + b"more\n"
        env.file("f", before)


def test_a_file_that_is_only_in_the_editor(env: EditorWorkspace) -> None:
    path = env.root / "new"
    env.editor.type(path, "unsaved\n")
    succeed(env.replace("new", "unsaved", "changed"))
    assert (path.read_bytes(), env.replaced) == (b"changed\n", {str(path): b"unsaved\n"})


def test_an_unsaved_legacy_file_is_saved_by_the_editor(env: EditorWorkspace) -> None:
    text = "à bientôt, très cher élève de la forêt\n"
    path = env.file("f", text.encode("latin-1"))
    env.editor.type(path, f"typed {text}")
    succeed(env.replace("f", "cher", "chère"))
    after = f"typed {text}".replace("cher", "chère")
    assert (path.read_bytes(), env.editor.written()) == (after.encode("latin-1"), [after])
    assert env.replaced == {str(path): f"typed {text}".encode("latin-1")}


def test_characters_that_the_editor_cannot_show_are_not_destroyed(env: EditorWorkspace) -> None:
    raw = "à bientôt, très cher élève de la forêt\n".encode("latin-1")
    path = env.file("f", raw)
    env.editor.type(path, f"typed {raw.decode('utf-8', 'replace')}")
    message, kind = fail(env.replace("f", "cher", "chère"))
    assert "The editor cannot show all of its characters." in message
    assert (kind, path.read_bytes(), env.editor.written()) == (ErrorType.EDIT_PREPARATION_FAILURE, raw, [])


# --- what the editor does with the text ---


def test_the_editor_formats_the_file(env: EditorWorkspace) -> None:
    path = env.file("f", b"a\nb\n")
    env.editor.set(formats="strip")
    succeed(env.read("f"))
    message = succeed(env.write("f", "a\nb  \n"))
    assert message == (
        f"Successfully overwrote file: {path}. The editor changed the text when it saved the file:\n"
        f"Index: f\n{RULE}\n--- f\tSent\n+++ f\tSaved\n@@ -1,2 +1,2 @@\n a\n-b  \n+b\n"
    )
    assert path.read_bytes() == b"a\nb\n"
    # The model knows what is there.
    succeed(env.replace("f", "b\n", "c\n"))
    assert path.read_bytes() == b"a\nc\n"


def test_the_editor_changes_too_much_to_be_shown(env: EditorWorkspace) -> None:
    path = env.file("f", b"a\n")
    env.editor.set(formats="double")
    succeed(env.read("f"))
    message = succeed(env.write("f", "some line\n" * 2000))
    assert message.endswith("The editor changed the text when it saved the file. Read it again before you change it.")
    age(path)
    assert fail(env.write("f", "x"))[1] is ErrorType.STALE_FILE
    succeed(env.read("f"))
    succeed(env.write("f", "x"))


def test_text_of_a_file_that_was_never_read_is_not_shown(env: EditorWorkspace) -> None:
    env.file("f", b"secret\nb\n")
    env.editor.set(formats="double")
    message = succeed(env.replace("f", "b", "c"))
    assert "secret" not in message
    assert message.endswith("Read it again before you change it.")


def test_an_editor_that_answers_before_it_has_saved(env: EditorWorkspace) -> None:
    path = env.file("f", b"a\n")
    env.editor.set(write="late")
    assert succeed(env.replace("f", "a", "b")).endswith("(1 replacements).")
    assert path.read_bytes() == b"b\n"


def test_an_editor_that_does_not_save(env: EditorWorkspace) -> None:
    path = env.file("f", b"a\n")
    env.editor.set(saves=False)
    assert succeed(env.replace("f", "a", "b")).endswith("The editor shows the new text, but has not saved the file.")
    assert (path.read_bytes(), env.editor.text(path)) == (b"a\n", "b\n")
    # The text of the editor is what the model sees and edits from now on.
    assert succeed(env.read("f")) == "b\n"
    succeed(env.replace("f", "b", "c"))
    assert env.editor.text(path) == "c\n"
    assert succeed(env.write("new", "x\n")).endswith("has not saved the file.")
    assert succeed(env.read("new")) == "x\n"


@pytest.mark.parametrize("name", ["f", "sub/new"])
def test_an_editor_that_does_nothing(env: EditorWorkspace, name: str) -> None:
    env.file("f", b"a\n")
    env.editor.set(write="ignore")
    path = env.root / name
    assert fail(env.write(name, "b\n")) == (
        f"The editor accepted the new text of {path}, but did not save it.",
        ErrorType.FILE_WRITE_FAILURE,
    )
    assert (env.root / "f").read_bytes() == b"a\n"


@pytest.mark.parametrize("answer", ["error", "exit"])
def test_an_editor_that_refuses_or_ends(env: EditorWorkspace, answer: str) -> None:
    path = env.file("f", b"a\n")
    env.editor.set(write=answer)
    assert fail(env.replace("f", "a", "b"))[1] is ErrorType.FILE_WRITE_FAILURE
    assert path.read_bytes() == b"a\n"


def test_after_a_refusal_no_directory_is_left(env: EditorWorkspace) -> None:
    env.editor.set(write="error")
    fail(env.write("a/b/c", "x\n"))
    assert os.listdir(env.root) == []
