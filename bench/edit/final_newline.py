"""Exact edits at the end of a file that add or remove its final newline."""

from dataclasses import replace
from random import Random

from bench.edit.ambiguity import literal_count, literal_match_is_target
from bench.edit.case import Call, Case
from bench.edit.draft import Draft
from bench.edit.file_formats import CaseWriter


def generate_final_newline(name: str, kind: str, draft: Draft, form: str, rng: Random) -> Case | None:
    """Let the file end with the place, and change how it ends."""
    if form == "mixed line ends":
        return None  # It is unknown which line end is meant.
    last = replace(draft, tail=(), ends_with_newline=False)
    if literal_count(last) != 1 or not literal_match_is_target(last) or not draft.rows[-1].true_old:
        return None
    if not last.after()[-1].strip() or not last.before()[-1].strip():
        return None
    adds, seed = rng.random() < 0.5, rng.random()
    try:
        before = CaseWriter(replace(last, final_newline=not adds), form, Random(seed)).before()
        after = CaseWriter(replace(last, final_newline=adds), form, Random(seed)).after()
    except UnicodeEncodeError:
        return None
    call = Call(last.argument("old") + ("" if adds else "\n"), last.argument("new") + ("\n" if adds else ""))
    note = f"final newline {'added' if adds else 'removed'}"
    return Case(name, (kind,), (*last.notes, note), form, f"{name}{draft.suffix}", before, before, (), call, after)
