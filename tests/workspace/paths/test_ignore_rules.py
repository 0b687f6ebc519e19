"""What is ignored is what git says, file by file, and what `.geminiignore` adds and takes away."""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.paths.ignore_pattern import IgnoreRule
from tejat.workspace.paths.ignore_rules import IgnoreRules, IgnoreStatus

PIECES = [
    *(b"a", b"b", b"ab", b".", b"*", b"**", b"?", b"/", b"/", b"**/", b"/**", b"a*", b"*b", b" ", b"\\ ", b"!", b"#"),
    *(b"[ab]", b"[!a]", b"[^b]", b"[a-c]", b"[]a]", b"[a-]", b"[\\a-c]", b"[a", b"[[:alpha:]]", b"[[:digit:]", b"]"),
    *(b"[[:nope:]]", b"\\a", b"\\*", b"\\", b"\\!", b"\\#", b"\\/", b"{a,b}", b"\xff", b"\xc3\xa9", b"\r", b"\0"),
]
PLAIN_NAMES = [
    b"a",
    b"b",
    b"c",
    b"ab",
    b"ba",
    b"abc",
    b" ",
    b"a ",
    b"#a",
    b"!a",
    b"{a,b}",
    b"\xff",
    b"\xc3\xa9",
    b"a\r",
]
# Git before 2.52 gives only the part after the plain beginning to its matcher, against its own documentation: in
# `foo**/bar` the asterisks then stand for directories.
ASTERISKS_AFTER_A_NAME = re.compile(rb"!?/?[^*?\[\\]*[^*?\[\\/]\*\*")
STRANGE_NAMES = [b"*", b"**", b"[a", b"\\", b"a?"]


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(path))
        patch.delenv("XDG_CONFIG_HOME", raising=False)
        yield path


def git(top: bytes, *arguments: bytes, content: bytes = b"", codes: tuple[int, ...] = (0,)) -> bytes:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    command = [b"git", b"-C", top, *arguments]
    done = subprocess.run(command, env=environment, input=content, capture_output=True, check=False)
    assert done.returncode in codes, done
    return done.stdout


def make_repository(top: bytes) -> None:
    # The least that git takes for a repository, made without starting it.
    for name in (b"objects", b"refs", b"info"):
        os.makedirs(top + b"/.git/" + name)
    write(top, {b".git/HEAD": b"ref: refs/heads/main\n"})


def write(top: bytes, files: Mapping[bytes, bytes]) -> None:
    for name, content in files.items():
        os.makedirs(os.path.dirname(top + b"/" + name), exist_ok=True)
        with open(top + b"/" + name, "wb") as file:
            file.write(content)


def rules_for(top: Path | bytes, *, git: bool = True, gemini: bool = True) -> IgnoreRules:
    return IgnoreRules(os.fsdecode(os.path.realpath(top)), git=git, gemini=gemini)


def judged(rules: IgnoreRules, *files: str) -> list[IgnoreStatus]:
    return [rules.check(name.removesuffix("/"), is_directory=name.endswith("/")) for name in files]


NO, GIT, GEMINI = IgnoreStatus.NOT_IGNORED, IgnoreStatus.GIT, IgnoreStatus.GEMINI


@st.composite
def ignore_files(draw: st.DrawFn) -> bytes:
    pattern = st.builds(
        lambda mark, anchor, pieces, end: mark + anchor + b"".join(pieces) + end,
        st.sampled_from([b"", b"", b"!"]),
        st.sampled_from([b"", b"", b"", b"/"]),
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=6),
        st.sampled_from([b"", b"", b"/", b" "]),
    ).filter(lambda line: ASTERISKS_AFTER_A_NAME.match(line) is None)
    lines = draw(st.lists(pattern, max_size=5))
    ending = draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    mark = draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"]))
    return mark + ending.join(lines) + draw(st.sampled_from([b"", ending]))


@st.composite
def trees(draw: st.DrawFn, names: list[bytes]) -> tuple[list[bytes], list[bytes], dict[bytes, bytes]]:
    """Directories, files, and ignore files by where they lie."""
    directories = [b""]
    for _ in range(draw(st.integers(1, 6))):
        parent = draw(st.sampled_from(directories))
        path = os.path.join(parent, draw(st.sampled_from(names)))
        if path not in directories:
            directories.append(path)
    places = st.tuples(st.sampled_from(directories), st.sampled_from(names))
    files = {os.path.join(*place) for place in draw(st.lists(places, min_size=1, max_size=15))}
    ignores = draw(st.dictionaries(st.sampled_from(directories), ignore_files(), max_size=3))
    contents = {os.path.join(directory, b".gitignore"): content for directory, content in ignores.items()}
    contents[b".git/info/exclude"] = draw(ignore_files())
    return directories[1:], sorted(files.difference(directories)), contents


