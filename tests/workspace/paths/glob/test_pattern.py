"""Glob patterns match what people expect of them, and exactly what a slow matcher by the book matches."""

import os
import time
from dataclasses import dataclass
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tejat.core.errors import ErrorType, ToolFailure
from tejat.workspace.paths.glob.pattern import compile_glob, escape_glob


def matching(pattern: str, *paths: str, case_sensitive: bool = True) -> list[str]:
    compiled = compile_glob(pattern, case_sensitive=case_sensitive)
    found = [path for path in paths if compiled.matches(path)]
    encoded = [os.fsencode(path) for path in paths]
    assert [path for path in encoded if compiled.matches(path)] == [os.fsencode(path) for path in found]
    assert compiled.select(encoded) == [os.fsencode(path) for path in found]
    return found


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", ".py", ".hidden.py"], ["d/a.py", "a.pyc", "a.PY", "apy"]),
        ("**/*.py", ["a.py", "d/a.py", "d/e/.a.py", ".d/a.py", "\n/\n.py"], ["a.pyc", "a.py/b"]),
        ("**/*.{py,txt}", ["a.py", "d/e.txt"], ["a.md", "py", "d/py"]),
        ("src/**/*.{ts,tsx}", ["src/a.ts", "src/b/c/d.tsx"], ["a.ts", "src/a.js", "xsrc/a.ts", "src"]),
        ("src/**/test_*.py", ["src/test_a.py", "src/x/test_.py"], ["src/x/tests_a.py", "test_a.py"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/c", "ab"]),
        ("**", ["a", "a/b", ".x"], []),
        ("**/a/**/b", ["a/b", "x/a/y/z/b", "a/a/b/b"], ["b", "a", "ab", "a/b/c"]),
        ("a/**/**/**/b", ["a/b", "a/x/y/b"], ["ab"]),
        ("a**b", ["ab", "axxb"], ["a/b", "ax/xb"]),
        ("*", ["a", ".a"], ["a/b"]),
        ("?", ["a", "é", "/"[:0] + "."], ["ab", "a/"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "Ax"]),
        ("[!a-c]x", ["dx", "]x"], ["ax", "/x"]),
        ("[^a]", ["b", "^"], ["a"]),
        ("[]a]", ["]", "a"], ["[]a]"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[\\]x]", ["]", "x"], ["\\"]),
        ("[+-9]", ["+", "5"], ["a"]),
        ("a[+-9]b", ["a5b"], ["a/b"]),
        ("[z-a]", [], ["a", "z", "m", "-"]),
        ("[[:digit:][:upper:]]", ["1", "A"], ["a"]),
        ("[[:alpha:]_]*", ["a1", "é", "_"], ["1a"]),
        ("[[:nope:]]", [":]", "n]"], ["n", "x]"]),
        ("[ab", ["[ab"], ["a"]),
        ("a[b/c]d", ["a[b/c]d"], ["abd", "a/d"]),
        ("{a,b/c}/d", ["a/d", "b/c/d"], ["b/d", "c/d"]),
        ("file{1..3}", ["file1", "file3"], ["file4", "file{1..3}"]),
        ("{a}", ["{a}"], ["a"]),
        ("\\*", ["*"], ["a", "\\*"]),
        ("a\\", ["a\\"], ["a"]),
        ("a\\/b", ["a/b"], ["a\\/b"]),
        ("./a//b", ["a/b"], ["./a//b", "a//b"]),
        ("a/./b", ["a/b"], []),
        ("a/", [], ["a", "a/b"]),
        ("@(a|bc).x", ["a.x", "bc.x"], ["b.x", ".x", "abc.x"]),
        ("a?(b|c)", ["a", "ab", "ac"], ["abc", "b"]),
        ("*(ab|c)", ["ab", "abc", "cab", "c"], ["a", "abx"]),
        ("+(a|b)x", ["ax", "abax"], ["x"]),
        ("!(a|b)", ["c", "ab", ".a"], ["a", "b", "c/d"]),
        ("**/!(*.test).js", ["a.js", "d/b.js", "d/test.js"], ["a.test.js", "d/b.test.js", "a.jsx"]),
        ("!(a)!(b)", ["a", "b", "ab", "x"], []),
        ("!(!(a))", ["a"], ["b", "ab"]),
        ("@(*|a)*", ["a", "xyz"], ["a/b"]),
        ("(a|b)", ["(a|b)"], ["a"]),
        ("@(a", ["@(a"], ["a"]),
        ("app/(group)/[[]id]/page.tsx", ["app/(group)/[id]/page.tsx"], ["app/(group)/i/page.tsx"]),
    ],
)
def test_examples(pattern: str, yes: list[str], no: list[str]) -> None:
    assert matching(pattern, *yes, *no) == yes


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("**/*.Py", ["a.pY", "D/A.PY", "é.py"], ["a.pyc"]),
        ("SRC/[A-C]*", ["src/beta", "Src/A"], ["src/d"]),
        ("[!a]", ["b"], ["a", "A"]),
        ("ÄPFEL*", ["äpfel.txt", "Äpfel"], ["apfel"]),
        ("!(README).md", ["a.md"], ["readme.md", "Readme.MD"]),
        ("*.k", ["a.\u212a", "a.K"], []),
        ("**/*.k", ["a.\u212a", "d/a.K"], ["a.x"]),
    ],
)
def test_either_case(pattern: str, yes: list[str], no: list[str]) -> None:
    assert matching(pattern, *yes, *no, case_sensitive=False) == yes


