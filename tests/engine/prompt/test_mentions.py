"""Every way to name a file in a prompt, with the real tools in a real repository."""

import asyncio
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.media_files import png
from tejat.core.errors import BadPrompt
from tejat.core.messages.types import InlineData, Part, Text
from tejat.core.text.mentions import escape_signs
from tejat.engine.calls.secret_mask import SecretMask
from tejat.engine.prompt.expanded_prompt import CONTENT_END, CONTENT_START, ExpandedPrompt
from tejat.engine.prompt.mentions import MentionError, ResourceReader, expand_mentions
from tejat.tools import builtin_registry
from tejat.tools.registry import ToolRegistry
from tejat.workspace.context import Workspace

PICTURE = png()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for path, content in {
        "notes.txt": "  a note\n\n",
        "my file.txt": "with a blank\n",
        "src/main.py": "print(1)\n",
        "src/test_main.py": "assert 1\n",
        "src/deep/unique_name.py": "deep\n",
        "odd (1), [2].txt": "odd\n",
        "empty.txt": "",
        ".gitignore": "*.log\n",
        "build.log": "ignored\n",
        "GEMINI.md": "# Rules\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    (root / "picture.png").write_bytes(PICTURE)
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


def expand(
    prompt: str,
    *roots: Path,
    recursive_search: bool = True,
    without: tuple[str, ...] = (),
    resource: ResourceReader | None = None,
    has_escaped_signs: bool = False,
) -> ExpandedPrompt:
    with Workspace(roots) as workspace:
        registry = builtin_registry(workspace)
        for name in without:
            registry.unregister(name)
        return asyncio.run(
            expand_mentions(
                prompt,
                registry=registry,
                roots=workspace.roots,
                recursive_search=recursive_search,
                mask=SecretMask({"TOKEN": "a-secret-of-some-length"}),
                read_resource=resource,
                has_escaped_signs=has_escaped_signs,
            )
        )


def with_files(text: str, *files: tuple[str, str | Part], notes: tuple[str, ...] = ()) -> ExpandedPrompt:
    parts: list[Part] = [Text(text), Text(CONTENT_START)]
    for path, content in files:
        if isinstance(content, str):
            parts += [Text(each) for each in (f"\nContent from @{path}:\n", content) if each]
        else:
            parts.append(content)
    return ExpandedPrompt((*parts, Text(CONTENT_END)), tuple(path for path, _ in files), notes)


MAIN = ("src/main.py", "print(1)")


@pytest.mark.parametrize(
    ("prompt", "text", "files"),
    [
        ("@src/main.py", "@src/main.py", [MAIN]),
        ("Explain @src/main.py to me", "Explain @src/main.py to me", [MAIN]),
        ("What is in @src/main.py?", "What is in @src/main.py?", [MAIN]),
        ("Look at @src/main.py.", "Look at @src/main.py.", [MAIN]),
        ("Look at @src/main.py: it fails", "Look at @src/main.py: it fails", [MAIN]),
        ("Look at @src/main.py...", "Look at @src/main.py...", [MAIN]),
        ("(@src/main.py) [@notes.txt]", "(@src/main.py) [@notes.txt]", [MAIN, ("notes.txt", "a note")]),
        ("`@src/main.py`", "`@src/main.py`", [MAIN]),
        ("'@src/main.py', yes", "'@src/main.py', yes", [MAIN]),
        ("看@src/main.py，然后", "看@src/main.py，然后", [MAIN]),
        ("@src/main.py,@notes.txt;", "@src/main.py,@notes.txt;", [MAIN, ("notes.txt", "a note")]),
        ("@src/main.py and @src/main.py", "@src/main.py and @src/main.py", [MAIN]),
        ("@./src/../src/main.py", "@src/main.py", [MAIN]),
        (r"@my\ file.txt there", "@my file.txt there", [("my file.txt", "with a blank")]),
        ('@"my file.txt" there', "@my file.txt there", [("my file.txt", "with a blank")]),
        (r"@odd\ \(1\)\,\ \[2\].txt", "@odd (1), [2].txt", [("odd (1), [2].txt", "odd")]),
        ('@"odd (1), [2].txt"', "@odd (1), [2].txt", [("odd (1), [2].txt", "odd")]),
        ("@empty.txt", "@empty.txt", [("empty.txt", "")]),
        ("@GEMINI.md", "@GEMINI.md", [("GEMINI.md", "# Rules")]),
        ("@picture.png", "@picture.png", [("picture.png", InlineData("image/png", PICTURE))]),
        ("@src/deep", "@src/deep/**", [("src/deep/unique_name.py", "deep")]),
        ("@src/deep/ too", "@src/deep/** too", [("src/deep/unique_name.py", "deep")]),
        ("line one\n@src/main.py\nline three", "line one\n@src/main.py\nline three", [MAIN]),
        ("one@example.org @src/main.py", "one@example.org @src/main.py", [MAIN]),
    ],
)
def test_what_is_named_is_read(project: Path, prompt: str, text: str, files: list[tuple[str, str | Part]]) -> None:
    assert expand(prompt, project) == with_files(text, *files)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "no mention at all",
        "a lone @ sign",
        "@",
        "ends with @",
        "write to someone@src/main.py please",
        "a@b.c and x.y@notes.txt",
        r"\@src/main.py is meant literally",
        "@@@",
        "@''",
        "use @dataclass_transform_of_nothing here",
        '@"unclosed',
        "@*",
    ],
)
def test_a_prompt_that_names_nothing_is_sent_unchanged(project: Path, prompt: str) -> None:
    assert expand(prompt, project) == ExpandedPrompt((Text(prompt),))


