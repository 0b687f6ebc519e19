"""Text that the file wraps differently: found by its words, changed where it is certain."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tejat.tools.edit.pipeline import find_edits
from tejat.tools.edit.request import EditRequest
from tejat.tools.edit.result import EditMatch, EditRefusal
from tejat.workspace.text.encoding import UTF_8
from tejat.workspace.text.text_edits import TextFile

CALL = (
    "    result = combine(\n        first,\n        second,\n        third=compute(1, 2),\n    )\n    return result\n"
)
ONE_LINE = "    result = combine(first, second, third=compute(1, 2))"
LOOP = "if (list.ready) {\n  start(list);\n  finish(list);\n}\n"


def edited(text: str, old: str, new: str) -> str | None:
    file = TextFile(text.encode(), UTF_8)
    found = find_edits(file, EditRequest(old, new))
    return b"".join(file.apply_edits(found.edits).pieces).decode() if isinstance(found, EditMatch) else None


@pytest.mark.parametrize(
    ("text", "old", "new", "becomes"),
    [
        pytest.param(CALL, ONE_LINE, ONE_LINE.replace("2)", "3)"), CALL.replace("2)", "3)"), id="a word"),
        pytest.param(
            CALL,
            ONE_LINE,
            ONE_LINE.replace("(first", "(zero, first"),
            CALL.replace("        first", "        zero,\n        first"),
            id="one more at the beginning",
        ),
        pytest.param(
            CALL,
            ONE_LINE,
            ONE_LINE.replace("2))", "2), fourth)"),
            CALL.replace("2),\n", "2),\n        fourth,\n"),
            id="one more at the end",
        ),
        pytest.param(
            CALL, ONE_LINE, ONE_LINE.replace("first, ", ""), CALL.replace("        first,\n", ""), id="the first goes"
        ),
        pytest.param(
            CALL,
            ONE_LINE,
            ONE_LINE.replace(", third=compute(1, 2)", ""),
            CALL.replace("        third=compute(1, 2),\n", ""),
            id="the last goes",
        ),
        pytest.param(
            CALL,
            ONE_LINE,
            f"{ONE_LINE}\n    log(result)",
            CALL.replace("    )\n", "    )\n    log(result)\n"),
            id="behind",
        ),
        pytest.param(CALL, ONE_LINE, f"    check()\n{ONE_LINE}", f"    check()\n{CALL}", id="before"),
        pytest.param(
            CALL.replace("\n", "\r\n"),
            ONE_LINE,
            ONE_LINE.replace("second", "second, more"),
            CALL.replace("second,", "second,\n        more,").replace("\n", "\r\n"),
            id="in a file with CRLF",
        ),
        pytest.param(
            LOOP,
            "if (list.ready) { start(list); finish(list); }",
            "if (list.ready) { start(list); pause(list); finish(list); }",
            LOOP.replace("  finish", "  pause(list);\n  finish"),
            id="a statement",
        ),
        pytest.param(
            'x = say(\n    "alpha beta",\n    gamma,\n)\n',
            'x = say("alpha beta", gamma)',
            'x = say("alpha, beta", gamma)',
            'x = say(\n    "alpha, beta",\n    gamma,\n)\n',
            id="a comma in quotes",
        ),
        pytest.param(
            "x = only(\n    alpha,\n)\n",
            "x = only(alpha)",
            "x = only(alpha, beta)",
            "x = only(\n    alpha,\n    beta,\n)\n",
            id="one becomes two",
        ),
        pytest.param(
            "/**\n * Does the thing that has to be\n * done with the words.\n */\n",
            " * Does the thing that has to be done\n * with the words.",
            " * Does the thing that must be done\n * with the words.",
            "/**\n * Does the thing that must be\n * done with the words.\n */\n",
            id="a block comment",
        ),
        pytest.param(
            "# One sentence about the thing that\n# goes on here.\n",
            "# One sentence about the thing that goes on here.",
            "# One sentence about the thing that goes on here.\n# type: ignore",
            "# One sentence about the thing that\n# goes on here.\n# type: ignore\n",
            id="one more line of a comment",
        ),
    ],
)
def test_certain(text: str, old: str, new: str, becomes: str) -> None:
    assert edited(text, old, new) == becomes


@pytest.mark.parametrize(
    ("text", "old", "new", "place"),
    [
        pytest.param(
            "if ready:\n    start(1)\nfinish(2)\n",
            "if ready: start(1)\nfinish(2)",
            "if ready: start(2)\nfinish(2)",
            (0, 3),
            id="a block",
        ),
        pytest.param(CALL, ONE_LINE, CALL[:-19].replace("third", "last"), (0, 5), id="another layout"),
        pytest.param(
            "x = say(\n    alpha,  # one\n    beta,\n)\n",
            "x = say(alpha,  # one\n    beta)",
            "x = say(alpha,  # one\n    beta, gamma)",
            (0, 4),
            id="behind a comment at the end of a line",
        ),
        pytest.param(
            "x = say(alpha,\n        beta, gamma)\n",
            "x = say(alpha, beta, gamma)",
            "x = say(alpha, beta, (\n    1,\n), gamma)",
            (0, 2),
            id="new lines inside brackets",
        ),
        pytest.param(
            "One paragraph of text that ends here.\n\nAnother paragraph of text follows it.\n",
            "One paragraph of text that ends here. Another paragraph of text follows it.",
            "One paragraph of text that ends here. Another paragraph of text comes behind it.",
            (0, 3),
            id="paragraphs",
        ),
    ],
)
def test_not_certain(text: str, old: str, new: str, place: tuple[int, int]) -> None:
    refused = find_edits(TextFile(text.encode(), UTF_8), EditRequest(old, new))
    assert isinstance(refused, EditRefusal)
    assert refused.rewrapped_range == place


@pytest.mark.parametrize(
    ("text", "old"),
    [
        pytest.param(CALL * 2, ONE_LINE, id="two places"),
        pytest.param(CALL, ONE_LINE.replace("second", "sekond"), id="a slip"),
        pytest.param("f(\n  a)\n", "f( a)", id="too little"),
        pytest.param("superfirst(\n  alpha, beta)\n", "first(alpha, beta)", id="half a word"),
        pytest.param("*p = make(\n  alpha, beta);\n", "*p = take(alpha, beta);", id="another function"),
    ],
)
def test_not_found(text: str, old: str) -> None:
    refused = find_edits(TextFile(text.encode(), UTF_8), EditRequest(old, "x"))
    assert isinstance(refused, EditRefusal)
    assert refused.rewrapped_range is None


WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta(1)", "eta[0]", "zeta=2", '"a b"']), min_size=1)


def one_line(words: list[str]) -> str:
    return f"    total = summed({', '.join(words)})"


def several_lines(words: list[str]) -> str:
    return "    total = summed(\n" + "".join(f"        {word},\n" for word in words) + "    )"


def test_what_is_written_in_one_way_lands_in_the_other() -> None:
    counts: Counter[bool] = Counter()

    @settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(WORDS, st.data(), st.booleans())
    def holds(words: list[str], data: st.DataObject, is_on_one_line: bool) -> None:
        at = data.draw(st.integers(0, len(words)))
        taken = data.draw(st.integers(0, min(1, len(words) - at)))
        new = st.sampled_from(["new", "more(2, 3)", "most=4", '"b, c"', "[5, 6]"])
        put = data.draw(st.lists(new, min_size=1 - taken, max_size=2))
        changed = [*words[:at], *put, *words[at + taken :]] or ["nothing"]
        given_as, found_as = (one_line, several_lines) if is_on_one_line else (several_lines, one_line)
        text = f"def main():\n{found_as(words)}\n    return total\n"
        got = edited(text, given_as(words), given_as(changed))
        assert got in {f"def main():\n{found_as(changed)}\n    return total\n", None}
        counts[got is not None] += 1

    holds()
    assert 5 * counts[True] >= 4 * counts.total()