def test_names_that_are_not_unicode() -> None:
    assert matching("?.py", "\udcff.py", "\udcff\udcfe.py") == ["\udcff.py"]
    assert matching("\udcff*", "\udcffa", "a") == ["\udcffa"]
    assert matching("**/*.py", "d/\udcff.py", "a.py", "a.txt") == ["d/\udcff.py", "a.py"]


def test_nothing_to_select_from() -> None:
    assert compile_glob("**/*.py", case_sensitive=True).select([]) == []


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [
        ("src/app/*.py", "src/app"),
        ("src/app/main.py", "src/app"),
        ("src/{a,b}/x", "src"),
        ("src/@(a)/x", "src/a"),
        ("**/x", ""),
        ("main.py", ""),
        ("a\\*/b", "a*"),
        ("s[r]c/x", ""),
        ("?(a)/b", ""),
        ("./a/./b", "a"),
        ("\\./a/b", ""),
        ("{a/b,a/b/c}/*", "a/b"),
        ("{a,ab}/*", ""),
    ],
)
def test_literal_parts(pattern: str, prefix: str) -> None:
    assert compile_glob(pattern, case_sensitive=True).literal_prefix == prefix


@pytest.mark.parametrize(
    "pattern",
    ["../a", "a/../b", "..", "../../**/*", "/etc/*", "/", "{a,..}/b", "{/etc,a}", ".{.,x}/a", "@(..)/a", "\\.\\./a"],
)
def test_patterns_that_lead_out(pattern: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        compile_glob(pattern, case_sensitive=True)
    assert caught.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "a\0b",
        "a\ud800",
        "x" * 10_001,
        "{a,b}" * 25,
        "@(a|b)" * 51,
        "!(" * 60 + "a" + ")" * 60,
        "@(" * 60,
        "{a,b,c}" * 5 + "*(a)",
        "@(a/b|c)",
        "{1..500}" + "." * 190,
    ],
)
def test_patterns_that_are_refused(pattern: str) -> None:
    started = time.process_time()
    with pytest.raises(ToolFailure) as caught:
        compile_glob(pattern, case_sensitive=True)
    assert caught.value.error_type is ErrorType.INVALID_TOOL_PARAMS
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/" * 30 + "x", "a/" * 200 + "b"),
        ("*a" * 100 + "b", "a" * 250),
        ("**/*a*/" * 50 + "b", "aa/" * 300 + "c"),
        ("*(*(*(*(*(*(a))))))b", "a" * 250),
        ("!(!(!(!(!(!(a*))))))b", "a" * 250),
        ("+(a|aa|aaa)" * 20 + "b", "a" * 250),
        ("{a,b,c,d,e,f}" * 4 + "*x", "f" * 250),
        ("@(a|b)" * 30 + "c", "ab" * 100),
    ],
)
def test_hostile_patterns_do_not_take_long(pattern: str, path: str) -> None:
    started = time.process_time()
    assert not compile_glob(pattern, case_sensitive=False).matches(path)
    assert time.process_time() - started < 5


@given(st.text(min_size=1, max_size=20).filter(lambda name: name.isprintable()))
def test_an_escaped_path_matches_itself_only(path: str) -> None:
    assume(not path.startswith("/") and not {"", ".", ".."} & set(path.split("/")))
    compiled = compile_glob(escape_glob(path), case_sensitive=True)
    assert compiled.matches(path)
    assert not compiled.matches(path + "x")
    assert not compiled.matches("x" + path)


