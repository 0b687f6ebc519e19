"""Sessions are listed, found, taken up by one at a time, deleted and tidied away."""

import errno
import hashlib
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.config.paths import project_key
from tejat.config.settings.types import SessionRetention
from tejat.core.agent.history_events import RunFinished
from tejat.core.errors import UsageError
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.model import NO_USAGE
from tejat.engine.plans.storage import PlanStorage
from tejat.engine.sessions import session_store
from tejat.engine.sessions.session_store import SessionStore, SessionSummary

NOW = 1_770_000_000.0
DAY = 86_400
IDS = ("aaaa1111-0000", "aabb2222-0000", "cccc3333-0000")


def store(
    tmp_path: Path,
    *,
    days: int | None = 30,
    count: int | None = None,
    min_days: float = 1,
    max_bytes: int = 1 << 30,
    now: float = NOW,
) -> SessionStore:
    return SessionStore(
        str(tmp_path / "sessions"),
        str(tmp_path),
        SessionRetention(days, count, min_days),
        plans=PlanStorage(str(tmp_path / "plans")),
        max_bytes=max_bytes,
        secrets=["secret-key"],
        now=lambda: now,
    )


def write(files: SessionStore, session_id: str, *, at: float = NOW, prompt: str = "do it") -> str:
    """A session of one prompt and its answer, last changed at that time; the path of its file."""
    journal = files.create(session_id=session_id, model="fast")
    journal.record_prompt(user_message(prompt), prompt)
    journal.record_answer(model_message("done"), NO_USAGE, "fast-001")
    journal.close()
    os.utime(journal.path, (at, at))
    return journal.path


def test_it_knows_which_ids_it_has(tmp_path: Path) -> None:
    files = store(tmp_path)
    assert not files.has(IDS[0])
    write(files, IDS[0])
    unwritten = files.create(session_id=IDS[2], model="fast")
    assert [files.has(each) for each in (IDS[0], IDS[1], IDS[2], IDS[0][:8])] == [True, False, False, False]
    unwritten.close()


def write_plan(tmp_path: Path, session_id: str, *, at: float = NOW) -> Path:
    """A plan file of a session, in a directory that changed last at that time."""
    directory = tmp_path / "plans" / project_key(str(tmp_path)) / session_id
    directory.mkdir(parents=True)
    (directory / "plan.md").write_text("# Plan")
    os.utime(directory, (at, at))
    return directory


def three(tmp_path: Path) -> SessionStore:
    files = store(tmp_path)
    for number, session_id in enumerate(IDS):
        write(files, session_id, at=NOW + number, prompt=f"prompt {number}")
    return files


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [message.text for message in messages]


def spoil(path: str, how: str) -> None:
    os.unlink(path)
    match how:
        case "fifo":
            os.mkfifo(path)
        case "directory":
            os.mkdir(path)
        case "link":
            os.symlink(__file__, path)
        case _:
            pass


