"""The documentation is true: examples run, links and file names lead somewhere, nothing names a machine."""

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]

OURS = re.compile(r"(?:^|\| *)(?:tejat |scripts/)")
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
SOURCE_FILE = re.compile(r"`([a-z_0-9/]+\.py)`")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """A block of a document: a program, or a command with the output that is shown below it."""

    document: str
    text: str
    output: str = ""

    def __str__(self) -> str:
        return f"{self.document}: {self.text.strip().splitlines()[0][:60]}"


def blocks(path: Path) -> list[tuple[str, str]]:
    return FENCE.findall(path.read_text(encoding="utf-8"))


RUN_ELSEWHERE = {"docs/python/frameworks.md": "tests/integrations/test_framework_examples.py"}
"""Pages whose programs need a service, and the tests that run them."""


def programs() -> list[Example]:
    return [
        Example(name_of(path), text)
        for path in DOCUMENTS
        if path.exists() and name_of(path) not in RUN_ELSEWHERE
        for language, text in blocks(path)
        if language in {"python", "py"}
    ]


def commands() -> list[Example]:
    return [
        example
        for path in DOCUMENTS
        if path.exists()
        for language, text in blocks(path)
        if language in {"", "console", "sh", "bash", "shell", "text"}
        for example in examples_in(name_of(path), language, text)
        if OURS.search(example.text)
    ]


def examples_in(document: str, language: str, text: str) -> list[Example]:
    """The lines of a script, or the commands after `$ ` with the output shown below them."""
    text = re.sub(r"\\\n(?:> )?", "", text)
    if language in {"sh", "bash", "shell"} and not text.startswith("$ "):
        return [Example(document, line) for line in text.splitlines() if line and not line.startswith("#")]
    chunks = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [Example(document, command, output) for command, _, output in (chunk.partition("\n") for chunk in chunks)]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tracked() -> list[Path]:
    """The files that git would publish. Whoever runs the tests need not own the checkout."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        timeout=110,
        check=True,
    )
    paths = [ROOT / os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documents' own surroundings, so that an example may change what it likes."""
    home = tmp_path_factory.mktemp("copy")
    for path in tracked():
        target = home / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return home


