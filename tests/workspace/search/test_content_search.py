"""Every engine finds the same, and what it finds is right."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import replace
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.search.content_search import (
    ALL_ENGINES,
    FileHits,
    SearchEngine,
    SearchLine,
    SearchQuery,
    SearchResult,
    check_pattern,
    search,
    search_file,
)

each_engine = pytest.mark.parametrize("engine", ALL_ENGINES)


def never() -> None:
    """Asks nobody to stop."""


@contextmanager
def directory(path: Path) -> Iterator[int]:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)


def run(
    root: Path, query: SearchQuery, engine: SearchEngine, *, ignoring: bool = True, deadline: float = 30
) -> SearchResult:
    rules = IgnoreRules(os.path.realpath(root), git=True, gemini=True) if ignoring else None
    with directory(root) as fd:
        return search(fd, query, rules=rules, stop=never, deadline=deadline, engines=[engine])


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def found(engine: SearchEngine, files: dict[str, list[tuple[int, str]]]) -> SearchResult:
    """A complete result of matching lines without context."""
    hits = tuple(
        FileHits(name, tuple(SearchLine(*line, True) for line in lines)) for name, lines in sorted(files.items())
    )
    return SearchResult(hits, sum(map(len, files.values())), True, False, engine)


def test_the_programs_that_are_compared_are_there() -> None:
    assert all(shutil.which(name) for name in ("git", "grep"))


PATTERNS = st.sampled_from(
    [
        "a",
        "^a",
        "b$",
        r"\bé",
        r"k\b",
        "[^a]",
        r"\w+ \w",
        "",
        "A|É",
        "s{2}",
        "(?i:b)x",
        "^$",
        r"^\s",
        "K",
        r"\S\S",
        "<",
        r"\d",
    ]
)
LOOKING = st.sampled_from([r"(?<!a)b", r"(.)(?-i:\1)", "a(?!b)", r"^(?=.*é).*a", r"(?<=é)\B", "(?>a*)b", r"\b(?![ab])"])
PIECES = st.sampled_from(
    ["a", "b", "A", "k", "K", "s", "ſ", "é", "É", "ß", "_", " ", "\t", "0", "٣", "日", "-", "<", "x"]
)
LINES = st.lists(PIECES, max_size=6).map("".join)
ODD = st.sampled_from([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x93\xfa", "ü".encode("cp1252"), b"\r", b"\x0c"])


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    text = ending.join(draw(st.lists(LINES, max_size=7))) + draw(st.sampled_from(["", ending]))
    kind = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "odd", "nul"]))
    if kind.startswith("utf-16"):
        return ("\ufeff" + text).encode(kind)
    raw = text.encode("utf-8-sig" if kind == "utf-8-sig" else "utf-8")
    if kind not in ("odd", "nul"):
        return raw
    at = draw(st.integers(0, len(raw)))
    return raw[:at] + (b"\0" if kind == "nul" else draw(ODD)) + raw[at:]


NAMES = st.sampled_from(
    [
        "a.py",
        "-b.txt",
        "sub/a.py",
        "sub/..c",
        "sub/deep/d:1:e.js",
        "new\nline",
        "out/x.py",
        "out/keep",
        "node_modules/m.js",
        ".hidden",
    ]
)
IGNORE_LINES = st.sampled_from(
    ["out/", "*.py", "!a.py", "/sub/deep", "keep", "!out/keep", "sub/*", "*.txt", "# a", "new*"]
)
INCLUDES = st.sampled_from([None, None, None, "*.py", "*.{py,js}", "sub/**", "sub/**/*.js", "**/a*", "[!a]*", "?*"])


@st.composite
def trees(draw: st.DrawFn) -> dict[str, bytes]:
    tree = {name: draw(contents()) for name in draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))}
    for name in (".gitignore", "sub/.gitignore", ".geminiignore"):
        lines = draw(st.one_of(st.just([]), st.lists(IGNORE_LINES, max_size=3)))
        if lines:
            tree[name] = "\n".join(lines).encode()
    return tree


@st.composite
def queries(draw: st.DrawFn, patterns: st.SearchStrategy[str]) -> SearchQuery:
    return SearchQuery(
        pattern=draw(patterns),
        exclude_pattern=draw(st.sampled_from([None, None, None, "b", r"\w$"])),
        case_sensitive=draw(st.booleans()),
        include=draw(INCLUDES),
        before=draw(st.sampled_from([0, 0, 1, 2])),
        after=draw(st.sampled_from([0, 0, 1, 2])),
        max_matches_per_file=draw(st.sampled_from([None, None, 1, 2])),
        total_max_matches=1000,
        names_only=draw(st.integers(0, 4)) == 0,
    )


def results_of_all(
    tree: dict[str, bytes], query: SearchQuery, engines: tuple[SearchEngine, ...] = ALL_ENGINES
) -> list[SearchResult]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / ".git").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        write(root, dict(tree))
        return [replace(run(root, query, engine), engine=SearchEngine.PYTHON) for engine in engines]


class TestEnginesAgree:
    @settings(max_examples=30, deadline=None)
    @given(tree=trees(), query=queries(PATTERNS))
    def test_on_linear_patterns(self, tree: dict[str, bytes], query: SearchQuery) -> None:
        first, *others = results_of_all(tree, query)
        assert others == [first] * 3

    @settings(max_examples=12, deadline=None)
    @given(tree=trees(), query=queries(LOOKING))
    def test_on_patterns_that_look_around_or_back(self, tree: dict[str, bytes], query: SearchQuery) -> None:
        first, *others = results_of_all(tree, query)
        assert others == [first] * 3

    @settings(max_examples=20, deadline=None)
    @given(tree=trees(), query=queries(LINES.filter(bool)))
    def test_on_fixed_strings(self, tree: dict[str, bytes], query: SearchQuery) -> None:
        first, *others = results_of_all(tree, replace(query, fixed_strings=True))
        assert others == [first] * 3


class TestWhatIsFound:
    @each_engine
    def test_lines_by_file_and_number(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"src/b.ts": "one\n  needle  \n\tNEEDLE", "a.ts": "needles\n", "c.ts": "nothing\n"})
        assert run(tmp_path, SearchQuery(pattern="needle"), engine) == found(
            engine, {"a.ts": [(1, "needles")], "src/b.ts": [(2, "  needle"), (3, "\tNEEDLE")]}
        )

    @each_engine
    def test_case_counts_when_asked(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"a": "needle\nNeedle\n"})
        assert run(tmp_path, SearchQuery(pattern="Needle", case_sensitive=True), engine) == found(
            engine, {"a": [(2, "Needle")]}
        )

    @each_engine
    @pytest.mark.parametrize(
        ("include", "names"),
        [
            ("*.ts", ["a.ts", "src/b.ts"]),
            ("src/**/*.{ts,tsx}", ["src/b.ts", "src/ui/c.tsx"]),
            ("./src/*", ["src/b.ts", "src/d.js"]),
            ("*.{js,ts}", ["a.ts", "src/b.ts", "src/d.js"]),
            ("*.TS", []),
        ],
    )
    def test_include(self, tmp_path: Path, engine: SearchEngine, include: str, names: list[str]) -> None:
        write(tmp_path, dict.fromkeys(["a.ts", "src/b.ts", "src/ui/c.tsx", "src/d.js"], "x\n"))
        assert run(tmp_path, SearchQuery(pattern="x", include=include), engine) == found(
            engine, {name: [(1, "x")] for name in names}
        )

    @each_engine
    def test_context_around_matches_is_given_once(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"a": "".join(f"{number}\n" for number in range(1, 13))})
        lines = [(1, False), (2, True), (3, False), (9, False), (10, True), (11, False), (12, True)]
        assert run(tmp_path, SearchQuery(pattern="2|10", before=1, after=1), engine) == SearchResult(
            (FileHits("a", tuple(SearchLine(number, str(number), hit) for number, hit in lines)),),
            3,
            True,
            False,
            engine,
        )

    @each_engine
    def test_a_match_beyond_the_limit_of_a_file_is_context(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"a": "x1\nx2\nx3\nx4\n", "b": "x\n"})
        assert run(tmp_path, SearchQuery(pattern="x", max_matches_per_file=1, after=2), engine) == SearchResult(
            (
                FileHits("a", (SearchLine(1, "x1", True), SearchLine(2, "x2", False), SearchLine(3, "x3", False))),
                FileHits("b", (SearchLine(1, "x", True),)),
            ),
            2,
            True,
            False,
            engine,
        )

    @each_engine
    def test_no_more_than_asked_for(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"a": "x1\nx2\nx3\nx4\n"})
        assert run(tmp_path, SearchQuery(pattern="x", total_max_matches=2), engine) == SearchResult(
            (FileHits("a", (SearchLine(1, "x1", True), SearchLine(2, "x2", True))),), 2, True, True, engine
        )
        assert not run(tmp_path, SearchQuery(pattern="x", total_max_matches=4), engine).is_limited

    @each_engine
    def test_no_more_than_asked_for_over_many_files(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {f"{number:03}": "x\nx\n" for number in range(60)})
        result = run(tmp_path, SearchQuery(pattern="x", total_max_matches=7), engine)
        whole = (SearchLine(1, "x", True), SearchLine(2, "x", True))
        assert (result.matches, result.is_complete, result.is_limited) == (7, True, True)
        assert {hits.path: len(hits.lines) for hits in result.files} == {"000": 2, "001": 2, "002": 2, "003": 1}
        assert all(hits.lines == whole[: len(hits.lines)] for hits in result.files)

    @each_engine
    @pytest.mark.parametrize("exclude", [None, "z"])
    @pytest.mark.parametrize("names_only", [False, True])
    def test_a_limited_result_is_the_beginning_of_the_whole(
        self, tmp_path: Path, engine: SearchEngine, *, exclude: str | None, names_only: bool
    ) -> None:
        # The first files are large, so that threads finish others earlier.
        folders = ("src", "src-old", "src/sub", "src.new", "z")
        names = [f"{folder}/{number}" for folder in folders for number in range(5)]
        write(tmp_path, {name: "-\n" * (100_000 if name.startswith("src/") else 1) + "x\nx\n" for name in names})
        query = SearchQuery(pattern="x", exclude_pattern=exclude, names_only=names_only, total_max_matches=1000)
        whole = run(tmp_path, query, engine)
        assert (len(whole.files), whole.is_limited) == (len(names), False)
        limited = run(tmp_path, replace(query, total_max_matches=8), engine)
        count = 8 if names_only else 4
        assert (limited.files, limited.is_limited) == (whole.files[:count], True)

    @each_engine
    @pytest.mark.parametrize("exclude", [None, "z"])
    @pytest.mark.parametrize("context", [0, 3])
    def test_a_long_result_is_the_beginning_of_the_whole(
        self, tmp_path: Path, engine: SearchEngine, *, exclude: str | None, context: int
    ) -> None:
        write(tmp_path, {f"{number}": "x 1\n-\n-\nx 2\n" * 20 for number in range(5)})
        query = SearchQuery(pattern="x", exclude_pattern=exclude, before=context, after=context, total_max_matches=1000)
        whole = run(tmp_path, query, engine)
        assert (len(whole.files), whole.is_limited) == (5, False)
        for most in (0, 30, 500, 2000):
            limited = run(tmp_path, replace(query, max_characters=most), engine)
            lines = [(hits.path, line) for hits in limited.files for line in hits.lines]
            assert limited.is_limited
            assert lines == [(hits.path, line) for hits in whole.files for line in hits.lines][: len(lines)]
            assert limited.matches == sum(line.is_match for _, line in lines) > 0
            # A file takes a dozen characters more, so the room left may be too small for the next one.
            assert len(lines) == 1 or most - 35 <= sum(hits.size for hits in limited.files) <= most

    @each_engine
    def test_names_only(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"b": "x\nx\n", "a": "x\n", "c": "y\n"})
        query = SearchQuery(pattern="x", names_only=True, before=3)
        assert run(tmp_path, query, engine) == SearchResult(
            (FileHits("a", ()), FileHits("b", ())), 2, True, False, engine
        )
        limited = run(tmp_path, replace(query, total_max_matches=1), engine)
        assert (len(limited.files), limited.matches, limited.is_limited) == (1, 1, True)

    @each_engine
    def test_excluded_lines_are_no_matches(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"a": "x 1\nx 2\nx 3\n", "b": "x 2\n"})
        assert run(tmp_path, SearchQuery(pattern="x", exclude_pattern="2$", max_matches_per_file=2), engine) == found(
            engine, {"a": [(1, "x 1"), (3, "x 3")]}
        )

    @each_engine
    def test_an_empty_pattern_matches_every_line(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"a": "x\n\n", "empty": ""})
        assert run(tmp_path, SearchQuery(pattern=""), engine) == found(engine, {"a": [(1, "x"), (2, "")]})

    @each_engine
    @pytest.mark.parametrize("pattern", ["-x", "--files", "-e", "--pre=touch MARK"])
    def test_a_pattern_is_never_taken_for_an_option(self, tmp_path: Path, engine: SearchEngine, pattern: str) -> None:
        write(tmp_path, {"a": f"a\n{pattern}\n"})
        assert run(tmp_path, SearchQuery(pattern=pattern), engine) == found(engine, {"a": [(2, pattern)]})
        assert os.listdir(tmp_path) == ["a"]

    @each_engine
    @pytest.mark.parametrize("text", ["(", "a.b*[", "\\", "$^", "{1}", "é(", "\x01"])
    def test_fixed_strings_mean_themselves(self, tmp_path: Path, engine: SearchEngine, text: str) -> None:
        write(tmp_path, {"a": f"aXb\n<{text}>\n"})
        assert run(tmp_path, SearchQuery(pattern=text, fixed_strings=True), engine) == found(
            engine, {"a": [(2, f"<{text}>")]}
        )

    @each_engine
    def test_the_longest_patterns(self, tmp_path: Path, engine: SearchEngine) -> None:
        text = "ab" * 1_500
        write(tmp_path, {"a": f"{text}\n"})
        query = SearchQuery(pattern=text, fixed_strings=True, case_sensitive=True)
        assert run(tmp_path, query, engine) == found(engine, {"a": [(1, "ab" * 1000 + "... [truncated]")]})


class TestWhichFilesAreSearched:
    @each_engine
    def test_ignored_files_and_excluded_directories_are_not(self, tmp_path: Path, engine: SearchEngine) -> None:
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        names = ["a", "out/b", "c.log", "keep.log", "src/out/d", "src/e.tmp", "node_modules/f", "src/node_modules/g"]
        write(tmp_path, dict.fromkeys([*names, ".git/h", "secret", ".hidden/i"], "x\n"))
        write(
            tmp_path,
            {".gitignore": "out/\n*.log\n!keep.log\n", "src/.gitignore": "*.tmp\n", ".geminiignore": "secret\n"},
        )
        assert run(tmp_path, SearchQuery(pattern="^x$"), engine) == found(
            engine, {name: [(1, "x")] for name in ("a", "keep.log", ".hidden/i")}
        )
        everything = [*names[:-2], "secret", ".hidden/i"]
        assert run(tmp_path, SearchQuery(pattern="^x$"), engine, ignoring=False) == found(
            engine, {name: [(1, "x")] for name in everything}
        )

    @each_engine
    def test_rules_of_the_root_hold_in_a_directory_beneath_it(self, tmp_path: Path, engine: SearchEngine) -> None:
        (tmp_path / ".git").mkdir()
        write(tmp_path, {".gitignore": "/src/gen/\n", "src/gen/a": "x\n", "src/b": "x\n"})
        rules = IgnoreRules(os.path.realpath(tmp_path), git=True, gemini=True)
        with directory(tmp_path / "src") as fd:
            result = search(
                fd, SearchQuery(pattern="x"), rules=rules, within=b"src", stop=never, deadline=30, engines=[engine]
            )
        assert result == found(engine, {"b": [(1, "x")]})

    @each_engine
    def test_links_and_special_files_are_not(self, tmp_path: Path, engine: SearchEngine) -> None:
        outside = tmp_path / "outside"
        root = tmp_path / "root"
        write(tmp_path, {"outside/a": "x\n", "root/b": "x\n"})
        (root / "loop").symlink_to(root, target_is_directory=True)
        (root / "away").symlink_to(outside, target_is_directory=True)
        (root / "link").symlink_to(outside / "a")
        (root / "dangling").symlink_to("nowhere")
        os.mkfifo(root / "fifo")
        assert run(root, SearchQuery(pattern="x"), engine) == found(engine, {"b": [(1, "x")]})

    @each_engine
    def test_binary_files_are_not(self, tmp_path: Path, engine: SearchEngine) -> None:
        late = b"x\n" + b"y\n" * 100_000 + b"\0\nx\n"
        write(
            tmp_path,
            {"early": b"x\n\0", "late": late, "later": late.replace(b"\0", b"y" * 70_000 + b"\0"), "text": "x\n"},
        )
        for query in (SearchQuery(pattern="x"), SearchQuery(pattern="x", max_matches_per_file=1)):
            assert run(tmp_path, query, engine) == found(engine, {"text": [(1, "x")]})
        assert run(tmp_path, SearchQuery(pattern="x", names_only=True), engine).files == (FileHits("text", ()),)

    @each_engine
    def test_unreadable_files_are_passed_over(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"a": "x\n", "b": "x\n", "shut/c": "x\n"})
        (tmp_path / "a").chmod(0)
        (tmp_path / "shut").chmod(0)
        try:
            readable = [name for name in ("a", "b", "shut/c") if os.access(tmp_path / name, os.R_OK)]
            assert run(tmp_path, SearchQuery(pattern="x"), engine) == found(
                engine, {name: [(1, "x")] for name in readable}
            )
        finally:
            (tmp_path / "shut").chmod(0o755)

    @each_engine
    def test_names_of_any_kind_survive(self, tmp_path: Path, engine: SearchEngine) -> None:
        names = ["a:1:b", "-v", "--", "..name", "new\nline", "naïve", " ", "a\\b", "*", os.fsdecode(b"\xff\xfe")]
        names += ['a: WARNING: stopped searching binary file after match (found "\\0" byte around offset 3)\nb']
        write(tmp_path, dict.fromkeys(names, "x\n"))
        result = run(tmp_path, SearchQuery(pattern="x"), engine)
        assert {hits.path for hits in result.files} == set(names)
        assert result.matches == len(names)

    @pytest.mark.parametrize("include", ["../**", "/etc/*"])
    def test_a_glob_cannot_lead_out(self, tmp_path: Path, include: str) -> None:
        with pytest.raises(ToolFailure) as caught:
            run(tmp_path, SearchQuery(pattern="x", include=include), SearchEngine.PYTHON)
        assert caught.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE

    def test_nothing_that_a_repository_configures_is_run(self, tmp_path: Path) -> None:
        root = tmp_path / "root"
        mark = tmp_path / "MARK"
        subprocess.run(["git", "init", "-q", root], check=True)
        command = f"touch {mark}"
        for key in ("core.fsmonitor", "core.pager", "pager.grep", "diff.y.textconv", "core.sshCommand", "alias.grep"):
            subprocess.run(["git", "-C", root, "config", key, command], check=True)
        write(root, {"a": "x\n", ".gitattributes": "* diff=y\n"})
        for engine in ALL_ENGINES:
            assert run(root, SearchQuery(pattern="^x"), engine) == found(engine, {"a": [(1, "x")]})
        assert not mark.exists()


class TestHowLinesAreShown:
    @each_engine
    def test_line_endings_are_left_out(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"a": "ax \r\nb\r\nx\r\n"})
        assert run(tmp_path, SearchQuery(pattern="x *$"), engine) == found(engine, {"a": [(1, "ax"), (3, "x")]})

    @each_engine
    def test_long_lines_are_cut(self, tmp_path: Path, engine: SearchEngine) -> None:
        lines = ["é" * 2000, "é" * 2001, "x" * 100_000 + "é", "日" * 9000]
        write(tmp_path, {"a": "\n".join(lines)})
        cut = "... [truncated]"
        assert run(tmp_path, SearchQuery(pattern="é|日"), engine) == found(
            engine,
            {
                "a": [
                    (1, "é" * 2000),
                    (2, "é" * 2000 + cut),
                    (3, "[truncated] ..." + "x" * 500 + "é"),
                    (4, "日" * 2000 + cut),
                ]
            },
        )

    @each_engine
    @pytest.mark.parametrize("pattern", [r"\bneedle\b", "needle(?= hit)", r"(?i)NEEDLE hit"])
    @pytest.mark.parametrize("filler", ["lorem ipsum, ", "日本語 "])
    def test_the_text_around_a_match_far_into_a_line_is_shown(
        self, tmp_path: Path, engine: SearchEngine, pattern: str, filler: str
    ) -> None:
        line = f"xneedlex {filler * 1000}needle hit {filler * 1000}"
        write(tmp_path, {"a": f"first\n{line}\nlast\n", "b": f"{line[: line.index(' hit') + 4]}\n"})
        result = run(tmp_path, SearchQuery(pattern=pattern, case_sensitive=True), engine)
        is_known_by_its_end = r"\b" in pattern and not filler.isascii()
        near = line.index(" needle") + 1 + is_known_by_its_end * len("needle")
        assert [hits.lines[0].text for hits in result.files] == [
            f"[truncated] ...{line[near - 500 : near + 1500]}... [truncated]",
            f"[truncated] ...{line[near - 500 : line.index(' hit') + 4]}",
        ]

    @each_engine
    def test_other_encodings_are_decoded(self, tmp_path: Path, engine: SearchEngine) -> None:
        japanese = "x これは日本語の文章です。検索の結果に正しく表示されます。"
        write(
            tmp_path,
            {
                "sjis": f"first\n{japanese}\n".encode("cp932"),
                "utf16": f"\ufefffirst\n{japanese}\n".encode("utf-16-le"),
                "bom": f"\ufeff{japanese}\n".encode(),
            },
        )
        assert run(tmp_path, SearchQuery(pattern="^x"), engine) == found(
            engine, {"sjis": [(2, japanese)], "utf16": [(2, japanese)], "bom": [(1, japanese)]}
        )


class TestEndingEarly:
    def test_a_hostile_pattern_is_linear(self, tmp_path: Path) -> None:
        write(tmp_path, {"a": "a" * 200_000 + "!\n"})
        for engine in ALL_ENGINES:
            started = time.monotonic()
            assert run(tmp_path, SearchQuery(pattern="(a+)+$"), engine) == found(engine, {})
            assert time.monotonic() - started < 10

    @pytest.mark.parametrize("engine", [SearchEngine.GIT_GREP, SearchEngine.GREP, SearchEngine.PYTHON])
    def test_a_pattern_that_takes_forever_ends_at_the_deadline(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"z": "a" * 40 + "!\n"})
        started = time.monotonic()
        result = run(tmp_path, SearchQuery(pattern="^(a|a)+(?!.)"), engine, deadline=0.5)
        assert (result.files, result.is_complete) == ((), False)
        assert time.monotonic() - started < 20

    def test_pcre_giving_up_is_told(self, tmp_path: Path) -> None:
        write(tmp_path, {"z": "a" * 40 + "!\n", "b": "aaa\n"})
        result = run(tmp_path, SearchQuery(pattern="(?=a)(a+)+$"), SearchEngine.RIPGREP)
        assert result == replace(found(SearchEngine.RIPGREP, {"b": [(1, "aaa")]}), is_complete=False)

    @each_engine
    def test_what_was_found_until_the_deadline_is_kept(self, tmp_path: Path, engine: SearchEngine) -> None:
        # A file that is read later than the others, and takes longer than there is time.
        write(tmp_path, {"a": "x\n"})
        with open(tmp_path / "big", "wb") as file:
            for _ in range(8):
                file.write((b"y" * 127 + b"\n") * 8192)
        whole = run(tmp_path, SearchQuery(pattern="x|y{3}z"), engine)
        assert whole == found(engine, {"a": [(1, "x")]})
        cut = run(tmp_path, SearchQuery(pattern="x|y{3}z"), engine, deadline=0)
        assert not cut.is_complete
        assert set(cut.files) <= set(whole.files)

    @each_engine
    def test_cancelling_goes_through(self, tmp_path: Path, engine: SearchEngine) -> None:
        write(tmp_path, {"a": "x\n"})

        class Cancelled(Exception):
            pass

        def stop() -> None:
            raise Cancelled

        with directory(tmp_path) as fd, pytest.raises(Cancelled):
            search(fd, SearchQuery(pattern="x"), rules=None, stop=stop, deadline=30, engines=[engine])


class TestChoosingAnEngine:
    def test_the_first_that_can(self, tmp_path: Path) -> None:
        write(tmp_path, {"a": "x\n"})
        with directory(tmp_path) as fd:
            result = search(fd, SearchQuery(pattern="x"), rules=None, stop=never, deadline=30)
        assert result == found(SearchEngine.RIPGREP, {"a": [(1, "x")]})

    def test_the_next_where_one_cannot(self, tmp_path: Path) -> None:
        write(tmp_path, {"a": "x\n"})
        with directory(tmp_path) as fd:
            # git grep never looks into a directory called .git, so it is not asked to.
            query = SearchQuery(pattern="x", exclude_directories=frozenset())
            result = search(
                fd,
                query,
                rules=None,
                stop=never,
                deadline=30,
                engines=[SearchEngine.GIT_GREP, SearchEngine.GREP, SearchEngine.PYTHON],
            )
        assert result == found(SearchEngine.GREP, {"a": [(1, "x")]})

    def test_a_pattern_that_none_can_match_is_told(self, tmp_path: Path) -> None:
        write(tmp_path, {"a": "xx\n"})
        with pytest.raises(ToolFailure) as caught:
            run(tmp_path, SearchQuery(pattern="(?<=x{1,2})x"), SearchEngine.PYTHON)
        assert caught.value.error_type is ErrorType.GREP_EXECUTION_ERROR
        assert caught.value.message.startswith("Error during grep search operation: ")
        assert run(tmp_path, SearchQuery(pattern="(?<=x{1,2})x"), SearchEngine.RIPGREP) == found(
            SearchEngine.RIPGREP, {"a": [(1, "xx")]}
        )


class TestCheckPattern:
    @pytest.mark.parametrize(
        "pattern", ["(", "a)", "[a", "*a", "a**", r"\y", "a\\", "(?<n", r"(a)\2", r"\p{Nope}", "a{2000}"]
    )
    def test_what_is_not_understood_is_refused(self, pattern: str) -> None:
        with pytest.raises(ToolFailure) as caught:
            check_pattern(pattern)
        assert caught.value.error_type is ErrorType.INVALID_TOOL_PARAMS
        assert caught.value.message.startswith(f"Invalid regular expression pattern provided: {pattern}. Error: ")
        check_pattern(pattern, fixed_strings=True)

    @pytest.mark.parametrize("fixed_strings", [False, True])
    def test_a_pattern_without_end_is_refused(self, fixed_strings: bool) -> None:
        with pytest.raises(ToolFailure) as caught:
            check_pattern("a" * 1_000_000, fixed_strings=fixed_strings)
        assert caught.value.error_type is ErrorType.INVALID_TOOL_PARAMS
        assert len(caught.value.message) < 2000

    @pytest.mark.parametrize(
        "pattern", ["", "a{", "func() {", "[[]", r"\<a\>", "(?<!a)b", r"(?P<n>a)(?P=n)", r"\u00e9"]
    )
    def test_what_is_understood_passes(self, pattern: str) -> None:
        check_pattern(pattern)


class TestSearchFile:
    def test_one_file(self, tmp_path: Path) -> None:
        write(tmp_path, {"a": "x1\ny\nx2\nx3\n"})
        with open(tmp_path / "a", "rb") as file:
            result = search_file(
                file.fileno(),
                b"some/a",
                SearchQuery(pattern="x", total_max_matches=2, after=1),
                stop=never,
                deadline=30,
            )
        lines = (
            SearchLine(1, "x1", True),
            SearchLine(2, "y", False),
            SearchLine(3, "x2", True),
            SearchLine(4, "x3", False),
        )
        assert result == SearchResult((FileHits("some/a", lines),), 2, True, True, SearchEngine.PYTHON)

    def test_excluded_lines(self, tmp_path: Path) -> None:
        write(tmp_path, {"a": "x1\nx2\n"})
        with open(tmp_path / "a", "rb") as file:
            result = search_file(
                file.fileno(), b"a", SearchQuery(pattern="x", exclude_pattern="1"), stop=never, deadline=30
            )
        assert result == found(SearchEngine.PYTHON, {"a": [(2, "x2")]})

    def test_a_binary_file_has_no_matches(self, tmp_path: Path) -> None:
        write(tmp_path, {"a": b"x\0"})
        with open(tmp_path / "a", "rb") as file:
            result = search_file(file.fileno(), b"a", SearchQuery(pattern="x"), stop=never, deadline=30)
        assert result == found(SearchEngine.PYTHON, {})
