"""Report of outcomes as a table, and of failures as folders."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from bench.edit.file_formats import FILE_FORMATS
from bench.edit.generator import ALL_KINDS, MUST_REFUSE
from bench.edit.outcome import Outcome, Verdict
from bench.measurement import Measurement

MIN_RIGHT_PERCENT = 98.0
MAX_WRONG_PERCENT = 0.1


def format_table(who: str, outcomes: Sequence[Outcome], *, by_form: bool = False) -> Iterator[str]:
    """Format a line per kind. A case with two mutations counts for both, so the lines add up to more than all."""
    yield f"{who:24} {'cases':>6} {'right':>6} {'refused':>8} {'wrong':>6}"
    for kind in ALL_KINDS:
        note = "  (must be refused)" if kind in MUST_REFUSE else ""
        yield _line(kind, [outcome for outcome in outcomes if kind in outcome.case.kinds]) + note
    for number, name in enumerate(("one disturbance", "two disturbances"), start=1):
        yield _line(name, [each for each in outcomes if not each.case.must_refuse and len(each.case.kinds) == number])
    # Success in finding the place, independent of encodings and line ends.
    yield _line("in UTF-8 with LF", [each for each in outcomes if each.case.file_format in {"LF", "utf-8 prose"}])
    for form in FILE_FORMATS if by_form else ():
        yield _line(form, [outcome for outcome in outcomes if outcome.case.file_format == form])
    yield _line("all", outcomes)
    blanks = sum(outcome.differs_only_in_whitespace for outcome in outcomes)
    yield f"{blanks} of the wrong ones differ from what was meant in white space only"


def measure(outcomes: Sequence[Outcome]) -> Iterator[Measurement]:
    """Compute the promised figures. Required refusals do not count as right, so that they cannot hide others."""
    landing = [outcome for outcome in outcomes if not outcome.case.must_refuse]
    refusing = [outcome for outcome in outcomes if outcome.case.must_refuse]
    right = _count(landing, Verdict.RIGHT)
    wrong = _count(outcomes, Verdict.WRONG)
    written = _count(refusing, Verdict.WRONG)
    missed = 100 * (1 - right / len(landing))
    detail = f"{right} of {len(landing)} right, {_count(landing, Verdict.REFUSED)} refused"
    yield Measurement(
        "replace: imperfect edits that did not land as meant", missed, 100 - MIN_RIGHT_PERCENT, "%", detail
    )
    share = 100 * wrong / len(outcomes)
    yield Measurement("replace: wrong files written", share, MAX_WRONG_PERCENT, "%", f"{wrong} of {len(outcomes)}")
    yield Measurement("replace: edits made that must be refused", written, 0, "", f"of {len(refusing)}")


def save_failures(outcomes: Iterable[Outcome], directory: str) -> None:
    """Save a folder for each failed case: before, arguments.json, after, got, said."""
    for outcome in outcomes:
        if outcome.verdict is Verdict.RIGHT:
            continue
        case = outcome.case
        folder = os.path.join(directory, outcome.verdict.value, f"{case.name} {' + '.join(case.kinds)}")
        os.makedirs(folder, exist_ok=True)
        suffix = os.path.splitext(case.file_name)[1]
        _write(folder, f"before{suffix}", case.start)
        _write(folder, f"got{suffix}", outcome.actual)
        if case.after is not None:
            _write(folder, f"after{suffix}", case.after)
        given = case.call.arguments(case.file_name)
        about: dict[str, object] = {
            "kinds": case.kinds,
            "notes": case.notes,
            "form": case.file_format,
            "arguments": given,
        }
        about["earlier"] = [call.arguments(case.file_name) for call in case.prior_calls]
        _write(folder, "arguments.json", json.dumps(about, indent=2, ensure_ascii=False).encode())
        _write(folder, "said.txt", outcome.message.encode())


def _line(name: str, outcomes: Sequence[Outcome]) -> str:
    counts = Counter(outcome.verdict for outcome in outcomes)
    right, refused, wrong = (counts[verdict] for verdict in Verdict)
    share = f" {100 * right / len(outcomes):6.1f} %" if outcomes else ""
    return f"{name:24} {len(outcomes):6} {right:6} {refused:8} {wrong:6}{share}"


def _count(outcomes: Iterable[Outcome], verdict: Verdict) -> int:
    return sum(outcome.verdict is verdict for outcome in outcomes)


def _write(folder: str, name: str, content: bytes) -> None:
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content)