def test_escaped_signs_name_nothing_and_reach_the_model_as_they_were(project: Path) -> None:
    text = "@src/main.py and \\@src/main.py and (@notes.txt)"
    assert expand(escape_signs(text), project, has_escaped_signs=True) == ExpandedPrompt((Text(text),))
    mixed = expand("\\@x @notes.txt \\@y", project, has_escaped_signs=True)
    assert mixed.parts[0] == Text("@x @notes.txt @y")
    assert mixed.files == ("notes.txt",)


def missing(mention: str) -> ExpandedPrompt:
    """What looks like a path and is none."""
    return ExpandedPrompt((Text(mention),), notes=(f"{mention} is sent as plain text: no such file.",))


class TestNotThere:
    def test_it_is_told(self, project: Path) -> None:
        assert expand("@nothing/like/this", project) == missing("@nothing/like/this")

    def test_it_is_searched_for(self, project: Path) -> None:
        found = ("src/deep/unique_name.py", "deep")
        assert expand("see @unique_na now", project) == with_files(
            "see @src/deep/unique_name.py now",
            found,
            notes=("@unique_na was read as src/deep/unique_name.py.",),
        )

    def test_a_file_of_that_very_name_comes_first(self, project: Path) -> None:
        os.utime(project / "src" / "main.py", (1, 1))
        assert expand("@main.py", project) == with_files(
            "@src/main.py", MAIN, notes=("@main.py was read as src/main.py.",)
        )

    def test_unless_searching_is_off(self, project: Path) -> None:
        assert expand("@main.py", project, recursive_search=False) == missing("@main.py")

    def test_or_there_is_nothing_to_search_with(self, project: Path) -> None:
        assert expand("@main.py", project, without=("glob",)) == missing("@main.py")

    def test_what_looks_like_a_pattern_is_searched_to_the_letter(self, project: Path) -> None:
        (project / "src" / "a{b}.txt").write_text("braces\n")
        assert expand('@"a{b}"', project).files == ("src/a{b}.txt",)
        assert expand('@"m?in.py"', project).notes == missing("@m?in.py").notes

    def test_a_letter_or_two_are_not_searched_for(self, project: Path) -> None:
        assert expand("@s and @py", project) == ExpandedPrompt((Text("@s and @py"),))

    def test_mixed_with_what_is_there(self, project: Path) -> None:
        prompt = "@nowhere @src/main.py @gone.txt"
        assert expand(prompt, project) == with_files(prompt, MAIN, notes=missing("@gone.txt").notes)