@dataclass(frozen=True)
class Choice:
    """A group, or braces when the mark is empty."""

    mark: str
    alternatives: tuple["Sequence", ...]


Sequence = tuple["str | Choice", ...]

ONE_CHARACTER = {"a": "a", "b": "b", "1": "1", "?": "ab1", "[ab]": "ab", "[!a]": "b1", "[[:alpha:]]": "ab"}
characters = st.sampled_from([*ONE_CHARACTER, "*"])
sequences = st.recursive(
    st.lists(characters, min_size=1, max_size=3).map(tuple),
    lambda inner: st.lists(
        st.one_of(
            characters,
            st.builds(Choice, st.sampled_from("@?*+!"), st.lists(inner, min_size=1, max_size=3).map(tuple)),
            st.builds(Choice, st.just(""), st.lists(inner, min_size=2, max_size=3).map(tuple)),
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
    max_leaves=6,
)


def written(sequence: Sequence) -> str:
    texts: list[str] = []
    for node in sequence:
        if isinstance(node, str):
            texts.append(node)
        elif node.mark:
            texts.append(f"{node.mark}({'|'.join(map(written, node.alternatives))})")
        else:
            texts.append(f"{{{','.join(map(written, node.alternatives))}}}")
    return "".join(texts)


def without_braces(sequence: Sequence) -> list[Sequence]:
    """Braces are choices between texts, made before anything else: `!({a,b})` is `!(a)` or `!(b)`."""
    found: list[Sequence] = [()]
    for node in sequence:
        endings: list[Sequence] = [(node,)]
        if isinstance(node, Choice):
            inner = [without_braces(alternative) for alternative in node.alternatives]
            if node.mark:
                endings = [(Choice(node.mark, chosen),) for chosen in product(*inner)]
            else:
                endings = [text for texts in inner for text in texts]
        found = [(*text, *ending) for text in found for ending in endings]
    return found


def ends(sequence: Sequence, name: str, start: int) -> set[int]:
    """Where a match that begins at a place may end, by the meaning of each construct and nothing else."""
    if not sequence:
        return {start}
    first, rest = sequence[0], sequence[1:]
    if first == "*":
        middle = set(range(start, len(name) + 1))
    elif isinstance(first, str):
        middle = {start + 1} if start < len(name) and name[start] in ONE_CHARACTER[first] else set[int]()
    else:
        once = {end for alternative in first.alternatives for end in ends(alternative, name, start)}
        middle = once
        if first.mark == "!":
            middle = set(range(start, len(name) + 1)) - once
        elif first.mark and first.mark in "*+":
            while True:
                further = {
                    end
                    for place in middle
                    for alternative in first.alternatives
                    for end in ends(alternative, name, place)
                }
                if further <= middle:
                    break
                middle = middle | further
        if first.mark and first.mark in "?*":
            middle = middle | {start}
    return {end for place in middle for end in ends(rest, name, place)}


def matches_by_the_book(parts: list[Sequence | None], names: list[str]) -> bool:
    if not parts:
        return not names
    first, rest = parts[0], parts[1:]
    if first is None and not rest:
        return bool(names)
    if first is None:
        return any(matches_by_the_book(rest, names[skipped:]) for skipped in range(len(names) + 1))
    return bool(names) and len(names[0]) in ends(first, names[0], 0) and matches_by_the_book(rest, names[1:])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.one_of(sequences, st.none()), min_size=1, max_size=4),
    st.lists(st.lists(st.text("ab1", min_size=1, max_size=4), min_size=1, max_size=4), min_size=1, max_size=8),
)
def test_like_a_matcher_by_the_book(parts: list[Sequence | None], paths: list[list[str]]) -> None:
    expanded = list(product(*([None] if part is None else without_braces(part) for part in parts)))
    assume(len(expanded) <= 100)
    # Asterisks alone that meet would be a whole part `**`.
    assume(not any(part and len(part) > 1 and set(part) == {"*"} for choice in expanded for part in choice))
    spelled = ["/".join(path) for path in paths]
    expected = [
        path
        for path, names in zip(spelled, paths, strict=True)
        if any(matches_by_the_book(list(choice), names) for choice in expanded)
    ]
    pattern = "/".join("**" if part is None else written(part) for part in parts)
    assert matching(pattern, *spelled) == expected