def git_check_ignore(top: bytes, paths: list[bytes]) -> dict[bytes, tuple[bytes, int, bytes] | None]:
    asked = b"".join(b"./" + path + b"\0" for path in paths)
    arguments = (b"check-ignore", b"--verbose", b"--non-matching", b"-z", b"--stdin")
    fields = git(top, *arguments, content=asked, codes=(0, 1)).split(b"\0")[:-1]
    answers: dict[bytes, tuple[bytes, int, bytes] | None] = {}
    for source, line, pattern, path in zip(*(fields[start::4] for start in range(4)), strict=True):
        answers[path[2:]] = (os.path.join(top, source), int(line), pattern) if source else None
    assert list(answers) == paths
    return answers


def assert_same_as_git(top: bytes, directories: list[bytes], files: list[bytes]) -> None:
    answers = git_check_ignore(top, directories + files)
    rules = rules_for(top)
    ignored = {path for path, rule in answers.items() if rule is not None and not rule[2].startswith(b"!")}
    for path, answer in answers.items():
        rule = rules.explain(path, is_directory=path in directories)
        assert (rule and (os.fsencode(rule.file), rule.line, os.fsencode(rule.text))) == answer, path
        assert rule is None or rule.negated == rule.text.startswith("!")
        verdict = rules.check(path, is_directory=path in directories)
        assert verdict is (GIT if path in ignored else NO), path
    kept = [path for path in files if path not in ignored]
    assert rules_for(top).filter(files) == (kept, len(files) - len(kept), 0)
    hinted = rules_for(top)
    hinted.set_known_files([path for path in _all_files(top) if not path.startswith(b".git/")])
    assert hinted.filter(files) == (kept, len(files) - len(kept), 0)


def _all_files(top: bytes) -> list[bytes]:
    return [os.path.relpath(os.path.join(place, name), top) for place, _, names in os.walk(top) for name in names]


