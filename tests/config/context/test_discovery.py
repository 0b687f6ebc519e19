"""Which context files count, in which order, and what the model gets of them."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tejat.config.context.discovery import ContextFile, ContextFileOrigin, ContextFiles, find_context_files
from tejat.config.extensions.active import ActiveExtension
from tejat.config.extensions.manifest import ExtensionManifest
from tejat.workspace.paths.ignore_rules import DEFAULT_IGNORE, IgnoreOptions

NAMES = ("GEMINI.md", "AGENTS.md")


class Here:
    """A home with a repository in it, and the directory of the repository where we are."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.top = home / "work" / "repository"
        self.start = self.top / "packages" / "one"
        self.start.mkdir(parents=True)
        (home / ".gemini").mkdir()
        subprocess.run(["git", "init", "-q", self.top], check=True)

    def write(self, path: str, content: str) -> Path:
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
        return target

    def find(
        self,
        *directories: Path,
        names: Sequence[str] = NAMES,
        is_trusted: bool = True,
        import_format: str = "tree",
        most_directories: int = 200,
        markers: Sequence[str] = (".git",),
        ignore: IgnoreOptions = DEFAULT_IGNORE,
    ) -> ContextFiles:
        return find_context_files(
            home_directory=str(self.home / ".gemini"),
            directories=[str(directory) for directory in directories or (self.start,)],
            names=names,
            is_trusted=is_trusted,
            import_format=import_format,
            max_directories=most_directories,
            boundary_markers=markers,
            ignore=ignore,
        )

    def found_texts(self, *directories: Path, **options: Any) -> list[tuple[str, str]]:
        found = self.find(*directories, **options)
        assert found.warnings == ()
        return [(file.text.strip(), file.origin.value) for file in found.files]


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path.resolve())


