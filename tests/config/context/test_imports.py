"""Imports in context files: in place or one after the other, never beyond the project, always an end."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.config.context.imports import MAX_DEPTH, expand_imports_flat, expand_imports_inline
from tejat.config.context.reader import MAX_IMPORTS, ContextReader


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made.resolve()


def write(root: Path, **files: str) -> None:
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def filled(root: Path, text: str, *allowed: Path) -> str:
    path = str(root / "GEMINI.md")
    return expand_imports_inline(
        path, text, reader=ContextReader(), allowed=[str(place) for place in allowed or (root,)]
    )


def imported(word: str, content: str) -> str:
    return f"<!-- Imported from: {word} -->\n{content}\n<!-- End of import from: {word} -->"


def failed(word: str, reason: str) -> str:
    return f"<!-- Import failed: {word} - {reason} -->"


OUTSIDE = "Path traversal attempt"


class TestInPlace:
    def test_relative_and_absolute(self, root: Path) -> None:
        write(root, a_md="\nA\n\n", docs__b_md="B")
        assert filled(root, "See @./a.md here\n@docs/b.md\n") == (
            f"See {imported('./a.md', 'A')} here\n{imported('docs/b.md', 'B')}\n"
        )
        absolute = str(root / "a.md")
        assert filled(root, f"@{absolute}") == imported(absolute, "A")

    def test_nested_imports_start_from_their_own_file(self, root: Path) -> None:
        write(root, docs__a_md="A @./b.md", docs__b_md="B @../c.md", c_md="C")
        inner = imported("./b.md", f"B {imported('../c.md', 'C')}")
        assert filled(root, "@docs/a.md") == imported("docs/a.md", f"A {inner}")

    def test_any_kind_of_file(self, root: Path) -> None:
        (root / "notes.txt").write_text("notes")
        (root / "Makefile").write_text("all:")
        assert (
            filled(root, "@notes.txt @Makefile") == f"{imported('notes.txt', 'notes')} {imported('Makefile', 'all:')}"
        )

    @pytest.mark.parametrize("end", [".", ",", ";", ":", "!", "?", ")", "...", "**", '"'])
    def test_the_end_of_a_sentence_is_not_the_name(self, root: Path, end: str) -> None:
        write(root, a_md="A")
        assert filled(root, f"see @a.md{end}") == f"see {imported('a.md', 'A')}{end}"

    def test_repeated(self, root: Path) -> None:
        write(root, a_md="A")
        assert filled(root, "@a.md @./a.md") == f"{imported('a.md', 'A')} <!-- File already processed: ./a.md -->"

    def test_circles(self, root: Path) -> None:
        write(root, a_md="A @b.md", b_md="B @a.md @GEMINI.md")
        (root / "GEMINI.md").write_text("@a.md")
        inner = "B <!-- Circular import detected: a.md --> <!-- Circular import detected: GEMINI.md -->"
        assert filled(root, "@a.md") == imported("a.md", f"A {imported('b.md', inner)}")
        assert filled(root, "@GEMINI.md") == "<!-- Circular import detected: GEMINI.md -->"

    def test_a_deep_chain(self, root: Path) -> None:
        for number in range(200):
            (root / f"{number}.md").write_text(f"text {number} @./{number + 1}.md")
        text = filled(root, "@./0.md")
        assert f"text {MAX_DEPTH - 1} " in text
        assert f"text {MAX_DEPTH} " not in text
        assert failed(f"./{MAX_DEPTH}.md", "Maximum import depth (5) reached") in text

    def test_a_tree_that_grows_without_end(self, root: Path) -> None:
        """Nothing is read twice, so that wide imports of each other come to an end."""
        names = [f"{number}.md" for number in range(100)]
        for name in names:
            (root / name).write_text(" ".join(f"@./{other}" for other in names))
        assert filled(root, "@./0.md").count("<!-- Imported from") <= 100

    def test_more_names_than_anybody_writes(self, root: Path) -> None:
        write(root, a_md="A")
        text = "@x " * MAX_IMPORTS + "@a.md"
        assert filled(root, text) == text
        assert filled(root, text[3:]) == text[3:].replace("@a.md", imported("a.md", "A"))


class TestRefused:
    @pytest.mark.parametrize(
        "word",
        ["../secret.md", "/etc/passwd", "./../secret.md", "docs/../../secret.md", "../missing.md", "/missing.md"],
    )
    def test_outside(self, root: Path, word: str) -> None:
        (root.parent / "secret.md").write_text("secret")
        assert filled(root, f"a @{word} b") == f"a {failed(word, OUTSIDE)} b"

    @pytest.mark.parametrize("word", ["https://example.invalid/a.md", "file:///etc/passwd", "http://x"])
    def test_addresses(self, root: Path, word: str) -> None:
        assert filled(root, f"@{word}") == failed(word, OUTSIDE)

    def test_a_directory_that_only_begins_the_same(self, root: Path) -> None:
        evil = root.parent / "project-evil"
        evil.mkdir()
        (evil / "a.md").write_text("evil")
        assert filled(root, "@../project-evil/a.md") == failed("../project-evil/a.md", OUTSIDE)

    def test_a_link_that_leads_out(self, root: Path) -> None:
        (root.parent / "secret.md").write_text("secret")
        (root / "link.md").symlink_to("../secret.md")
        (root / "inside.md").symlink_to("a.md")
        write(root, a_md="A")
        assert filled(root, "@link.md") == failed("link.md", OUTSIDE)
        assert filled(root, "@inside.md") == imported("inside.md", "A")

    def test_another_allowed_directory(self, root: Path) -> None:
        (root.parent / "shared.md").write_text("shared")
        assert filled(root, "@../shared.md", root.parent) == imported("../shared.md", "shared")

    @pytest.mark.parametrize("name", [".env", ".env.local", ".git/config", "sub/.ENV"])
    def test_what_may_hold_secrets(self, root: Path, name: str) -> None:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("KEY=secret")
        assert filled(root, f"@./{name}") == failed(f"./{name}", "It may hold secrets")

    def test_missing_and_special(self, root: Path) -> None:
        os.mkfifo(root / "pipe.md")
        (root / "folder.md").mkdir()
        (root / "link.md").symlink_to("nowhere")
        assert filled(root, "@./gone.md. @pipe.md @folder.md @link.md") == (
            f"{failed('./gone.md', 'File not found')}. {failed('pipe.md', 'not a regular file')} "
            f"{failed('folder.md', 'not a regular file')} {failed('link.md', 'No such file or directory')}"
        )


class TestNotAnImport:
    @pytest.mark.parametrize(
        "text",
        [
            "write to a@b.c or me@docs/a.md",
            "@someone and @some-one, thanks",
            "install @types/node and @angular/core",
            "`@a.md` and ``a ` @a.md`` and `x @./a.md y`",
            "```\n@a.md\n```",
            "   ~~~~ markdown\n@a.md\n```\n@a.md\n~~~~~",
            "```\nnever closed @a.md\n@a.md",
            "@1.md @_a.md @-a.md @",
            "(@a.md)",
        ],
    )
    def test_left_as_it_is(self, root: Path, text: str) -> None:
        write(root, a_md="A")
        assert filled(root, text) == text

    def test_around_code(self, root: Path) -> None:
        write(root, a_md="A")
        assert filled(root, "`x` @a.md `y`") == f"`x` {imported('a.md', 'A')} `y`"
        assert filled(root, "`open @a.md") == f"`open {imported('a.md', 'A')}"
        assert filled(root, "```\ncode\n```\n@a.md") == f"```\ncode\n```\n{imported('a.md', 'A')}"


class TestFlat:
    def flat(self, root: Path, text: str) -> tuple[str, list[str]]:
        reader = ContextReader()
        path = str(root / "GEMINI.md")
        return expand_imports_flat(path, text, reader=reader, allowed=[str(root)]), reader.warnings

    def test_each_file_once(self, root: Path) -> None:
        write(root, a_md="A @./b.md @GEMINI.md", b_md="B @./a.md\n")
        (root / "GEMINI.md").touch()
        text = "Main @./a.md, @b.md and `@a.md` @gone.md @/etc/passwd\n"
        contents = {"GEMINI.md": text.strip(), "a.md": "A @./b.md @GEMINI.md", "b.md": "B @./a.md"}
        blocks = [
            f"--- File: {root / name} ---\n{content}\n--- End of File: {root / name} ---"
            for name, content in contents.items()
        ]
        assert self.flat(root, text) == ("\n\n".join(blocks), [])

    def test_a_deep_chain(self, root: Path) -> None:
        for number in range(20):
            (root / f"{number}.md").write_text(f"text {number} @./{number + 1}.md")
        assert self.flat(root, "@./0.md")[0].count("--- File: ") == 1 + MAX_DEPTH

    def test_what_cannot_be_read_is_told(self, root: Path) -> None:
        os.mkfifo(root / "pipe.md")
        _, warnings = self.flat(root, "@pipe.md")
        assert warnings == [f"{root}/GEMINI.md imports pipe.md, which was skipped: not a regular file."]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["`", "``", "```", "~~~", "\n", " ", "@", "a.md", ".", "/", "x", "@a.md"]), max_size=30)
)
def test_any_text_goes_through_and_nothing_else_changes(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    root = tmp_path_factory.mktemp("any").resolve()
    text = "".join(pieces)
    assert filled(root, text).count("\n") >= text.count("\n")
    if "@" not in text:
        assert filled(root, text) == text


@pytest.mark.parametrize("text", ["`" * 200_000 + "@a.md", "` `` " * 40_000 + "@", "@" * 200_000, " @x" * 60_000])
def test_hostile_texts_take_no_time(root: Path, text: str) -> None:
    assert filled(root, text) == text