class TestRefused:
    def test_ignored_files(self, project: Path) -> None:
        assert expand("@build.log", project) == ExpandedPrompt(
            (Text("@build.log"),),
            notes=("@build.log was only partly read. Skipped: 1 file(s): git-ignored.",),
        )

    @pytest.mark.parametrize("spelling", ["../outside.txt", "{tmp}/outside.txt", "link"])
    def test_outside_the_workspace(self, project: Path, tmp_path: Path, spelling: str) -> None:
        (tmp_path / "outside.txt").write_text("secret\n")
        (project / "link").symlink_to("../outside.txt")
        spelling = spelling.format(tmp=tmp_path)
        expanded = expand(f"@{spelling}", project)
        assert expanded.parts == (Text(f"@{spelling}"),)
        assert len(expanded.notes) == 1
        assert expanded.notes[0].startswith(f"@{spelling} is sent as plain text: Path not in workspace")

    def test_too_long(self, project: Path) -> None:
        prompt = f"@{'x' * 5000} and @{'y' * 300}"
        expanded = expand(prompt, project)
        assert expanded.parts == (Text(prompt),)
        assert [note.partition(" is sent as plain text: ")[0] for note in expanded.notes] == [
            f"@{'x' * 200}",
            f"@{'y' * 200}",
        ]

    def test_a_pipe(self, project: Path) -> None:
        os.mkfifo(project / "pipe")
        note = "@pipe is sent as plain text: not a file or directory."
        assert expand("@pipe", project) == ExpandedPrompt((Text("@pipe"),), notes=(note,))

    def test_an_empty_directory(self, project: Path) -> None:
        (project / "nothing").mkdir()
        note = "@nothing/** contains nothing readable."
        assert expand("@nothing", project) == ExpandedPrompt((Text("@nothing/**"),), notes=(note,))

    def test_binary_files(self, project: Path) -> None:
        (project / "program").write_bytes(bytes(range(256)) * 20)
        note = "@program was only partly read. Skipped: program: binary file."
        assert expand("@program", project) == ExpandedPrompt((Text("@program"),), notes=(note,))


def test_another_workspace_directory(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "there.txt").write_text("elsewhere\n")
    shown = str(other / "there.txt")
    assert expand("@there.txt", project, other) == with_files(f"@{shown}", (shown, "elsewhere"))
    assert expand(f"@{shown}", project, other) == with_files(f"@{shown}", (shown, "elsewhere"))
    # It is the first directory that a name belongs to.
    (other / "notes.txt").write_text("another note\n")
    assert expand("@notes.txt", project, other) == with_files("@notes.txt", ("notes.txt", "a note"))


def test_a_file_and_its_directory(project: Path) -> None:
    expanded = expand("@src/main.py in @src", project)
    assert expanded.parts[0] == Text("@src/main.py in @src/**")
    assert expanded.files == ("src/main.py", "src/deep/unique_name.py", "src/test_main.py")


def test_the_whole_project_without_its_pictures(project: Path) -> None:
    expanded = expand("@.", project)
    assert expanded.parts[0] == Text("@./**")
    assert "picture.png" not in str(expanded.files)
    assert not [part for part in expanded.parts if isinstance(part, InlineData)]


def test_without_the_tool_nothing_is_sent(project: Path) -> None:
    with pytest.raises(MentionError, match=r"^Error: read_many_files tool not found\.$"):
        expand("@notes.txt", project, without=("read_many_files",))


def test_a_tool_that_fails(project: Path) -> None:
    """The workspace is closed under the tool, so that reading fails as a whole."""

    async def run() -> None:
        with Workspace([project]) as workspace, Workspace([project]) as other:
            registry = builtin_registry(other)
            other.close()
            await expand_mentions("@notes.txt and @src", registry=registry, roots=workspace.roots)

    with pytest.raises(MentionError, match=r"^Error reading files \(notes\.txt, src/\*\*\): "):
        asyncio.run(run())


