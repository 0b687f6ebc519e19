"""Excerpts of command output."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.shared.calls.excerpt import ExcerptRow, excerpt_output, find_error_lines, is_error_line

OUTPUTS = Path(__file__).parent / "outputs"


def read_output(name: str) -> list[str]:
    return (OUTPUTS / f"{name}.txt").read_text().rstrip("\n").split("\n")


def numbered(count: int) -> list[str]:
    return [f"line {number}" for number in range(1, count + 1)]


def shown(rows: tuple[ExcerptRow, ...]) -> list[str]:
    return [f"<{row.hidden}>" if row.hidden else row.text for row in rows]


class TestSuccess:
    def test_both_ends(self) -> None:
        assert shown(excerpt_output(numbered(128), is_failure=False)) == [
            *numbered(3),
            "<120>",
            *numbered(128)[-5:],
        ]

    @pytest.mark.parametrize("count", [0, 1, 8, 10])
    def test_no_gap_that_saves_nothing(self, count: int) -> None:
        assert shown(excerpt_output(numbered(count), is_failure=False)) == numbered(count)

    def test_other_sizes(self) -> None:
        rows = excerpt_output(numbered(50), is_failure=False, head=20, tail=20)
        assert shown(rows) == [*numbered(20), "<10>", *numbered(50)[-20:]]


class TestFailure:
    def test_more_of_the_end_than_of_a_success(self) -> None:
        assert shown(excerpt_output(numbered(128), is_failure=True)) == ["<116>", *numbered(128)[-12:]]

    def test_a_short_one_is_shown_whole(self) -> None:
        assert shown(excerpt_output(numbered(20), is_failure=True)) == numbered(20)

    def test_errors_elsewhere_are_kept_with_what_follows(self) -> None:
        lines = [*numbered(30), "a.py:3: error: bad", "  x = 1", "  ^", "", *numbered(50)]
        assert shown(excerpt_output(lines, is_failure=True)) == [
            "<30>",
            "a.py:3: error: bad",
            "  x = 1",
            "  ^",
            "<39>",
            *numbered(50)[-12:],
        ]

    def test_of_very_many_errors_the_first_and_the_last(self) -> None:
        lines = [f"a.c:{number}:1: error: bad" for number in range(200)] + numbered(12)
        rows = excerpt_output(lines, is_failure=True)
        assert [row.is_error for row in rows] == [True] * 8 + [False] + [True] * 4 + [False] * 12
        assert (rows[8].hidden, rows[8].hidden_errors) == (188, 188)

    @pytest.mark.parametrize(
        ("name", "causes"),
        [
            (
                "pytest",
                [
                    "E       AssertionError: -1800 != 180",
                    "test_price.py:11: AssertionError",
                    "FAILED test_price.py::PriceTest::test_discount - AssertionError: -1800 != 180",
                ],
            ),
            (
                "unittest",
                [
                    "FAIL: test_discount (test_price.PriceTest.test_discount)",
                    "Traceback (most recent call last):",
                    "AssertionError: -1800 != 180",
                    "FAILED (failures=1)",
                ],
            ),
            (
                "cargo",
                [
                    "error[E0308]: mismatched types",
                    " --> src/main.rs:2:51",
                    'error: could not compile `shop` (bin "shop") due to 2 previous errors',
                ],
            ),
            (
                "cargo_test",
                [
                    "test doubles ... FAILED",
                    "thread 'doubles' (5292) panicked at src/main.rs:3:24:",
                    "error: test failed, to rerun pass `--bin shop`",
                ],
            ),
            (
                "gcc",
                [
                    "a.c:2:37: error: expected ‘;’ before ‘}’ token",
                    "a.c:3:63: error: ‘missing’ undeclared (first use in this function)",
                ],
            ),
            ("tsc", ["src/cart.ts(14,3): error TS2304: Cannot find name 'discont'."]),
            ("npm", ["Error: Cannot find module './missing'", 'npm error Missing script: "nothing"']),
            (
                "go_test",
                [
                    "    price_test.go:9: discount(200, 10) = -1800, want 180",
                    "--- FAIL: TestDiscount (0.00s)",
                    "panic: runtime error: index out of range [3] with length 3 [recovered]",
                ],
            ),
            (
                "make",
                ["main.c:(.text+0x1e): undefined reference to `discount'", "make: *** [Makefile:4: shop] Error 1"],
            ),
        ],
    )
    def test_the_cause_is_never_folded_away(self, name: str, causes: list[str]) -> None:
        lines = read_output(name)
        noise = [*lines, *numbered(200)]
        for rows in (excerpt_output(lines, is_failure=True), excerpt_output(noise, is_failure=True)):
            errors = [row.text for row in rows if row.is_error]
            assert [cause for cause in causes if cause not in errors] == []

    def test_what_a_panic_says_is_kept(self) -> None:
        rows = shown(excerpt_output(read_output("cargo_test"), is_failure=True))
        assert {"assertion `left == right` failed", "  left: 6", " right: 4"} <= set(rows)


@pytest.mark.parametrize(
    "line",
    [
        "bash: line 1: foo: command not found",
        "cat: x: No such file or directory",
        "fatal: not a git repository",
        "error: pathspec 'x' did not match any file(s) known to git",
        "Segmentation fault (core dumped)",
        "ModuleNotFoundError: No module named 'x'",
        "subprocess.CalledProcessError: Command 'x' returned non-zero exit status 1.",
        "TypeError: x is not a function",
        "npm ERR! code ELIFECYCLE",
        "  3:5  error  'x' is not defined  no-undef",
        "src/a.py:3:1: F401 `os` imported but unused",
        'Exception in thread "main" java.lang.NullPointerException',
        "FAIL src/cart.test.ts",
        "  ✕ adds (3 ms)",
        "not ok 3 - adds",
    ],
)
def test_errors(line: str) -> None:
    assert is_error_line(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "test_error_handling ... ok",
        "a.c:3:45: warning: unused variable",
        "warning: unused import: `std::fs`",
        "0 errors, 2 warnings",
        "errors=0",
        "Compiling error-chain v0.12",
        "Ran 3 tests in 0.001s",
        "DeprecationWarning: old",
        "http://a.example:80/: fine",
        "12:30:05 started",
    ],
)
def test_no_errors(line: str) -> None:
    assert not is_error_line(line)


@given(
    st.lists(st.sampled_from(["x", "", "error: y", "Traceback (most recent call last):"]), max_size=80), st.booleans()
)
def test_nothing_is_lost_or_moved(lines: list[str], is_failure: bool) -> None:
    rest = iter(lines)
    hidden_errors = 0
    rows = excerpt_output(lines, is_failure=is_failure)
    for row in rows:
        if row.hidden:
            skipped = [next(rest) for _ in range(row.hidden)]
            hidden_errors += row.hidden_errors
            assert not is_failure or row.hidden_errors == len(find_error_lines(skipped))
        else:
            assert row.text == next(rest)
    assert list(rest) == []
    assert len(rows) <= 60