class TestFound:
    def test_nothing_yet(self, tmp_path: Path) -> None:
        assert store(tmp_path).list_sessions() == []
        assert list(tmp_path.iterdir()) == []

    def test_everything_about_each_the_last_used_at_the_end(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        newer = write(files, IDS[0], at=NOW + 50, prompt="fix\nthe secret-key bug")
        older = write(files, IDS[1], at=NOW + 7)
        assert files.list_sessions() == [
            SessionSummary(1, IDS[1], older, "do it", "fast", NOW, NOW + 7, os.path.getsize(older), str(tmp_path)),
            SessionSummary(
                2, IDS[0], newer, "fix the *** bug", "fast", NOW, NOW + 50, os.path.getsize(newer), str(tmp_path)
            ),
        ]
        project = hashlib.sha256(os.fsencode(tmp_path)).hexdigest()[:16]
        assert older == str(tmp_path / "sessions" / project / "2026-02-02T02-40-00-aabb2222.jsonl")

    def test_a_project_is_known_by_its_real_path_and_sees_only_its_own(self, tmp_path: Path) -> None:
        files = three(tmp_path)
        link, other = tmp_path / "link", tmp_path / "other"
        link.symlink_to(tmp_path)
        other.mkdir()
        assert SessionStore(str(tmp_path / "sessions"), str(link)).list_sessions() == files.list_sessions()
        assert SessionStore(str(tmp_path / "sessions"), str(other)).list_sessions() == []

    def test_everything_is_private(self, tmp_path: Path) -> None:
        path = Path(write(store(tmp_path), IDS[0]))
        found = [path, path.parent, path.parent.parent, path.parent.parent.parent]
        assert [stat.S_IMODE(each.stat().st_mode) for each in found] == [0o600, 0o700, 0o700, 0o700]

    @pytest.mark.parametrize("how", ["fifo", "directory", "link", "missing"])
    def test_what_is_no_file_is_not_listed(self, tmp_path: Path, how: str) -> None:
        files = three(tmp_path)
        spoil(files.list_sessions()[1].path, how)
        assert [entry.session_id for entry in files.list_sessions()] == [IDS[0], IDS[2]]

    def test_a_damaged_head_is_listed_by_the_name_of_the_file(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        path = Path(write(files, IDS[0]))
        path.write_bytes(b"garbage" + path.read_bytes())
        os.utime(path, (NOW, NOW))
        (entry,) = files.list_sessions()
        assert entry == SessionSummary(1, "aaaa1111", str(path), "", "", NOW, NOW, path.stat().st_size)
        assert texts(files.load(entry).messages) == ["do it", "done"]

    def test_empty_and_foreign_files_are_passed_over(self, tmp_path: Path) -> None:
        files = three(tmp_path)
        directory = Path(files.list_sessions()[0].path).parent
        (directory / "2026-02-02T02-40-00-empty.jsonl").touch()
        (directory / "notes.txt").write_text("x")
        assert [entry.session_id for entry in files.list_sessions()] == list(IDS)

    def test_only_the_first_line_is_read(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        path = write(files, IDS[0])
        os.truncate(path, 1 << 40)
        (entry,) = files.list_sessions()
        assert (entry.session_id, entry.title, entry.size) == (IDS[0], "do it", 1 << 40)


class TestFind:
    @pytest.mark.parametrize(
        ("word", "session_id"),
        [
            ("latest", IDS[2]),
            ("1", IDS[0]),
            ("3", IDS[2]),
            ("aaaa1111-0000", IDS[0]),
            ("aab", IDS[1]),
            ("c", IDS[2]),
        ],
    )
    def test_by_what_it_is_called(self, tmp_path: Path, word: str, session_id: str) -> None:
        assert three(tmp_path).find(word).session_id == session_id

    @pytest.mark.parametrize("word", ["", "0", "4", "-1", "x", "AAAA", "9" * 5000, "\x1b[2J"])
    def test_what_is_not_there(self, tmp_path: Path, word: str) -> None:
        named = ", ".join(f"{session_id} (number {number})" for number, session_id in enumerate(IDS, 1))
        with pytest.raises(UsageError) as raised:
            three(tmp_path).find(word)
        told = word.replace("\x1b", "<U+001B>")
        assert str(raised.value) == f"No session {told!r} in this project. Sessions: {named}."

    def test_a_beginning_of_more_than_one(self, tmp_path: Path) -> None:
        named = f"{IDS[0]} (number 1), {IDS[1]} (number 2)"
        with pytest.raises(UsageError) as raised:
            three(tmp_path).find("aa")
        assert str(raised.value) == f"aa matches more than one session: {named}."

    def test_no_sessions_at_all(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"^No sessions in this project\.$"):
            store(tmp_path).find("latest")

    def test_of_very_many_a_few_are_named(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        for number in range(8):
            write(files, f"{number}-id", at=NOW + number)
        named = ", ".join(f"{number}-id (number {number + 1})" for number in range(3, 8))
        with pytest.raises(UsageError) as raised:
            files.find("x")
        assert str(raised.value) == f"No session 'x' in this project. Sessions: {named}, 3 others."

    def test_an_id_that_was_used_twice_means_the_later_one(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        write(files, IDS[0], at=NOW)
        path = write(files, IDS[0], at=NOW + 1)
        assert files.find(IDS[0]).path == path


class TestResume:
    def test_it_goes_on_in_the_same_file(self, tmp_path: Path) -> None:
        files = three(tmp_path)
        journal, loaded = files.resume(files.find("1"))
        assert (loaded.session_id, loaded.model, texts(loaded.messages)) == (IDS[0], "fast-001", ["prompt 0", "done"])
        journal.record_prompt(user_message("more with secret-key"), "more")
        journal.close()
        assert (journal.session_id, journal.failure) == (IDS[0], None)
        assert len(files.list_sessions()) == 3
        assert texts(files.load(files.find(IDS[0])).messages) == ["prompt 0", "done", "more with ***"]
        assert files.find("latest").session_id == IDS[0]

    def test_looking_at_it_changes_nothing(self, tmp_path: Path) -> None:
        files = three(tmp_path)
        before = [Path(entry.path).read_bytes() for entry in files.list_sessions()]
        journal, _ = files.resume(files.find("1"))
        journal.record(RunFinished("finished"))
        journal.close()
        assert [Path(entry.path).read_bytes() for entry in files.list_sessions()] == before

    def test_one_at_a_time(self, tmp_path: Path) -> None:
        files = three(tmp_path)
        entry = files.find("latest")
        journal, _ = files.resume(entry)
        for refused in (lambda: files.resume(entry), lambda: files.delete(files.find("latest"))):
            with pytest.raises(UsageError, match=rf"^Cannot open session {IDS[2]}: it is open in another process\.$"):
                refused()
        assert texts(files.load(entry).messages) == ["prompt 2", "done"]
        journal.close()
        again, _ = files.resume(entry)
        again.close()

    def test_a_new_session_is_in_use_too(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        journal = files.create(session_id=IDS[0], model="fast")
        journal.record_prompt(user_message("x"), "x")
        with pytest.raises(UsageError, match="it is open in another process"):
            files.resume(files.find(IDS[0]))
        journal.close()

    RESUMING = """
import sys
from tejat.core.errors import UsageError
from tejat.config.settings.types import SessionRetention
from tejat.core.messages.history import user_message
from tejat.engine.sessions.session_store import SessionStore
files = SessionStore(sys.argv[1], sys.argv[2])
try:
    journal, loaded = files.resume(files.find("latest"))
except UsageError as error:
    print(error, flush=True)
    sys.exit()
print("mine", flush=True)
sys.stdin.read()
journal.record_prompt(user_message("from the other process"), "")
"""

    def test_two_processes(self, tmp_path: Path) -> None:
        files = three(tmp_path)
        words = [sys.executable, "-c", self.RESUMING, str(tmp_path / "sessions"), str(tmp_path)]
        first = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert first.stdout is not None
        try:
            assert first.stdout.readline() == "mine\n"
            second = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
            assert second.stdout == f"Cannot open session {IDS[2]}: it is open in another process.\n"
            with pytest.raises(UsageError, match="it is open in another process"):
                files.resume(files.find("latest"))
        finally:
            first.communicate("", timeout=30)
        journal, loaded = files.resume(files.find("latest"))
        journal.close()
        assert texts(loaded.messages) == ["prompt 2", "done", "from the other process"]

    @pytest.mark.parametrize(
        ("how", "why"),
        [
            ("fifo", "not a regular file"),
            ("directory", "Is a directory"),
            ("link", "Too many levels of symbolic links"),
            ("missing", "No such file or directory"),
        ],
    )
    def test_what_took_the_place_of_the_file(self, tmp_path: Path, how: str, why: str) -> None:
        files = three(tmp_path)
        entry = files.find("1")
        spoil(entry.path, how)
        with pytest.raises(UsageError) as raised:
            files.resume(entry)
        assert str(raised.value) == f"Cannot open session {IDS[0]}: {why}."

    def test_a_file_that_was_deleted_while_it_was_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        files = three(tmp_path)
        entry = files.find("1")
        real = session_store.try_lock

        def delete_first(descriptor: int) -> bool:
            os.unlink(entry.path)
            return real(descriptor)

        monkeypatch.setattr(session_store, "try_lock", delete_first)
        with pytest.raises(UsageError, match="No such file or directory"):
            files.resume(entry)

    # Permissions mean nothing to root, so everything is done as somebody else there.
    READ_ONLY = """
import os, tempfile
from tejat.config.settings.types import SessionRetention
from tejat.core.messages.history import user_message
from tejat.core.text.digest import sha256
from tejat.engine.sessions.session_store import SessionStore
sha256()  # Python itself may be in a directory of root
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
with tempfile.TemporaryDirectory() as place:
    files = SessionStore(place, place)
    journal = files.create(session_id="aaaa1111-0000", model="fast")
    journal.record_prompt(user_message("do it"), "do it")
    journal.close()
    os.chmod(journal.path, 0o400)
    journal, loaded = files.resume(files.find("1"))
    journal.record_prompt(user_message("x"), "x")
    print([message.text for message in loaded.messages], journal.failure.rpartition(": ")[2])
    os.chmod(journal.path, 0o000)
    print([(entry.session_id, entry.title) for entry in files.list_sessions()])
    try:
        files.resume(files.find("1"))
    except Exception as error:
        print(type(error).__name__, error)
    files.delete(files.find("1"))
    print(files.list_sessions())
"""

    def test_a_file_that_can_only_be_read_and_one_that_cannot(self) -> None:
        words = [sys.executable, "-c", self.READ_ONLY]
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", check=False)
        assert (ended.stderr, ended.stdout.splitlines()) == (
            "",
            [
                "['do it'] Permission denied.",
                "[('aaaa1111', '')]",
                "UsageError Cannot open session aaaa1111: Permission denied.",
                "[]",
            ],
        )


class TestDelete:
    def test_one_is_gone(self, tmp_path: Path) -> None:
        files = three(tmp_path)
        deleted = files.find("aab")
        files.delete(deleted)
        assert (deleted.session_id, os.path.exists(deleted.path)) == (IDS[1], False)
        assert [(entry.number, entry.session_id) for entry in files.list_sessions()] == [(1, IDS[0]), (2, IDS[2])]

    def test_what_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="No session 'x'"):
            three(tmp_path).find("x")


class TestPlans:
    def test_are_deleted_with_their_session(self, tmp_path: Path) -> None:
        files = three(tmp_path)
        plans = [write_plan(tmp_path, session_id) for session_id in IDS]
        files.delete(files.find(IDS[1]))
        assert [plan.exists() for plan in plans] == [True, False, True]

    def test_of_another_project(self, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        other = SessionStore(str(tmp_path / "sessions"), str(tmp_path / "other"))
        write(other, IDS[0])
        mine = write_plan(tmp_path, IDS[0])
        theirs = tmp_path / "plans" / project_key(str(tmp_path / "other")) / IDS[0]
        theirs.mkdir(parents=True)
        (entry,) = other.list_sessions()
        store(tmp_path).delete(entry)
        assert (mine.exists(), theirs.exists()) == (True, False)

    def test_stay_while_the_session_is_in_use(self, tmp_path: Path) -> None:
        files = three(tmp_path)
        plan = write_plan(tmp_path, IDS[0])
        journal, _ = files.resume(files.find(IDS[0]))
        with pytest.raises(UsageError, match="open in another process"):
            files.delete(files.find(IDS[0]))
        journal.close()
        assert (plan / "plan.md").exists()

    def test_stay_while_another_journal_continues_the_session(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        write(files, IDS[0])
        write(store(tmp_path, now=NOW + 60), IDS[0])
        plan = write_plan(tmp_path, IDS[0])
        first, second = files.list_sessions()
        files.delete(first)
        assert plan.exists()
        files.delete(second)
        assert not plan.exists()

    def test_that_cannot_be_deleted_are_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        files = three(tmp_path)
        plan = write_plan(tmp_path, IDS[0])

        def read_only(path: str, **_: object) -> None:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

        monkeypatch.setattr(os, "rmdir", read_only)
        with pytest.raises(UsageError, match=rf"its plan files were not: {plan}: Read-only file system\."):
            files.delete(files.find(IDS[0]))
        assert [entry.session_id for entry in files.list_sessions()] == [IDS[1], IDS[2]]

    def test_of_expired_sessions_go(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        write(files, IDS[0], at=NOW - 31 * DAY)
        write(files, IDS[1], at=NOW - 29 * DAY)
        old, young = (write_plan(tmp_path, session_id) for session_id in IDS[:2])
        files.prune()
        assert (old.exists(), young.exists()) == (False, True)

    def test_of_sessions_that_were_not_saved_go_when_they_are_old(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        write(files, IDS[0], at=NOW - DAY)
        saved = write_plan(tmp_path, IDS[0], at=NOW - 31 * DAY)
        old = write_plan(tmp_path, IDS[1], at=NOW - 31 * DAY)
        young = write_plan(tmp_path, IDS[2], at=NOW - 29 * DAY)
        files.prune()
        assert [plan.exists() for plan in (saved, old, young)] == [True, False, True]

    def test_stay_for_ever_if_that_is_wanted(self, tmp_path: Path) -> None:
        files = store(tmp_path, days=None)
        write(files, IDS[0], at=0)
        plans = [write_plan(tmp_path, session_id, at=0) for session_id in IDS]
        files.prune()
        assert all(plan.exists() for plan in plans)


class TestTidy:
    def test_what_is_too_old_goes(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        write(files, IDS[0], at=NOW - 30 * DAY - 1)
        write(files, IDS[1], at=NOW - 30 * DAY + 1)
        files.prune()
        assert [entry.session_id for entry in files.list_sessions()] == [IDS[1]]

    def test_for_ever_if_that_is_wanted(self, tmp_path: Path) -> None:
        files = store(tmp_path, days=None)
        write(files, IDS[0], at=0)
        files.prune()
        assert len(files.list_sessions()) == 1

    def test_the_newest_of_a_project_are_kept(self, tmp_path: Path) -> None:
        files = store(tmp_path, count=3)
        for number, session_id in enumerate(IDS):
            write(files, session_id, at=NOW - (9 - number) * DAY)
        files.prune()  # before the third session of these is started
        assert [entry.session_id for entry in files.list_sessions()] == [IDS[1], IDS[2]]

    def test_none_that_is_younger_goes_because_of_its_number(self, tmp_path: Path) -> None:
        files = store(tmp_path, count=1, min_days=2)
        for session_id, days in zip(IDS, (3, 1.9, 0), strict=True):
            write(files, session_id, at=NOW - days * DAY)
        files.prune()
        assert [entry.session_id for entry in files.list_sessions()] == [IDS[1], IDS[2]]

    def test_the_oldest_go_when_there_is_too_much(self, tmp_path: Path) -> None:
        sizes = [entry.size for entry in three(tmp_path).list_sessions()]
        files = store(tmp_path, max_bytes=sum(sizes) - 1)
        files.prune()
        assert [entry.session_id for entry in files.list_sessions()] == [IDS[1], IDS[2]]

    def test_other_projects_are_tidied_too_and_empty_directories_go(self, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        other = SessionStore(str(tmp_path / "sessions"), str(tmp_path / "other"))
        path = write(other, IDS[0], at=NOW - 31 * DAY)
        store(tmp_path).prune()
        assert not os.path.exists(os.path.dirname(path))

    def test_what_is_in_use_stays(self, tmp_path: Path) -> None:
        files = store(tmp_path)
        write(files, IDS[0], at=NOW - 31 * DAY)
        journal, _ = files.resume(files.find("1"))
        files.prune()
        journal.record_prompt(user_message("still here"), "")
        journal.close()
        assert texts(files.load(files.find("1")).messages) == ["do it", "done", "still here"]

    def test_not_more_than_once_an_hour(self, tmp_path: Path) -> None:
        store(tmp_path, now=NOW - 3599).prune()
        write(store(tmp_path), IDS[0], at=0)
        store(tmp_path, now=NOW - 3599).prune()
        write(store(tmp_path), IDS[1], at=0)
        store(tmp_path).prune()
        assert [entry.session_id for entry in store(tmp_path).list_sessions()] == [IDS[1]]
        store(tmp_path, now=NOW + 2).prune()
        assert store(tmp_path).list_sessions() == []

    @pytest.mark.parametrize("what", ["nothing", "a file", "directory", "link", "fifo", "stray"])
    def test_whatever_is_in_the_way(self, tmp_path: Path, what: str) -> None:
        three(tmp_path)
        sessions = tmp_path / "sessions"
        match what:
            case "nothing":
                shutil.rmtree(sessions)
            case "a file":
                shutil.rmtree(sessions)
                sessions.write_text("x")
            case "directory":
                (sessions / "tidied").mkdir()
            case "link":
                (sessions / "tidied").symlink_to(sessions / "elsewhere")
            case "fifo":
                os.mkfifo(sessions / "tidied")
            case _:
                (sessions / "stray").write_text("x")
        store(tmp_path).prune()
        assert not (sessions / "elsewhere").exists()