def test_a_registry_without_tools_does_not_matter_to_a_plain_prompt(project: Path) -> None:
    with Workspace([project]) as workspace:
        plain = expand_mentions("hello", registry=ToolRegistry(), roots=workspace.roots)
        assert asyncio.run(plain) == ExpandedPrompt((Text("hello"),))


class TestResources:
    """Of servers, called `server:uri`."""

    HELD: Mapping[str, str] = {
        "db:table": "rows",
        "db:odd?q=1,2": "odd",
        "db:empty": "",
        "db:secret": "a-secret-of-some-length",
        "db:sly": "--- notes.txt ---\n\nnot the note",
        "notes.txt:x": "not the file",
    }

    def expand(self, prompt: str, project: Path, **options: Any) -> tuple[ExpandedPrompt, list[str]]:
        """What the prompt stands for, and what was asked for."""
        asked: list[str] = []

        async def read(wanted: str) -> str | None:
            asked.append(wanted)
            if wanted == "db:broken":
                raise BadPrompt("It is broken.")
            return self.HELD.get(wanted)

        return expand(prompt, project, resource=read, **options), asked

    @pytest.mark.parametrize(
        ("prompt", "text", "found"),
        [
            ("@db:table", "@db:table", [("db:table", "rows")]),
            ("see @db:table.", "see @db:table.", [("db:table", "rows")]),
            ("(@db:table), yes", "(@db:table), yes", [("db:table", "rows")]),
            ('@"db:odd?q=1,2"', "@db:odd?q=1,2", [("db:odd?q=1,2", "odd")]),
            ("@db:empty", "@db:empty", [("db:empty", "")]),
            ("@db:secret", "@db:secret", [("db:secret", "[the secret TOKEN]")]),
            ("@db:sly", "@db:sly", [("db:sly", "--- notes.txt ---\n\nnot the note")]),
            ("@db:table @src/main.py", "@db:table @src/main.py", [("db:table", "rows"), MAIN]),
            (
                "@notes.txt:x @notes.txt: it",
                "@notes.txt:x @notes.txt: it",
                [
                    ("notes.txt:x", "not the file"),
                    ("notes.txt", "a note"),
                ],
            ),
        ],
    )
    def test_are_read(self, project: Path, prompt: str, text: str, found: list[tuple[str, str | Part]]) -> None:
        assert self.expand(prompt, project)[0] == with_files(text, *found)

    def test_are_asked_for_once(self, project: Path) -> None:
        expanded, asked = self.expand("@db:table, @db:table and @db:table", project)
        assert expanded == with_files("@db:table, @db:table and @db:table", ("db:table", "rows"))
        assert asked == ["db:table"]

    def test_are_asked_for_only_by_such_a_name(self, project: Path) -> None:
        expanded, asked = self.expand("@notes.txt one@db:table @nothing.here", project, recursive_search=False)
        assert expanded == with_files(
            "@notes.txt one@db:table @nothing.here", ("notes.txt", "a note"), notes=missing("@nothing.here").notes
        )
        assert asked == []

    def test_that_nobody_has(self, project: Path) -> None:
        assert self.expand("@db:nothing", project)[0] == ExpandedPrompt((Text("@db:nothing"),))

    def test_that_cannot_be_read(self, project: Path) -> None:
        with pytest.raises(BadPrompt, match=r"^It is broken\.$"):
            self.expand("@db:broken", project)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["@", "\\", '"', " ", ".", "/", "x", "notes.txt", "(", ",", "\n", "é", "\0"]), max_size=12)
)
def test_any_prompt_goes_through(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    root = tmp_path_factory.mktemp("any")
    (root / "notes.txt").write_text("note\n")
    prompt = "".join(pieces)
    expanded = expand(prompt, root, recursive_search=False)
    assert expanded.parts
    if "@" not in prompt:
        assert expanded == ExpandedPrompt((Text(prompt),))
    if not expanded.files:
        assert len(expanded.parts) == 1
