"""The cases of the edit benchmark: the same for a seed, of every kind, and meaning what they say."""

from collections import Counter
from random import Random

import pytest
from bench.edit.ambiguity import is_unambiguous
from bench.edit.case import Case
from bench.edit.draft import Draft, Row, build_rows
from bench.edit.file_formats import FILE_FORMATS, CaseWriter
from bench.edit.generator import ALL_KINDS, KINDS, MUST_REFUSE, MutationKind, generate_cases
from bench.edit.reference_edits import make_true_edit

SEED = 7
ONE_OF_EACH = 61
"""Every kind has had its turn by then."""


@pytest.fixture(scope="module")
def made() -> list[Case]:
    return list(generate_cases(SEED, 4 * ONE_OF_EACH))


def plain(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


class TestSeeds:
    def test_the_same_seed_gives_the_same_cases_however_many(self, made: list[Case]) -> None:
        assert list(generate_cases(SEED, ONE_OF_EACH)) == made[:ONE_OF_EACH]

    def test_another_seed_gives_others(self, made: list[Case]) -> None:
        others = list(generate_cases(SEED + 1, 20))
        assert not {case.before for case in others} & {case.before for case in made[:20]}

    def test_every_kind_is_there(self, made: list[Case]) -> None:
        counts = Counter(kind for case in made for kind in case.kinds)
        assert set(counts) == set(ALL_KINDS)

    def test_at_most_two_disturbances_of_different_groups(self, made: list[Case]) -> None:
        groups = {kind.name: kind.group for kind in KINDS}
        for case in made:
            assert 1 <= len(case.kinds) <= 2
            assert len({groups.get(kind, kind) for kind in case.kinds}) == len(case.kinds)


class TestIntentions:
    def test_what_must_be_refused_has_none(self, made: list[Case]) -> None:
        for case in made:
            assert (case.after is None) == bool(MUST_REFUSE.keys() & set(case.kinds))

    def test_an_exact_case_is_a_plain_replacement(self, made: list[Case]) -> None:
        forms = {"LF", "CRLF", "mixed line ends", "no final newline", "stray byte"}
        kinds = {"exact", "dots that are meant", "final newline"}
        exact = [case for case in made if kinds.issuperset(case.kinds) and case.file_format in forms]
        assert exact
        for case in exact:
            assert case.after is not None
            before = plain(case.before)
            assert before.count(case.call.old) == 1
            assert before.replace(case.call.old, case.call.new) == plain(case.after)

    def test_a_disturbed_case_is_no_plain_replacement(self, made: list[Case]) -> None:
        """Text that stands in the file after all was disturbed in its line ends or its length, or not at all."""
        for case in made:
            if case.after is not None and case.kinds[0] in {kind.name for kind in KINDS}:
                literal = plain(case.start).count(case.call.old.replace("\r\n", "\n"))
                assert not literal or {"line ends", "line cut short"} & set(case.kinds)

    def test_earlier_edits_are_exact_and_lead_to_the_file_that_the_call_meets(self, made: list[Case]) -> None:
        late = [case for case in made if case.prior_calls and case.file_format in {"LF", "CRLF"}]
        assert late
        for case in late:
            text = plain(case.before)
            for call in case.prior_calls:
                assert text.count(call.old) == 1
                text = text.replace(call.old, call.new)
            assert text == plain(case.start)


class TestDisturbances:
    @pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
    def test_none_changes_what_is_meant(self, kind: MutationKind) -> None:
        """A disturbance changes the arguments. What it changes in the file it changes before and after alike."""
        done = 0
        for number in range(400):
            rng = Random(f"meant/{number}")
            draft = make_true_edit(rng, kind.suffixes, kind.seek) if number % 2 else make_true_edit(rng)
            made = None if draft is None else kind.mutate(draft, rng)
            if draft is None or made is None:
                continue
            done += 1
            assert changed_lines(made) == changed_lines(draft) or kind.name in {"tabs and spaces", "too few entities"}
        assert done


def changed_lines(draft: Draft) -> list[tuple[str | None, str | None]]:
    return [(row.true_old, row.true_new) for row in draft.rows if row.true_old != row.true_new]


class TestClear:
    def test_two_places_are_not(self) -> None:
        lines = ("alpha = beta(1)", "gamma = delta(2)")
        rows = (
            Row(lines[0], "alpha = beta(3)", "  " + lines[0], "  alpha = beta(3)"),
            Row(lines[1], lines[1], lines[1], lines[1]),
        )
        alone = Draft(".py", ("import this",), rows, ("pass",), ends_with_newline=False, final_newline=True)
        twice = Draft(".py", ("import this",), rows, ("pass", *lines), ends_with_newline=False, final_newline=True)
        assert is_unambiguous(alone)
        assert not is_unambiguous(twice)

    def test_text_that_stands_there_means_what_it_says(self) -> None:
        row = Row("    return self.value", "    return self.value", "return self.val", "return self.value")
        draft = Draft(".py", ("def f(self):",), (row,), (), ends_with_newline=False, final_newline=True)
        assert not is_unambiguous(draft)


class TestForms:
    @pytest.mark.parametrize("form", FILE_FORMATS)
    def test_only_the_edit_differs(self, form: str) -> None:
        rows = build_rows(["one", "two", "three"], ["one", "zwei", "drei", "three"])
        draft = Draft(
            ".py",
            tuple("abcdef"),
            rows,
            tuple("uvwxyz"),
            ends_with_newline=False,
            final_newline=form != "no final newline",
        )
        writer = CaseWriter(draft, form, Random(1))
        before, after = writer.before(), writer.after()
        start, end = before.index(b"o"), before.rindex(b"u") - len(before)
        assert before[:start] == after[:start]
        assert before[end:] == after[end:]
        assert before != after

    def test_the_intention_is_the_true_edit_applied_to_the_true_file(self) -> None:
        for number in range(60):
            draft = make_true_edit(Random(f"applied/{number}"))
            if draft is None:
                continue
            writer = CaseWriter(draft, "CRLF", Random(1))
            old, new = draft.argument("old"), draft.argument("new")
            lines = [*draft.head, *draft.lines("old"), *draft.tail]
            text = "\n".join(lines) + ("\n" if draft.final_newline else "")
            assert writer.before() == text.replace("\n", "\r\n").encode()
            assert text.count(old) == 1
            assert writer.after() == text.replace(old, new).replace("\n", "\r\n").encode()