class TestAgainstGit:
    @settings(max_examples=120, deadline=None)
    @given(tree=trees(PLAIN_NAMES + STRANGE_NAMES))
    def test_untracked_files(self, tree: tuple[list[bytes], list[bytes], dict[bytes, bytes]]) -> None:
        directories, files, ignores = tree
        with tempfile.TemporaryDirectory() as place:
            top = os.path.realpath(os.fsencode(place))
            make_repository(top)
            for directory in directories:
                os.makedirs(top + b"/" + directory, exist_ok=True)
            write(top, dict.fromkeys(files, b"") | ignores)
            assert_same_as_git(top, directories, files)

    # Git takes the names it is asked about for patterns when it compares them with the index: no strange names here.
    @settings(max_examples=60, deadline=None)
    @given(tree=trees(PLAIN_NAMES), data=st.data())
    def test_with_tracked_files(
        self, tree: tuple[list[bytes], list[bytes], dict[bytes, bytes]], data: st.DataObject
    ) -> None:
        directories, files, ignores = tree
        tracked = data.draw(st.lists(st.sampled_from(files), unique=True)) if files else []
        version = data.draw(st.sampled_from([b"2", b"4"]))
        with tempfile.TemporaryDirectory() as place:
            top = os.path.realpath(os.fsencode(place))
            make_repository(top)
            for directory in directories:
                os.makedirs(top + b"/" + directory, exist_ok=True)
            write(top, dict.fromkeys(files, b"") | ignores)
            if tracked:
                git(top, b"-c", b"index.version=" + version, b"add", b"-f", b"--", *(b"./" + name for name in tracked))
            assert_same_as_git(top, directories, files)

    def test_chosen_patterns(self, tmp_path: Path) -> None:
        top = os.fsencode(os.path.realpath(tmp_path))
        make_repository(top)
        lines = [
            *(
                b"?**/b",
                b"[ab]**/b",
                b"/a?**/b",
                b"/*a**/b",
                b"**a/b",
                b"a/**b",
                b"**/**/b",
                b"a/**/**",
            ),
            *(
                b"/a[^b]c",
                b"/a[+-9]c",
                b"/a?c",
                b"/a*c",
                b"a/*/",
                b"*/b",
                b"*/*/c",
                b"/**/c",
                b"a/**/",
                b"/**",
            ),
            *(
                b"**\\/b",
                b"a\\/b",
                b"/\\a/b",
                b"*\\/c",
                b"//a",
                b"a//b",
                b"/",
                b"a/ ",
                b"[a-c]/b",
                b"a/[!b]",
                b"**/a/b/c",
            ),
        ]
        places = [b"%03d" % number for number in range(len(lines))]
        names = [
            b"a/b/c",
            b"a/c",
            b"a/d",
            b"b",
            b"c/a/b",
            b"c/a/d",
            b"ac",
            b"aa/b",
            b"ab/x/b",
            b"abc",
            b"ba/b",
            b"c/x/c",
        ]
        for place, line in zip(places, lines, strict=True):
            write(top, {place + b"/.gitignore": line + b"\n"} | {place + b"/" + name: b"" for name in names})
        inner = [b"a", b"a/b", b"c", b"c/a", b"aa", b"ab", b"ab/x", b"ba", b"c/x"]
        directories = [place + b"/" + name for place in places for name in inner]
        assert_same_as_git(top, directories, [place + b"/" + name for place in places for name in names])

    @pytest.mark.parametrize("name", ["alnum", "alpha", "blank", "cntrl", "digit", "graph"])
    def test_every_byte_against_classes(self, tmp_path: Path, name: str) -> None:
        second = {"alnum": "lower", "alpha": "print", "blank": "punct", "cntrl": "space", "digit": "upper"}
        top = os.fsencode(os.path.realpath(tmp_path))
        make_repository(top)
        files = [b"%s/x%c" % (place, byte) for place in (b"p", b"q", b"r") for byte in range(1, 256) if byte != 0x2F]
        lines = (
            f"p/x[[:{name}:]]\nq/x[^[:{second.get(name, 'xdigit')}:]]\n".encode()
            + b"r/x[!-%%]\nr/x[\\]-\\a]\nr/x[[:b-d]\nr/x[\xe0-\xef]\n"
        )
        write(top, {b".gitignore": lines} | dict.fromkeys(files, b""))
        assert_same_as_git(top, [b"p", b"q", b"r"], files)

    def test_the_top_may_lie_above_the_root(self, tmp_path: Path) -> None:
        top = os.fsencode(os.path.realpath(tmp_path))
        make_repository(top)
        write(
            top,
            {
                b".gitignore": b"*.log\n/one/two/anchored\none/two/deep/x\n",
                b"one/.gitignore": b"!keep.log\ntwo/*.tmp\n",
                b"one/two/.gitignore": b"*.o\n",
                b"one/two/deep/.gitignore": b"!y.o\n",
            },
        )
        files = [b"a.log", b"keep.log", b"anchored", b"deep/x", b"b.tmp", b"deep/b.tmp", b"c.o", b"deep/y.o", b"deep/z"]
        write(top, {b"one/two/" + name: b"" for name in files})
        git(top, b"add", b"-f", b"one/two/a.log")
        answers = git_check_ignore(top, [b"one/two/" + name for name in files])
        rules = rules_for(top + b"/one/two")
        expected = [NO if rule is None or rule[2].startswith(b"!") else GIT for rule in answers.values()]
        assert [rules.check(name, is_directory=False) for name in files] == expected
        assert expected == [NO, NO, GIT, GIT, GIT, NO, GIT, NO, NO]