class TestExamples:
    def test_the_front_page_has_a_program_and_commands(self) -> None:
        assert "README.md" in {example.document for example in programs()}
        assert "README.md" in {example.document for example in commands()}

    @pytest.mark.parametrize("example", programs(), ids=str)
    def test_programs_run(self, example: Example, copy: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", example.text],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=copy,
            timeout=110,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.parametrize("example", [each for each in programs() if "\ndef test_" in each.text], ids=str)
    def test_tests_pass(self, example: Example, tmp_path: Path) -> None:
        (tmp_path / "test_example.py").write_text(example.text, encoding="utf-8")
        plugins = ["-p", "tejat", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "pytest", "-q", *plugins, "--rootdir", str(tmp_path), str(tmp_path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        assert f"{example.text.count('def test_')} passed" in done.stdout

    def test_every_block_about_the_library_is_run(self) -> None:
        """Cells of notebooks run in tests/notebook/test_example.py."""
        pages = [ROOT / "docs" / "python.md", *sorted((ROOT / "docs" / "python").glob("*.md"))]
        languages = {name_of(page): {language for language, _ in blocks(page)} for page in pages}
        assert languages.pop("docs/python/notebooks.md") == {"ipython"}
        assert set().union(*languages.values()) == {"python", "toml"}
        for page in pages:
            fences = re.findall(r"^[ >]*(?:```|~~~)", page.read_text(encoding="utf-8"), re.MULTILINE)
            assert fences == ["```"] * 2 * len(blocks(page)), f"{name_of(page)}: a block that is not found"

    @pytest.mark.parametrize("path", [path for path in DOCUMENTS if path.exists()], ids=name_of)
    def test_toml_can_be_read(self, path: Path) -> None:
        for language, text in blocks(path):
            if language == "toml":
                assert tomllib.loads(text), text

    @pytest.mark.parametrize("document", sorted({example.document for example in commands()}))
    def test_commands_do_what_is_shown(self, document: str, copy: Path, tmp_path: Path) -> None:
        """One after the other: what a command did may show in the next, but not in another document."""
        for example in commands():
            if example.document == document:
                self.check(example, copy, home=tmp_path)

    def check(self, example: Example, copy: Path, *, home: Path) -> None:
        script = re.match(r"scripts/\w+", example.text)
        if script and script.group() != "scripts/run":  # these test or build everything, this test among the rest
            assert os.access(ROOT / script.group(), os.X_OK)
            return
        done = subprocess.run(
            ["sh", "-c", re.sub(r"^scripts/run\b", "tejat", example.text)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=copy,
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(home),
            },
            timeout=110,
            check=False,
        )
        nobody_answers = re.search(r"#.*\basks\b", example.text)
        assert done.returncode == (3 if nobody_answers else 0), f"{example}:\n{done.stdout}"
        if example.output.strip():
            shown = example.output.replace("…", "...")
            matches = doctest.OutputChecker().check_output(shown, done.stdout, doctest.ELLIPSIS)
            assert matches, f"{example}:\nshown:\n{shown}\nbut was:\n{done.stdout}"


def editor_settings() -> list[Example]:
    pages = [ROOT / "docs" / "acp.md", *sorted((ROOT / "docs" / "editors").glob("*.md"))]
    return [Example(name_of(page), text) for page in pages for language, text in blocks(page) if language == "json"]


@pytest.mark.parametrize("example", editor_settings(), ids=str)
def test_the_settings_of_editors_can_be_pasted(example: Example) -> None:
    assert isinstance(json.loads(example.text), dict)


class TestLinks:
    @pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
    def test_links_lead_somewhere(self, path: Path) -> None:
        text = FENCE.sub("", path.read_text(encoding="utf-8"))
        assert [target for target in targets(text) if not leads_somewhere(path, target)] == []

    @pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
    def test_named_source_files_exist(self, path: Path) -> None:
        """A file is named by the end of its path: `sessions/journal.py`."""
        files = {f"/{name_of(file)}" for file in tracked()}
        named = SOURCE_FILE.findall(path.read_text(encoding="utf-8"))
        assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []


def targets(text: str) -> list[str]:
    return [target or image for target, image in LINK.findall(text)]


def leads_somewhere(document: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return target.startswith(("https://", "mailto:"))
    name, _, anchor = target.partition("#")
    found = (document.parent / name).resolve() if name else document
    if not found.exists() or not found.is_relative_to(ROOT):
        return False
    return not anchor or anchor in {slug(heading) for heading in HEADING.findall(found.read_text(encoding="utf-8"))}


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class TestPublishedFiles:
    def texts(self) -> dict[str, str]:
        found = {name_of(path): path.read_bytes().decode("utf-8", "replace") for path in tracked()}
        assert "pyproject.toml" in found
        return found

    def test_no_file_names_the_machine_it_was_written_on(self) -> None:
        places = [ROOT, ROOT.parent]
        # A checkout in /tmp says nothing: a path of one part, such as /tmp or /home, may stand in any text.
        own = [re.escape(str(place)) for place in places if len(place.parts) > 2 or place.name not in COMMON]
        if not own:
            return
        pattern = re.compile(rf"(?<![\w.\-/])(?:{'|'.join(own)})(?=/)")
        assert {name: pattern.findall(text) for name, text in self.texts().items() if pattern.search(text)} == {}

    def test_no_document_names_a_home_directory(self) -> None:
        pattern = re.compile(r"(?<![\w.])/(?:home|Users)/(?!you\b|user\b)\w+")
        named = {
            name: pattern.findall(text)
            for name, text in self.texts().items()
            if not name.startswith("tests/") and pattern.search(text)
        }
        assert named == {}

    def test_no_file_names_a_package_registry(self) -> None:
        hosts = [re.escape(f"{host}.org") for host in ("pypi", "pythonhosted", "npmjs")]
        options = ["--index-url", "--extra-index-url", "--find-links", "--trusted-host"]
        pattern = re.compile("|".join([*hosts, r"https?://\S+/simple\b"]))
        named = {name: pattern.findall(text) for name, text in self.texts().items() if pattern.search(text)}
        assert named == {}
        locks = {name: text for name, text in self.texts().items() if name.startswith("requirements/")}
        assert locks
        assert {name: option for name, text in locks.items() for option in options if option in text} == {}

    def test_there_is_one_kind_of_lock(self) -> None:
        assert not (ROOT / "uv.lock").exists()
        assert not [name for name in self.texts() if name.endswith("uv.lock")]


COMMON = {"", "tmp", "home", "root", "srv", "opt", "usr", "var", "mnt", "src", "w"}
