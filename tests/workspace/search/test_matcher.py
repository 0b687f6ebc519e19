"""Our own matcher finds just the lines that ripgrep finds."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tejat.core.errors import ErrorType, ToolFailure
from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.search.dialects import to_pcre, to_ripgrep
from tejat.workspace.search.matcher import LineMatcher
from tejat.workspace.search.pattern import parse_pattern
from tejat.workspace.search.types import SearchEngineFailure


def words(text: str) -> list[str]:
    return text.split(" ")


CHARACTERS = st.sampled_from([" ", *words("a b k S é É ß \u017f _ 0 ٣ 日 - < { \r \u212a")])
SETS = st.sampled_from(
    words(r"\d \D \w \W \s \S . [ab] [^a] [\w-] [^\W_] [^\s] [[:alpha:]] [a-k] [É-ß] \p{Lu} \P{L} \p{Greek} [[a] []a]")
    + words(r"[&&a] [^\r\n] [\r\n] [\W\d] [a-] [\x00-\x7f] [^[:^space:]]")
)
ESCAPES = st.sampled_from(words(r"\. \< \x41 \u00e9 \x{65e5} \- \/ \t \r (?i:a) (?-i:A) a{,2}"))
EDGES = st.sampled_from([r"\b", r"\B", "^", "$", r"\A", r"\z", "", ""])
REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}?", "+?", "{2,}"])


def _combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({}){}".format, inner, REPEATS),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds("{}{}{}".format, EDGES, inner, EDGES),
    )


LINEAR = st.recursive(st.builds("{}{}".format, CHARACTERS | SETS | ESCAPES, REPEATS), _combined, max_leaves=6)
LOOKING = st.one_of(
    st.builds("{}(?={}){}".format, EDGES, LINEAR, LINEAR),
    st.builds("{}(?!{})".format, LINEAR, LINEAR),
    st.builds("(?<=[{}]){}".format, st.sampled_from(["a", "é", r"\w", "^a"]), LINEAR),
    # Python looks back with `str.lower`, for which ſ is no s: see `to_python`.
    st.builds(r"({})(?-i:\1){}".format, LINEAR, EDGES),
    st.builds("(?>{}){}".format, LINEAR, LINEAR),
    st.builds("{}++{}".format, CHARACTERS, LINEAR),
)
PIECES = words(
    "a b A k K \u212a s \u017f é É ß ẞ _ 0 ٣ 日 - < x { . [ & ] aé éa 𝔘 Ω ω ² Ⅷ ⓐ a{,2} \u200d \u00a0 \u2028 \u0301"
)


def corpus(*, odd: bool) -> list[bytes]:
    """Lines with every piece next to every other, and some in which not all is text or a line ends within."""
    lines = ["", " ", "\t", "a b", "aa", "a_b", " é ", "日日"]
    lines += [first + second for first in PIECES for second in PIECES]
    raw = [line.encode() for line in lines]
    if odd:
        odds = (
            b"\xff",
            b"\xc3",
            b"\xed\xa0\x80",
            b"\xe0\x80\x80",
            b"\xf5\x80\x80\x80",
            "ü".encode("cp1252"),
            b"\r",
            b"\r\r",
        )
        edges = (b"", b"a", "é".encode(), b"b")
        raw += [before + odd + after for odd in odds for before in edges for after in edges if odd[0] != 13 or after]
    return raw


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    files: dict[bool, Path] = {}
    for odd in (False, True):
        files[odd] = tmp_path_factory.mktemp("corpus") / "text"
        files[odd].write_bytes(b"".join(line + b"\n" for line in corpus(odd=odd)))
    return files


def lines_by_ripgrep(path: Path, *options: str) -> list[int]:
    program = find_ripgrep()
    assert program is not None
    command = [program, "--no-config", "--no-filename", "--line-number", *options, os.fspath(path)]
    result = subprocess.run(command, capture_output=True, check=False)
    assert result.returncode in (0, 1), result.stderr
    return [int(line.partition(b":")[0]) for line in result.stdout.split(b"\n") if line]


def lines_by_matcher(source: str, block: bytes, *, case_sensitive: bool) -> list[int]:
    pattern = parse_pattern(source, fixed_strings=False, case_sensitive=case_sensitive)
    with LineMatcher(pattern, lambda: None) as matcher:
        return [block.count(b"\n", 0, start) + 1 for start, _ in matcher.matching_lines(block)]


class TestAgainstRipgrep:
    @settings(max_examples=90, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(source=LINEAR, case_sensitive=st.booleans())
    def test_linear_patterns(self, texts: dict[bool, Path], source: str, case_sensitive: bool) -> None:
        pattern = parse_pattern(source, fixed_strings=False, case_sensitive=case_sensitive)
        expected = lines_by_ripgrep(texts[True], "--crlf", f"--regexp={to_ripgrep(pattern)}")
        block = b"\n".join(corpus(odd=True))
        assert lines_by_matcher(source, block, case_sensitive=case_sensitive) == expected

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(source=LOOKING, case_sensitive=st.booleans())
    def test_patterns_that_look_around_or_back(
        self, texts: dict[bool, Path], source: str, case_sensitive: bool
    ) -> None:
        pattern = parse_pattern(source, fixed_strings=False, case_sensitive=case_sensitive)
        expected = lines_by_ripgrep(texts[False], "--pcre2", f"--regexp={to_pcre(pattern)}")
        block = b"\n".join(corpus(odd=False))
        assert lines_by_matcher(source, block, case_sensitive=case_sensitive) == expected


def spans(source: str, block: bytes) -> list[bytes]:
    with LineMatcher(parse_pattern(source, fixed_strings=False, case_sensitive=True), lambda: None) as matcher:
        return [block[start:end] for start, end in matcher.matching_lines(block)]


class TestLines:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("", [b"one", b"", b"two", b""]),
            ("^$", [b"", b""]),
            ("^t", [b"two"]),
            ("o$", [b"two"]),
            ("one\\s*two", []),
            ("[^x]", [b"one", b"two"]),
        ],
    )
    def test_matches_stay_within_lines(self, source: str, expected: list[bytes]) -> None:
        assert spans(source, b"one\n\ntwo\n") == expected

    @pytest.mark.parametrize("source", ["x", r"\bx", "x(?!y)"])
    def test_many_lines(self, source: str) -> None:
        block = b"\n".join("é x {}".format("b" * (number % 5)).encode() for number in range(2000))
        assert spans(source, block) == block.split(b"\n")

    def test_a_carriage_return_ends_a_line_without_beginning_one(self) -> None:
        assert spans("^b$", b"a\rb\rc\nb") == [b"a\rb\rc", b"b"]

    def test_one_line(self) -> None:
        with LineMatcher(parse_pattern("b$", fixed_strings=False, case_sensitive=True), lambda: None) as matcher:
            assert [matcher.matches(line) for line in (b"ab", b"ba", b"")] == [True, False, False]

    @pytest.mark.parametrize(
        ("source", "line", "place"),
        [
            ("b", "aab", 2),
            ("b", "éa\rb", 4),
            (r"\bb\b", "éb_b__b é b é", 13),  # its end
            (r"\bb\b", "ab b", 3),
            ("(b)\\1", "éb bb", 4),
            (r"\Bb", "b ab", 3),
            ("c", "ab", None),
        ],
    )
    def test_where_a_line_matches(self, source: str, line: str, place: int | None) -> None:
        with LineMatcher(parse_pattern(source, fixed_strings=False, case_sensitive=True), lambda: None) as matcher:
            assert matcher.find(line.encode()) == place

    def test_where_a_line_that_is_no_text_matches(self) -> None:
        with LineMatcher(parse_pattern(r"\Bb", fixed_strings=False, case_sensitive=True), lambda: None) as matcher:
            assert matcher.find(b"\xffb ab") == 4


class TestLargeWork:
    SOURCE = "(a|b)*a(a|b){900}c"

    def test_a_costly_pattern_is_stopped_between_lines(self) -> None:
        calls: list[None] = []

        class Stopped(Exception):
            pass

        def stop() -> None:
            calls.append(None)
            if len(calls) == 3:
                raise Stopped

        pattern = parse_pattern(self.SOURCE, fixed_strings=False, case_sensitive=True)
        block = b"\n".join([b"ab" * 500] * 1000)
        with LineMatcher(pattern, stop) as matcher, pytest.raises(Stopped):
            list(matcher.matching_lines(block))

    def test_lines_are_found_in_every_part_of_a_large_block(self) -> None:
        wanted = b"a" * 901 + b"c"
        block = b"\n".join([b"ab" * 500, wanted] * 60)
        assert spans(self.SOURCE, block) == [wanted] * 60

    def test_a_line_that_is_too_long_for_the_pattern_is_cut_and_told(self) -> None:
        pattern = parse_pattern(r"(x|\w{950}z)", fixed_strings=False, case_sensitive=True)
        with LineMatcher(pattern, lambda: None) as matcher:
            # The line is long enough to be cut, and what comes after it is searched all the same.
            block = b"!" * 8_000_000 + b"x\nx"
            assert [block[start:end] for start, end in matcher.matching_lines(block)] == [b"x"]
            assert not matcher.complete


class TestProcess:
    def test_leaving_the_block_ends_it(self) -> None:
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
        before = children.read_text()
        with LineMatcher(parse_pattern("a(?!b)", fixed_strings=False, case_sensitive=True), lambda: None) as matcher:
            assert matcher.matches(b"ac")
            assert children.read_text() != before
        assert children.read_text() == before

    def test_a_look_behind_without_a_fixed_length_is_beyond_it(self) -> None:
        with (
            LineMatcher(parse_pattern("(?<=a+)b", fixed_strings=False, case_sensitive=True), lambda: None) as matcher,
            pytest.raises(SearchEngineFailure),
        ):
            matcher.matches(b"ab")


@pytest.mark.parametrize("source", ["a{1001}", r"\p{Nope}", "(?=[z-a])", r"(?!\p{Nope})"])
def test_what_re2_refuses_is_refused(source: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        LineMatcher(parse_pattern(source, fixed_strings=False, case_sensitive=True), lambda: None)
    assert caught.value.error_type is ErrorType.INVALID_TOOL_PARAMS
