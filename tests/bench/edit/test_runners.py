"""Cases run through `tejat tools call --jsonl`: edits given exactly land, and what came of each is told."""

import json
from pathlib import Path

from bench.edit.case import Call, Case
from bench.edit.outcome import Outcome, Verdict
from bench.edit.report import format_table, measure, save_failures
from bench.edit.runners import tejat_cli

BEFORE, BETWEEN = b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n", b"\xef\xbb\xbfuno\r\ntwo\r\nthree\r\n"
LANDS = Case(
    name="lands",
    kinds=("exact",),
    notes=(),
    file_format="utf-8 with BOM",
    file_name="lands.txt",
    before=BEFORE,
    start=BETWEEN,
    prior_calls=(Call("one", "uno"),),
    call=Call("uno\ntwo", "uno\ndue\ntre"),
    after=b"\xef\xbb\xbfuno\r\ndue\r\ntre\r\nthree\r\n",
)
REFUSED = Case("refused", ("no change",), (), "LF", "refused.txt", b"a\n", b"a\n", (), Call("a", "a"), None)


def test_cases_through_the_program(tmp_path: Path) -> None:
    lands, refused = tejat_cli.run([LANDS, REFUSED], str(tmp_path))
    assert (lands.actual, lands.refused, lands.verdict) == (LANDS.after, False, Verdict.RIGHT)
    assert (refused.actual, refused.refused, refused.verdict) == (b"a\n", True, Verdict.RIGHT)


def test_verdicts() -> None:
    other = Outcome(LANDS, b"something else", "", refused=False)
    left = Outcome(LANDS, BETWEEN, "", refused=True)
    silent = Outcome(REFUSED, b"a\n", "", refused=False)
    assert [each.verdict for each in (other, left, silent)] == [Verdict.WRONG, Verdict.REFUSED, Verdict.WRONG]
    blanks = Outcome(LANDS, (LANDS.after or b"").replace(b"\r\n", b"\n"), "", refused=False)
    assert (blanks.verdict, blanks.differs_only_in_whitespace) == (Verdict.WRONG, True)
    assert not other.differs_only_in_whitespace


def test_figures_and_table() -> None:
    outcomes = [Outcome(LANDS, LANDS.after or b"", "", refused=False), Outcome(REFUSED, b"b\n", "", refused=False)]
    assert [(figure.value, figure.passes) for figure in measure(outcomes)] == [(0, True), (50, False), (1, False)]
    lines = list(format_table("tejat", outcomes))
    assert "exact                         1      1        0      0  100.0 %" in lines
    assert "no change                     1      0        0      1    0.0 %  (must be refused)" in lines


def test_what_went_amiss_is_kept(tmp_path: Path) -> None:
    save_failures(
        [Outcome(LANDS, b"other", "said so", refused=False), Outcome(REFUSED, b"a\n", "", refused=True)], str(tmp_path)
    )
    folder = tmp_path / "wrong" / "lands exact"
    assert sorted(path.name for path in folder.iterdir()) == [
        "after.txt",
        "arguments.json",
        "before.txt",
        "got.txt",
        "said.txt",
    ]
    assert (folder / "before.txt").read_bytes() == BETWEEN
    told = json.loads((folder / "arguments.json").read_text(encoding="utf-8"))
    assert told["arguments"] == {"file_path": "lands.txt", "old_string": "uno\ntwo", "new_string": "uno\ndue\ntre"}
    assert not (tmp_path / "right").exists()
