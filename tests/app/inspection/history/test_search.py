"""The search over journals: what is found, where, in which order, and what is passed over."""

import os
from pathlib import Path

import pytest

from support.journals import START, JournalFile, answer_fields
from tejat.app.inspection.history.search import MAX_MATCHES, search_sessions
from tejat.app.inspection.history.search_words import parse_words
from tejat.core.agent.history.matches import MatchPlace, SessionMatches
from tejat.engine.sessions.session_store import list_all_sessions


def search(state: Path, text: str) -> list[SessionMatches]:
    return list(search_sessions(list_all_sessions(str(state / "sessions")), parse_words(text)))


def write(journal: JournalFile, modified: float, *more: str) -> None:
    os.utime(journal.write(*more), (modified, modified))


def conversation(state: Path, session_id: str = "s1") -> JournalFile:
    journal = JournalFile(state, session_id)
    journal.prompt("Where is the Zebra?", 1)
    journal.answer(2, "Let me look.", ("read_file", {"file_path": "src/zoo.py"}), ("glob", {"pattern": "*.lion"}))
    journal.response(3, "read_file", 0, output="class Okapi:\n    pass\n")
    journal.response(3, "glob", 1, output="nothing")
    journal.answer(4, "It is in the stable.")
    journal.add("ended", 5, reason="finished")
    journal.prompt("And the tapir?", 6)
    journal.agent("helper-1", 7, "started", name="helper", call="c", prompt="find", model="fast")
    journal.agent("helper-1", 8, "answer", **answer_fields("The tapir sleeps in the stable."))
    journal.add("call", 9, index=0, name="write_file", state="success", seconds=1, file="/project/animals.txt")
    return journal


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zebra", [(1, MatchPlace.PROMPT, "", "")]),
        ("ZOO.py", [(1, MatchPlace.FILE, "read_file", "")]),
        ("lion", [(1, MatchPlace.CALL, "glob", "")]),
        ("okapi", [(1, MatchPlace.RESULT, "read_file", "")]),
        ("stable", [(1, MatchPlace.ANSWER, "", ""), (2, MatchPlace.ANSWER, "", "helper-1")]),
        ("animals.txt", [(2, MatchPlace.FILE, "write_file", "")]),
        ('"the tapir sleeps"', [(2, MatchPlace.ANSWER, "", "helper-1")]),
    ],
)
def test_every_part_of_a_conversation(
    tmp_path: Path, text: str, expected: list[tuple[int, MatchPlace, str, str]]
) -> None:
    write(conversation(tmp_path), START)
    (found,) = search(tmp_path, text)
    assert [(match.turn, match.place, match.tool, match.agent) for match in found.matches] == expected
    assert found.count == len(expected)


def test_all_words_must_occur_and_places_with_more_of_them_come_first(tmp_path: Path) -> None:
    write(conversation(tmp_path), START)
    assert search(tmp_path, "zebra unicorn") == []
    assert search(tmp_path, '"tapir the"') == []
    (found,) = search(tmp_path, "stable tapir")
    assert [(match.turn, match.snippet) for match in found.matches] == [
        (2, "The tapir sleeps in the stable."),
        (1, "It is in the stable."),
        (2, "And the tapir?"),
    ]


def test_field_names_and_times_of_the_format_are_no_text(tmp_path: Path) -> None:
    write(conversation(tmp_path), START)
    for word in ("functionResponse", "usage", "1770000003", "finished"):
        assert search(tmp_path, word) == []


def test_the_latest_session_comes_first_over_all_projects(tmp_path: Path) -> None:
    for number, root in ((1, "/a"), (2, "/b"), (3, "/a")):
        journal = JournalFile(tmp_path, f"s{number}", root=root)
        journal.prompt("the same word", 1)
        write(journal, START + number)
    assert [(found.session_id, found.root) for found in search(tmp_path, "same")] == [
        ("s3", "/a"),
        ("s2", "/b"),
        ("s1", "/a"),
    ]


def test_a_snippet_is_one_line_with_the_words_marked(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("x" * 500 + "\n\tDie Straße\nist LANG, cafe\u0301 " + "y" * 500, 1)
    write(journal, START)
    (found,) = search(tmp_path, "strasse lang café")
    (match,) = found.matches
    assert "\n" not in match.snippet
    assert match.snippet.startswith("…x")
    assert match.snippet.endswith("y…")
    assert [match.snippet[start:end] for start, end in match.marks] == ["Straße", "LANG", "café"]
    assert len(match.snippet) < 200


def test_a_position_behind_characters_that_grow_when_case_is_ignored(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("ß" * 3000 + " needle " + "z" * 3000, 1)
    write(journal, START)
    (found,) = search(tmp_path, "needle")
    assert [found.matches[0].snippet[start:end] for start, end in found.matches[0].marks] == ["needle"]


def test_turns_are_counted_as_in_the_figures(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("first", 1)
    journal.prompt("steered", 2, stays=True)
    journal.prompt("", 2)
    journal.add("ended", 3, reason="finished")
    journal.prompt("needle", 4)
    write(journal, START)
    assert search(tmp_path, "needle")[0].matches[0].turn == 2
    assert search(tmp_path, "steered")[0].matches[0].turn == 1


def test_damaged_lines_are_noted_and_an_unreadable_session_is_skipped_with_a_note(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("needle", 1)
    write(journal, START, '{"v":1,"kind":"prompt","at":3,"shown":"needle', "\x00needle")
    locked = JournalFile(tmp_path, "s2")
    write(locked, START + 1)
    listed = list_all_sessions(str(tmp_path / "sessions"))
    locked.path.unlink()
    locked.path.mkdir()
    broken, found = search_sessions(listed, parse_words("needle"))
    assert (broken.session_id, broken.matches, broken.problem.startswith("Could not read")) == ("s2", (), True)
    assert (found.count, found.problem) == (1, "Skipped 2 damaged records.")


def test_many_matches_are_counted_and_the_first_are_kept(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    for number in range(50):
        journal.prompt(f"needle {number}" + (" thread" if number == 40 else ""), number)
        journal.add("ended", number, reason="finished")
    write(journal, START)
    (found,) = search(tmp_path, "needle thread")
    assert (found.count, len(found.matches)) == (50, MAX_MATCHES)
    assert [match.turn for match in found.matches] == [41, *range(1, MAX_MATCHES)]


def test_it_is_read_when_asked_for_and_can_be_cancelled(tmp_path: Path) -> None:
    for number in range(3):
        journal = JournalFile(tmp_path, f"s{number}")
        journal.prompt("needle", 1)
        write(journal, START + number)
    listed = list_all_sessions(str(tmp_path / "sessions"))
    is_cancelled = False
    results = search_sessions(listed, parse_words("needle"), is_cancelled=lambda: is_cancelled)
    assert next(results).session_id == "s2"
    is_cancelled = True
    assert list(results) == []


def test_a_long_journal_needs_little_memory(tmp_path: Path) -> None:
    import tracemalloc

    journal = JournalFile(tmp_path, "s1")
    journal.prompt("needle", 1)
    path = journal.write()
    with path.open("a") as file:
        line = '{"v":1,"kind":"response","at":2,"index":0,"parts":[{"text":"' + "hay " * 25_000 + '"}]}\n'
        for _ in range(300):
            file.write(line)
    tracemalloc.start()
    try:
        (found,) = search(tmp_path, "needle")
        (nothing,) = search(tmp_path, "needle hay") or [None]
        assert found.count == 1
        assert nothing is not None
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