class TestWhichOnes:
    def test_the_general_before_the_particular(self, here: Here) -> None:
        paths = {
            ".gemini/GEMINI.md": ContextFileOrigin.USER,
            ".gemini/AGENTS.md": ContextFileOrigin.USER,
            "work/repository/GEMINI.md": ContextFileOrigin.ABOVE,
            "work/repository/packages/AGENTS.md": ContextFileOrigin.ABOVE,
            "work/repository/packages/one/GEMINI.md": ContextFileOrigin.PROJECT,
            "work/repository/packages/one/AGENTS.md": ContextFileOrigin.PROJECT,
            "work/repository/packages/one/b/GEMINI.md": ContextFileOrigin.BELOW,
            "work/repository/packages/one/z/AGENTS.md": ContextFileOrigin.BELOW,
            "work/repository/packages/one/b/deep/GEMINI.md": ContextFileOrigin.BELOW,
        }
        for path in paths:
            here.write(path, f"text of {path}\n")
        here.write("GEMINI.md", "above the repository")
        here.write("work/repository/packages/two/GEMINI.md", "beside us")
        assert here.find() == ContextFiles(
            tuple(
                ContextFile(str(here.home / path), f"text of {path}\n", why, len(f"text of {path}\n"))
                for path, why in paths.items()
            )
        )

    def test_nothing_at_all(self, here: Here) -> None:
        assert here.find() == ContextFiles()
        assert here.find(here.home / "missing") == ContextFiles()
        assert here.find().to_prompt(str(here.start)) == ""

    def test_other_names_for_all_levels(self, here: Here) -> None:
        for place in (".gemini", "work/repository", "work/repository/packages/one", "work/repository/packages/one/x"):
            here.write(f"{place}/RULES.md", f"rules of {place}")
            here.write(f"{place}/GEMINI.md", "not asked for")
        found = here.find(names=[" RULES.md ", "", "RULES.md"])
        origins = [origin for origin in ContextFileOrigin if origin is not ContextFileOrigin.EXTENSION]
        assert [file.origin for file in found.files] == origins

    @pytest.mark.parametrize("name", ["../GEMINI.md", "/etc/passwd", "a/../../b", "a\0b"])
    def test_names_that_lead_somewhere_else(self, here: Here, name: str) -> None:
        here.write("GEMINI.md", "x")
        assert here.find(names=[name]) == ContextFiles(
            warnings=(f"{name!r} is not a valid context file name: it points elsewhere.",)
        )

    def test_a_project_that_is_not_trusted(self, here: Here) -> None:
        here.write(".gemini/GEMINI.md", "mine")
        here.write("work/repository/GEMINI.md", "above")
        here.write("work/repository/packages/one/GEMINI.md", "theirs @./secret.md")
        assert here.found_texts(is_trusted=False) == [("mine", "yours")]

    def test_without_a_repository_up_to_the_home(self, here: Here) -> None:
        here.write("GEMINI.md", "home")
        here.write("plain/GEMINI.md", "plain")
        here.write("plain/project/GEMINI.md", "project")
        (here.home.parent / "GEMINI.md").write_text("above the home")
        assert here.found_texts(here.home / "plain" / "project") == [
            ("home", "above"),
            ("plain", "above"),
            ("project", "project"),
        ]

    def test_other_markers_of_the_last_directory(self, here: Here) -> None:
        here.write("work/GEMINI.md", "work")
        here.write("work/repository/GEMINI.md", "repository")
        here.write("work/repository/packages/GEMINI.md", "packages")
        here.write("work/repository/packages/WORKSPACE", "")
        texts = [text for text, origin in here.found_texts(markers=["WORKSPACE"]) if origin == "above"]
        assert texts == ["packages"]

    def test_without_markers_nothing_above(self, here: Here) -> None:
        here.write("work/repository/GEMINI.md", "repository")
        here.write("work/repository/packages/one/GEMINI.md", "one")
        assert here.found_texts(markers=[]) == [("one", "project")]

    def test_without_a_repository_outside_the_home_nothing_above(
        self, here: Here, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        (elsewhere / "GEMINI.md").write_text("somebody else's")
        (elsewhere / "project").mkdir()
        (elsewhere / "project" / "GEMINI.md").write_text("project")
        assert here.found_texts(elsewhere / "project") == [("project", "project")]

    def test_several_workspace_directories(self, here: Here) -> None:
        here.write("work/repository/GEMINI.md", "top")
        here.write("work/repository/packages/one/GEMINI.md", "one")
        here.write("work/repository/packages/two/GEMINI.md", "two")
        assert here.found_texts(here.start, here.start.parent / "two") == [
            ("top", "above"),
            ("one", "project"),
            ("two", "project"),
        ]

    def test_in_the_home_itself_everything_counts_once(self, here: Here) -> None:
        here.write(".gemini/GEMINI.md", "mine")
        here.write("GEMINI.md", "home")
        assert here.found_texts(here.home) == [("mine", "yours"), ("home", "project")]

    def test_a_link_or_a_copy_under_the_other_name_counts_once(self, here: Here) -> None:
        here.write("work/repository/packages/one/GEMINI.md", "rules\n")
        (here.start / "AGENTS.md").symlink_to("GEMINI.md")
        here.write("work/repository/packages/one/sub/GEMINI.md", "more\n")
        here.write("work/repository/packages/one/sub/AGENTS.md", "more")
        assert here.found_texts() == [("rules", "project"), ("more", "below")]


class TestBelow:
    def test_what_is_ignored_is_left_out(self, here: Here) -> None:
        here.write("work/repository/.gitignore", "generated/\n")
        here.write("work/repository/packages/one/.geminiignore", "private\n")
        for place in ("generated", "private", "node_modules/x", ".svn/x", "kept", "build", ".hidden"):
            here.write(f"work/repository/packages/one/{place}/GEMINI.md", place)
        assert here.found_texts() == [("kept", "below"), (".hidden", "below"), ("build", "below")]

    def test_what_other_files_ignore_is_left_out(self, here: Here) -> None:
        more = here.write("more.ignore", "private\n")
        for place in ("private", "kept"):
            here.write(f"work/repository/packages/one/{place}/GEMINI.md", place)
        assert here.found_texts(ignore=IgnoreOptions(files=(str(more),))) == [("kept", "below")]

    def test_what_tools_made_is_left_out(self, here: Here) -> None:
        here.write("work/repository/packages/one/cache/CACHEDIR.TAG", "")
        here.write("work/repository/packages/one/cache/inner/GEMINI.md", "cached")
        here.write("work/repository/packages/one/python/pyvenv.cfg", "")
        here.write("work/repository/packages/one/python/GEMINI.md", "environment")
        assert here.found_texts() == []

    def test_links_are_not_followed(self, here: Here) -> None:
        here.write("outside/GEMINI.md", "outside")
        (here.start / "link").symlink_to(here.home / "outside")
        (here.start / "loop").symlink_to(here.start)
        assert here.found_texts() == []

    def test_no_more_directories_than_allowed(self, here: Here) -> None:
        for number in range(20):
            here.write(f"work/repository/packages/one/d{number:02d}/GEMINI.md", f"text {number}")
            here.write(f"work/repository/packages/one/.d{number:02d}/GEMINI.md", f"hidden {number}")
        assert here.found_texts(most_directories=3) == [(f"text {number}", "below") for number in range(3)]
        assert here.found_texts(most_directories=0) == []
        assert len(here.found_texts(most_directories=21)) == 21

    def test_a_directory_of_that_name(self, here: Here) -> None:
        here.write("work/repository/packages/one/GEMINI.md/inner.txt", "x")
        here.write("work/repository/packages/one/sub/AGENTS.md/inner.txt", "x")
        assert here.found_texts() == []

    def test_a_large_project_is_looked_through_within_bounds(self, here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(300):
            (here.start / f"d{number:03d}" / "deep").mkdir(parents=True)
        seen: list[object] = []
        scandir = os.scandir

        def counting(path: str) -> object:
            seen.append(path)
            return scandir(path)

        monkeypatch.setattr(os, "scandir", counting)
        assert here.found_texts() == []
        assert len(seen) == 201


class TestWhatIsRead:
    def test_imports_in_place_and_flat(self, here: Here) -> None:
        main = here.write("work/repository/packages/one/GEMINI.md", "Main @../../shared.md\n")
        shared = here.write("work/repository/shared.md", "Shared")
        (tree,) = here.find().files
        assert tree.text == (
            "Main <!-- Imported from: ../../shared.md -->\nShared\n<!-- End of import from: ../../shared.md -->\n"
        )
        (flat,) = here.find(import_format="flat").files
        assert flat.text == (
            f"--- File: {main} ---\nMain @../../shared.md\n--- End of File: {main} ---\n\n"
            f"--- File: {shared} ---\nShared\n--- End of File: {shared} ---"
        )

    def test_imports_stay_in_the_project(self, here: Here) -> None:
        here.write("secret.md", "secret")
        here.write("plain/GEMINI.md", "@../secret.md")
        assert here.found_texts(here.home / "plain") == [
            ("<!-- Import failed: ../secret.md - Path traversal attempt -->", "project")
        ]

    def test_ones_own_may_be_a_link_to_anywhere(self, here: Here) -> None:
        here.write("dotfiles/rules.md", "mine @./more.md")
        here.write("dotfiles/more.md", "more")
        (here.home / ".gemini" / "GEMINI.md").symlink_to(here.home / "dotfiles" / "rules.md")
        ((text, why),) = here.found_texts()
        assert why == "yours"
        assert "more\n<!-- End" in text

    def test_a_link_out_of_the_project(self, here: Here) -> None:
        here.write("secret.md", "secret")
        path = here.start / "GEMINI.md"
        path.symlink_to(here.home / "secret.md")
        assert here.find() == ContextFiles(warnings=(f"Skipped {path}: it points outside the project.",))

    def test_special_files_and_broken_links(self, here: Here) -> None:
        os.mkfifo(here.start / "GEMINI.md")
        (here.start / "AGENTS.md").symlink_to("nowhere")
        assert here.find().warnings == (
            f"Skipped {here.start}/GEMINI.md: not a regular file.",
            f"Skipped {here.start}/AGENTS.md: No such file or directory.",
        )

    def test_the_limits_are_told(self, here: Here) -> None:
        for number in range(6):
            here.write(f"work/repository/packages/one/{number}/GEMINI.md", f"{number}\n" * 100_000_0)
        found = here.find()
        assert sum(file.size for file in found.files) == 2**20
        assert [warning.rpartition(": ")[2] for warning in found.warnings] == [
            *["only the first 256 KB are used."] * 4,
            *["the limit of 1024 KB and 500 files is reached."] * 2,
        ]

    def test_hidden_characters(self, here: Here) -> None:
        path = here.write("work/repository/packages/one/GEMINI.md", "Be\U000e0041 nice\u200b")
        found = here.find()
        assert [file.text for file in found.files] == ["Be nice"]
        assert found.warnings == (f"{path} contains hidden characters (<U+200B>, <U+E0041>). They are removed.",)


def test_combined(here: Here) -> None:
    here.write(".gemini/GEMINI.md", "\nmine\n\n")
    here.write("work/repository/packages/one/GEMINI.md", "  \n")
    here.write("work/repository/packages/one/sub/AGENTS.md", "sub")
    link = here.home / "link"
    link.symlink_to(here.start)
    for directory in (here.start, link):
        assert here.find().to_prompt(str(directory)) == (
            "--- Context from: ../../../../.gemini/GEMINI.md ---\nmine\n"
            "--- End of Context from: ../../../../.gemini/GEMINI.md ---\n\n"
            "--- Context from: sub/AGENTS.md ---\nsub\n--- End of Context from: sub/AGENTS.md ---"
        )


class TestUserFile:
    """A file of the user that others could write would be an instruction of theirs in every project."""

    @pytest.mark.parametrize("at", [".gemini/GEMINI.md", ".gemini/more.md", ".gemini"])
    def test_one_that_anybody_could_write_is_refused(self, tmp_path: Path, at: str) -> None:
        home = tmp_path / ".gemini"
        home.mkdir()
        (home / "GEMINI.md").write_text("Mine.\n@./more.md\n")
        (home / "more.md").write_text("More.\n")
        path = tmp_path / at
        path.chmod(path.stat().st_mode | 0o002)
        found = find_context_files(home_directory=str(home), directories=[], names=["GEMINI.md"], is_trusted=False)
        if at.endswith("more.md"):
            (file,) = found.files
            assert "Import failed: ./more.md - Refusing to use" in file.text
            assert "More." not in file.text
        else:
            assert found.files == ()
            assert "writable by everyone" in found.warnings[0]

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_one_of_another_user_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / ".gemini").mkdir()
        (tmp_path / ".gemini" / "GEMINI.md").write_text("Theirs.\n")
        os.chown(tmp_path / ".gemini" / "GEMINI.md", 12345, 12345)
        home = str(tmp_path / ".gemini")
        found = find_context_files(home_directory=home, directories=[], names=["GEMINI.md"], is_trusted=False)
        assert found.files == ()
        assert "owned by another user (uid 12345)" in found.warnings[0]


class TestExtensions:
    @staticmethod
    def find(tmp_path: Path, *extensions: ActiveExtension) -> ContextFiles:
        (tmp_path / "home").mkdir(exist_ok=True)
        (tmp_path / "home/GEMINI.md").write_text("USER")
        (tmp_path / "work").mkdir(exist_ok=True)
        (tmp_path / "work/GEMINI.md").write_text("PROJECT")
        return find_context_files(
            home_directory=str(tmp_path / "home"),
            directories=[str(tmp_path / "work")],
            names=["GEMINI.md"],
            is_trusted=True,
            extensions=extensions,
        )

    @staticmethod
    def extension(tmp_path: Path, name: str, **files: str) -> ActiveExtension:
        directory = tmp_path / name
        directory.mkdir()
        for file, text in files.items():
            (directory / f"{file}.md").write_text(text)
        manifest = ExtensionManifest(str(directory / "gemini-extension.json"), name, "1")
        return ActiveExtension(name, "1", str(directory), manifest=manifest)

    def test_between_the_user_and_the_project(self, tmp_path: Path) -> None:
        one = self.extension(
            tmp_path, "one", GEMINI="ONE in ${extensionPath} ${KEY} </extension_context> @./in.md", **{"in": "IN"}
        )
        two = self.extension(tmp_path, "two", GEMINI="TWO @../home/GEMINI.md")
        found = self.find(tmp_path, one, two)
        assert [(file.origin.value, file.extension) for file in found.files] == [
            ("yours", ""),
            ("extension", "one"),
            ("extension", "two"),
            ("project", ""),
        ]
        text = found.to_prompt(str(tmp_path / "work"))
        places = [text.index(word) for word in ("USER", "<extension_context>", "ONE", "TWO", "</extension_context>")]
        assert places == sorted(places)
        assert text.count("</extension_context>") == 1
        assert text.index("</extension_context>") < text.index("PROJECT")
        assert f"ONE in {tmp_path}/one ${{KEY}}" in text
        assert "IN\n" in text
        assert text.count("USER") == 1

    def test_without_a_file_there_is_no_block(self, tmp_path: Path) -> None:
        found = self.find(tmp_path, self.extension(tmp_path, "one"))
        assert "extension_context" not in found.to_prompt(str(tmp_path / "work"))
