"""The content decides whether a file is still the one that was seen; everything kept is bounded."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.workspace.files.editor.buffer_text import normalize_text
from tejat.workspace.files.read_tracker import MAX_HASHED_BYTES, MAX_KEPT_BYTES, ReadTracker, stat_identity


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "f"
    path.write_bytes(b"seen")
    return path


def is_stale(records: ReadTracker, path: Path, raw: bytes | None) -> bool:
    try:
        records.check_unchanged(str(path), path.stat(), raw)
    except WorkspaceError as error:
        return error.error_type is ErrorType.STALE_FILE
    return False


class TestCheck:
    def test_the_message_says_what_to_do(self, file: Path) -> None:
        records = ReadTracker()
        records.record_read(str(file), file.stat(), b"other")
        with pytest.raises(WorkspaceError) as caught:
            records.check_unchanged(str(file), file.stat(), b"seen")
        message = f"The file has changed since it was last read: {file}. Read it again with read_file first."
        assert (caught.value.message, caught.value.path) == (message, str(file))

    def test_a_file_never_seen_is_fine(self, file: Path) -> None:
        assert not is_stale(ReadTracker(), file, b"whatever")

    def test_which_files_were_seen(self, file: Path) -> None:
        records = ReadTracker(max_records=2)
        assert not records.has_seen(str(file))
        records.record_read(str(file), file.stat(), b"seen")
        records.record_write("/w/written", file.stat(), [b"seen"])
        assert records.has_seen(str(file))
        records.record_partial_read("/w/large", file.stat())
        found = {path: records.has_seen(path) for path in (str(file), "/w/written", "/w/large", "/w/other")}
        assert found == {str(file): False, "/w/written": True, "/w/large": True, "/w/other": False}

    def test_the_same_content_is_fine_whatever_its_times_and_inode(self, file: Path) -> None:
        records = ReadTracker()
        records.record_read(str(file), file.stat(), b"seen")
        os.utime(file, ns=(1, 1))
        assert not is_stale(records, file, b"seen")
        other = file.with_name("other")
        other.write_bytes(b"seen")
        other.rename(file)
        assert not is_stale(records, file, b"seen")

    def test_other_content_is_stale_even_with_the_old_size_and_time(self, file: Path) -> None:
        records = ReadTracker()
        seen = file.stat()
        records.record_read(str(file), seen, b"seen")
        file.write_bytes(b"SEEN")
        os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        assert is_stale(records, file, b"SEEN")

    def test_the_last_look_counts(self, file: Path) -> None:
        records = ReadTracker()
        records.record_read(str(file), file.stat(), b"before")
        assert is_stale(records, file, b"seen")
        records.record_read(str(file), file.stat(), b"seen")
        assert not is_stale(records, file, b"seen")

    def test_an_own_write_is_a_look(self, file: Path) -> None:
        records = ReadTracker()
        records.record_read(str(file), file.stat(), b"seen")
        records.record_write(str(file), file.stat(), [b"wri", memoryview(b"tt"), b"en"])
        assert (is_stale(records, file, b"written"), is_stale(records, file, b"seen")) == (False, True)
        assert records.last_content(str(file)) == b"written"

    def test_two_sessions_and_the_second_writer_is_told(self, file: Path) -> None:
        first, second = ReadTracker(), ReadTracker()
        for session in (first, second):
            session.record_read(str(file), file.stat(), b"seen")
        file.write_bytes(b"first")
        first.record_write(str(file), file.stat(), [b"first"])
        assert (is_stale(first, file, b"first"), is_stale(second, file, b"first")) == (False, True)

    @given(seen=st.binary(max_size=50), now=st.binary(max_size=50))
    @settings(max_examples=200, deadline=None)
    def test_stale_means_other_bytes(self, seen: bytes, now: bytes) -> None:
        records = ReadTracker()
        here = Path(__file__)
        records.record_read(str(here), here.stat(), memoryview(seen))
        assert is_stale(records, here, now) == (seen != now)
        assert not is_stale(records, here, seen)


class TestIdentity:
    def test_a_file_seen_in_part_is_stale_when_anything_moved(self, file: Path) -> None:
        records = ReadTracker()
        records.record_partial_read(str(file), file.stat())
        assert (is_stale(records, file, None), is_stale(records, file, b"seen")) == (False, False)
        os.utime(file, ns=(1, 1))
        assert (is_stale(records, file, None), is_stale(records, file, b"seen")) == (True, True)

    def test_looking_at_a_part_does_not_forget_the_whole(self, file: Path) -> None:
        records = ReadTracker()
        records.record_read(str(file), file.stat(), b"seen")
        records.record_partial_read(str(file), file.stat())
        os.utime(file, ns=(1, 1))
        assert (is_stale(records, file, b"seen"), is_stale(records, file, b"SEEN")) == (False, True)

    def test_looking_at_a_part_of_a_new_version_does(self, file: Path) -> None:
        records = ReadTracker()
        records.record_read(str(file), file.stat(), b"seen")
        file.write_bytes(b"other")
        records.record_partial_read(str(file), file.stat())
        assert (is_stale(records, file, b"other"), records.last_content(str(file))) == (False, None)

    def test_a_huge_file_is_known_by_identity(self, file: Path) -> None:
        records = ReadTracker()
        huge = bytes(MAX_HASHED_BYTES + 1)
        records.record_read(str(file), file.stat(), huge)
        assert not is_stale(records, file, b"whatever")
        os.utime(file, ns=(1, 1))
        assert is_stale(records, file, huge)

    def test_the_largest_hashed_file_is_known_by_content(self, file: Path) -> None:
        records = ReadTracker()
        large = bytes(MAX_HASHED_BYTES)
        records.record_read(str(file), file.stat(), large)
        os.utime(file, ns=(1, 1))
        assert not is_stale(records, file, large)

    def test_what_is_no_longer_held_now_is_judged_by_identity(self, file: Path) -> None:
        records = ReadTracker()
        records.record_read(str(file), file.stat(), b"seen")
        assert not is_stale(records, file, None)
        file.write_bytes(b"other")
        assert is_stale(records, file, None)

    def test_identity_names_what_it_compares(self, file: Path) -> None:
        status = file.stat()
        assert stat_identity(status) == (
            status.st_dev,
            status.st_ino,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
        )


class TestLastSeen:
    def test_small_content_is_held_and_larger_is_not(self, file: Path) -> None:
        records = ReadTracker()
        for size, expected in ((MAX_KEPT_BYTES, bytes(MAX_KEPT_BYTES)), (MAX_KEPT_BYTES + 1, None), (0, b"")):
            records.record_read(str(file), file.stat(), bytes(size))
            assert records.last_content(str(file)) == expected
        assert records.last_content("/never/seen") is None

    def test_the_oldest_content_goes_first_and_its_record_stays(self, file: Path) -> None:
        records = ReadTracker(max_kept_bytes=10)
        for name in ("a", "b", "a", "c"):
            records.record_read(name, file.stat(), name.encode() * 4)
        assert [records.last_content(name) for name in "abc"] == [b"aaaa", None, b"cccc"]
        assert [records.paths_containing(content) for content in (b"aa", b"bb", b"cccc")] == [["a"], [], ["c"]]
        with pytest.raises(WorkspaceError):
            records.check_unchanged("b", file.stat(), b"other")

    @given(sizes=st.lists(st.integers(0, 30), max_size=60), paths=st.lists(st.sampled_from("abcdef"), min_size=60))
    @settings(max_examples=100, deadline=None)
    def test_never_more_is_held_than_allowed(self, sizes: list[int], paths: list[str]) -> None:
        records = ReadTracker(max_kept_bytes=50, max_records=4)
        status = Path(__file__).stat()
        for path, size in zip(paths, sizes, strict=False):
            records.record_read(path, status, bytes(size))
            held = [records.last_content(name) for name in "abcdef"]
            assert held["abcdef".index(path)] == bytes(size)
            assert sum(len(raw) for raw in held if raw is not None) == records._kept_size <= 50
            assert sum(raw is not None for raw in held) <= len(records._records) <= 4


def test_the_oldest_record_goes_first(file: Path) -> None:
    records = ReadTracker(max_records=3)
    for name in ("a", "b", "c", "a", "d"):
        records.record_read(name, file.stat(), b"seen")
    stale: list[str] = []
    for name in "abcd":
        try:
            records.check_unchanged(name, file.stat(), b"other")
        except WorkspaceError:
            stale.append(name)
    assert (stale, records.last_content("b")) == (["a", "c", "d"], None)


class TestLock:
    def test_fifty_parallel_edits_of_one_file_all_land(self, file: Path) -> None:
        records = ReadTracker()
        file.write_text("")

        def edit(number: int) -> None:
            with records.lock(str(file)):
                text = file.read_text()
                time.sleep(0.001)
                file.write_text(f"{text}{number}\n")

        threads = [threading.Thread(target=edit, args=(number,)) for number in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(int, file.read_text().split())) == list(range(50))
        assert records._locks == {}

    def test_other_files_do_not_wait(self) -> None:
        records = ReadTracker()
        reached = threading.Event()

        def other() -> None:
            with records.lock("/b"):
                reached.set()

        with records.lock("/a"):
            thread = threading.Thread(target=other)
            thread.start()
            assert reached.wait(timeout=10)
        thread.join()

    def test_the_same_file_waits(self) -> None:
        records = ReadTracker()
        order: list[str] = []
        asked = threading.Event()

        def other() -> None:
            asked.set()
            with records.lock("/a"):
                order.append("second")

        thread = threading.Thread(target=other)
        with records.lock("/a"):
            thread.start()
            assert asked.wait(timeout=10)
            time.sleep(0.05)
            order.append("first")
        thread.join()
        assert order == ["first", "second"]

    def test_a_failure_lets_go(self) -> None:
        records = ReadTracker()
        with pytest.raises(KeyboardInterrupt), records.lock("/a"):
            raise KeyboardInterrupt
        with records.lock("/a"):
            assert list(records._locks) == ["/a"]
        assert records._locks == {}


def test_threads_may_do_everything_at_once(file: Path) -> None:
    records = ReadTracker(max_records=5, max_kept_bytes=200)
    status = file.stat()

    def work(seed: int) -> int:
        for step in range(300):
            name = str((seed + step) % 8)
            with records.lock(name):
                records.record_read(name, status, name.encode() * 30)
                records.check_unchanged(name, status, name.encode() * 30)
                assert records.last_content(name) in (None, name.encode() * 30)
        return seed

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == list(range(6))
    assert records._kept_size == sum(map(len, records._kept.values()))


class TestUnsaved:
    """What an editor shows counts together with what is on disk."""

    def is_stale(self, records: ReadTracker, file: Path, unsaved: str | None) -> bool:
        try:
            records.check_unchanged(str(file), file.stat(), file.read_bytes(), unsaved=unsaved)
        except WorkspaceError as error:
            return error.error_type is ErrorType.STALE_FILE
        return False

    def test_every_combination(self, file: Path) -> None:
        records = ReadTracker()
        records.record_unsaved(str(file), file.stat(), b"seen", "a\nb")
        assert not self.is_stale(records, file, "a\nb")
        assert not self.is_stale(records, file, "a\r\nb")
        assert self.is_stale(records, file, "other")
        assert self.is_stale(records, file, None)
        file.write_bytes(b"a\r\nb")
        assert not self.is_stale(records, file, None)  # it was saved
        assert self.is_stale(records, file, "a\nb")  # and something else with it

    def test_the_user_begins_to_type(self, file: Path) -> None:
        records = ReadTracker()
        records.record_read(str(file), file.stat(), b"seen")
        assert self.is_stale(records, file, "typed")

    def test_a_file_that_is_not_on_disk(self, file: Path) -> None:
        records = ReadTracker()
        records.record_unsaved("/new", None, b"", "text")
        records.check_unchanged("/new", None, b"", unsaved="text")
        records.check_unchanged("/new", file.stat(), b"text")
        for raw, unsaved in ((b"", "other"), (b"other", None)):
            with pytest.raises(WorkspaceError):
                records.check_unchanged("/new", None, raw, unsaved=unsaved)

    def test_the_text_is_kept_to_show_what_changed(self, file: Path) -> None:
        records = ReadTracker()
        records.record_unsaved(str(file), file.stat(), b"seen", "日")
        assert (records.last_content(str(file)), records.has_seen(str(file))) == ("日".encode(), True)
        records.record_unsaved(str(file), file.stat(), b"seen", "x" * (MAX_KEPT_BYTES + 1))
        assert records.last_content(str(file)) is None

    @given(st.text(max_size=5), st.text(max_size=5), st.text(max_size=5))
    def test_only_the_text_that_was_seen_passes(self, seen: str, now: str, on_disk: str) -> None:
        records, raw = ReadTracker(), on_disk.encode()
        records.record_unsaved("/f", None, raw, seen)
        same = normalize_text(seen) == normalize_text(now)
        try:
            records.check_unchanged("/f", None, raw, unsaved=now)
        except WorkspaceError:
            assert not same
        else:
            assert same