class TestSources:
    def test_outside_a_repository_only_geminiignore_counts(self, tmp_path: Path) -> None:
        (tmp_path / ".gitignore").write_text("*.log\n")
        (tmp_path / ".geminiignore").write_text("*.tmp\n")
        assert judged(rules_for(tmp_path), "a.log", "a.tmp", ".git/") == [NO, GEMINI, NO]

    def test_each_can_be_switched_off(self, tmp_path: Path) -> None:
        make_repository(os.fsencode(tmp_path))
        (tmp_path / ".gitignore").write_text("*.log\n")
        (tmp_path / ".geminiignore").write_text("*.tmp\n")
        files = ("a.log", "a.tmp", ".git/", ".git/HEAD")
        assert judged(rules_for(tmp_path), *files) == [GIT, GEMINI, GIT, GIT]
        assert judged(rules_for(tmp_path, git=False), *files) == [NO, GEMINI, NO, NO]
        assert judged(rules_for(tmp_path, gemini=False), *files) == [GIT, NO, GIT, GIT]

    def test_an_empty_git_directory_is_enough(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".gitignore").write_text("*.log\n")
        assert judged(rules_for(tmp_path), "a.log", "sub/.git/config", ".gitignore") == [GIT, GIT, NO]

    def test_the_users_own_file_is_the_weakest(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
        top = tmp_path / "top"
        make_repository(os.fsencode(top))
        write(
            os.fsencode(tmp_path),
            {
                b"settings/git/ignore": b"a\nb\nc\nd\n",
                b"top/.git/info/exclude": b"!b\n!c\n",
                b"top/.gitignore": b"c\n",
                b"top/sub/.gitignore": b"!c\n",
            },
        )
        assert judged(rules_for(top), "a", "b", "c", "sub/c", "sub/d") == [GIT, NO, GIT, NO, GIT]

    def test_links_and_what_is_no_file_are_not_read(self, tmp_path: Path) -> None:
        make_repository(os.fsencode(tmp_path))
        for name in ("linked", "fifo", "directory", "real"):
            (tmp_path / name).mkdir()
        (tmp_path / "patterns").write_text("*\n")
        (tmp_path / "linked" / ".gitignore").symlink_to("../patterns")
        os.mkfifo(tmp_path / "fifo" / ".gitignore")
        (tmp_path / "directory" / ".gitignore").mkdir()
        (tmp_path / "real" / ".gitignore").write_text("*\n")
        started = time.process_time()
        assert judged(rules_for(tmp_path), "linked/x", "fifo/x", "directory/x", "real/x") == [NO, NO, NO, GIT]
        assert time.process_time() - started < 5

    def test_geminiignore_may_be_a_link_within_the_root_only(self, tmp_path: Path) -> None:
        (tmp_path / "outside").write_text("*.log\n")
        root = tmp_path / "root"
        root.mkdir()
        (root / "inside").write_text("*.tmp\n")
        link = root / ".geminiignore"
        link.symlink_to("inside")
        assert judged(rules_for(root), "a.log", "a.tmp") == [NO, GEMINI]
        rule = rules_for(root).explain("a.tmp", is_directory=False)
        assert rule == IgnoreRule(
            file=os.path.join(os.path.realpath(root), ".geminiignore"), line=1, text="*.tmp", negated=False
        )
        link.unlink()
        link.symlink_to("../outside")
        assert judged(rules_for(root), "a.log", "a.tmp") == [NO, NO]

    def test_a_huge_file_is_cut_and_that_is_told(self, tmp_path: Path) -> None:
        make_repository(os.fsencode(tmp_path))
        (tmp_path / "long").mkdir()
        (tmp_path / ".gitignore").write_text("first\n" + "!../../**\n" * 1_000_000 + "last\n")
        (tmp_path / "long" / ".gitignore").write_text("".join(f"name{number}\n" for number in range(20_001)))
        rules = rules_for(tmp_path)
        started = time.process_time()
        assert judged(rules, "first", "last", "long/name19999", "long/name20000") == [GIT, NO, GIT, NO]
        assert time.process_time() - started < 10
        real = os.path.realpath(tmp_path)
        assert rules.truncated_files == (os.path.join(real, ".gitignore"), os.path.join(real, "long", ".gitignore"))


class TestGemini:
    @pytest.fixture
    def top(self, tmp_path: Path) -> Path:
        make_repository(os.fsencode(tmp_path))
        (tmp_path / ".gitignore").write_text("build/\n*.log\nnode_modules/\n")
        return tmp_path

    def test_negation_brings_back_what_git_ignores(self, top: Path) -> None:
        (top / ".geminiignore").write_text("!important.log\n!build/keep.txt\nsecret*\n!secret.md\n")
        rules = rules_for(top)
        files = (
            "important.log",
            "x/important.log",
            "other.log",
            "build/keep.txt",
            "build/x",
            "secret.txt",
            "secret.md",
        )
        assert judged(rules, *files) == [NO, NO, GIT, NO, GIT, GEMINI, NO]
        assert rules.filter([os.fsencode(name) for name in files]) == (
            [b"important.log", b"x/important.log", b"build/keep.txt", b"secret.md"],
            2,
            1,
        )

    def test_a_bare_name_does_not_reach_into_ignored_directories(self, top: Path) -> None:
        (top / ".geminiignore").write_text("!*.md\n!build/a.md\n!*.md\n")
        assert judged(rules_for(top), "node_modules/x/README.md", "build/a.md", "build/b.md") == [GIT, NO, GIT]

    def test_a_directory_in_which_something_is_kept_is_not_ignored(self, top: Path) -> None:
        (top / ".geminiignore").write_text("!build/a/keep.txt\n!*.md\n")
        assert judged(rules_for(top), "build/", "build/a/", "build/b/", "node_modules/") == [NO, NO, GIT, GIT]

    def test_a_directory_that_is_brought_back_is_judged_anew(self, top: Path) -> None:
        (top / ".geminiignore").write_text("!build/\n")
        (top / "build").mkdir()
        (top / "build" / ".gitignore").write_text("*.o\n")
        assert judged(rules_for(top), "build/", "build/x", "build/x.log", "build/x.o") == [NO, NO, GIT, GIT]

    def test_what_it_ignores_stays_ignored_beneath(self, top: Path) -> None:
        (top / ".geminiignore").write_text("private/\n!private/x\n")
        (top / "private").mkdir()
        (top / "private" / "x").touch()
        git(os.fsencode(top), b"add", b"-f", b"private/x")
        assert judged(rules_for(top), "private/", "private/x", "private") == [GEMINI, GEMINI, NO]


class TestOtherFiles:
    def test_the_first_takes_precedence_over_the_next_and_over_geminiignore(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        for name, text in {
            ".gitignore": "*.log\n",
            ".geminiignore": "!keep.log\nsecret\n",
            "one.ignore": "!b.tmp\n!secret\n",
            "two.ignore": "*.tmp\nkeep.log\n",
        }.items():
            (tmp_path / name).write_text(text)
        files = [str(tmp_path / "one.ignore"), str(tmp_path / "missing"), str(tmp_path / "two.ignore")]
        rules = IgnoreRules(str(tmp_path), git=True, gemini=True, files=files)
        statuses = {
            name: rules.check(name, is_directory=False)
            for name in ("a.tmp", "b.tmp", "keep.log", "x.log", "secret", "plain")
        }
        assert statuses == {
            "a.tmp": IgnoreStatus.GEMINI,
            "b.tmp": IgnoreStatus.NOT_IGNORED,
            "keep.log": IgnoreStatus.GEMINI,
            "x.log": IgnoreStatus.GIT,
            "secret": IgnoreStatus.NOT_IGNORED,
            "plain": IgnoreStatus.NOT_IGNORED,
        }
        names = [name.encode() for name in statuses]
        assert rules.filter(names) == ([b"b.tmp", b"secret", b"plain"], 1, 2)

    def test_they_count_where_the_others_do_not(self, tmp_path: Path) -> None:
        (tmp_path / "more").write_text("a\n")
        rules = IgnoreRules(str(tmp_path), git=False, gemini=False, files=[str(tmp_path / "more")])
        assert not rules.is_empty
        assert rules.check("d/a", is_directory=False) is IgnoreStatus.GEMINI
        decided = rules.explain("a", is_directory=False)
        assert decided is not None
        assert decided.file == str(tmp_path / "more")


class TestPaths:
    def test_the_root_is_never_ignored(self, tmp_path: Path) -> None:
        make_repository(os.fsencode(tmp_path))
        (tmp_path / ".gitignore").write_text("*\n/**\nroot/\n")
        (tmp_path / ".geminiignore").write_text("*\n/\n.\n")
        (tmp_path / "root").mkdir()
        for root in (tmp_path, tmp_path / "root"):
            for spelled in ("", ".", "./", b"./."):
                assert rules_for(root).check(spelled, is_directory=True) is NO
                assert rules_for(root).explain(spelled, is_directory=True) is None

    def test_a_root_in_an_ignored_directory_is_usable(self, tmp_path: Path) -> None:
        make_repository(os.fsencode(tmp_path))
        (tmp_path / ".gitignore").write_text("work/\n*.log\n")
        (tmp_path / "work").mkdir()
        assert judged(rules_for(tmp_path / "work"), "a", "a.log") == [NO, GIT]

    def test_spellings_of_one_path(self, tmp_path: Path) -> None:
        make_repository(os.fsencode(tmp_path))
        (tmp_path / ".gitignore").write_text("a/b\n")
        for spelled in ("a/b", "./a/b", "a//b", "a/./b/", b"a/b"):
            assert rules_for(tmp_path).check(spelled, is_directory=False) is GIT

    @pytest.mark.parametrize("path", ["/a", "..", "a/../b", "../a", b"a/.."])
    def test_paths_that_lead_out(self, tmp_path: Path, path: str | bytes) -> None:
        with pytest.raises(ValueError, match="path"):
            rules_for(tmp_path).check(path, is_directory=False)

    def test_files_within_a_directory(self, tmp_path: Path) -> None:
        make_repository(os.fsencode(tmp_path))
        write(os.fsencode(tmp_path), {b".gitignore": b"/sub/a\nb\nsub/*/c\n", b"sub/x/.gitignore": b"d\n"})
        files = [b"a", b"b", b"x/c", b"x/d", b"x/a", b"d"]
        assert rules_for(tmp_path).filter(files, within=b"sub") == ([b"x/a", b"d"], 4, 0)
