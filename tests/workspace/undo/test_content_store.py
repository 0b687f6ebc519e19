"""Contents come back as they were, each kept once, and nothing that is needed is ever dropped."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.undo import content_store as store_module
from tejat.workspace.undo.content_store import ContentStore, sha256_digest
from tejat.workspace.undo.private_directory import PrivateDirectory


def never() -> None:
    return


def keep(store: ContentStore, *contents: bytes) -> None:
    store.refresh()
    store.add({sha256_digest(content): content for content in contents})


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[], ContentStore]:
    def make() -> ContentStore:
        store = ContentStore(PrivateDirectory(str(tmp_path)))
        store.refresh()
        return store

    return make


def size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.iterdir() if file.name.startswith("pack"))


def test_contents_come_back(fresh: Callable[[], ContentStore]) -> None:
    contents = [b"", b"\0", b"one\r\n", os.urandom(100_000)]
    store = fresh()
    keep(store, *contents)
    for reader in (store, fresh()):
        assert [reader.read(sha256_digest(content)) for content in contents] == contents
        assert reader.read(sha256_digest(b"unknown")) is None
        assert sha256_digest(b"") in reader
        assert reader.stored_size(sha256_digest(b"unknown")) == 0
        assert reader.stored_size(sha256_digest(b"one\r\n")) == reader.stored_size(sha256_digest(b"")) + 5


def test_each_content_is_kept_once(fresh: Callable[[], ContentStore], tmp_path: Path) -> None:
    first, second = fresh(), fresh()
    keep(first, b"x" * 1000)
    before = size(tmp_path)
    keep(first, b"x" * 1000)
    assert not second.is_current()
    keep(second, b"x" * 1000)
    assert size(tmp_path) == before
    assert first.is_current()


def test_what_the_index_has_lost_is_found_in_the_packs(fresh: Callable[[], ContentStore], tmp_path: Path) -> None:
    keep(fresh(), b"one", b"two")
    (tmp_path / "index").unlink()
    assert fresh().read(sha256_digest(b"two")) == b"two"
    assert (tmp_path / "index").exists()


@pytest.mark.parametrize("damaged", [0, 1, 2, 3])
def test_a_damaged_header_costs_no_other_content(
    fresh: Callable[[], ContentStore], tmp_path: Path, damaged: int
) -> None:
    contents = [b"one", b"tjt1" + bytes(60), b"three" * 500_000, b"four"]
    keep(fresh(), *contents)
    pack = bytearray((tmp_path / "pack-000001").read_bytes())
    position = sum(44 + len(content) for content in contents[:damaged])
    pack[position : position + 12] = bytes(12)
    (tmp_path / "pack-000001").write_bytes(pack)
    (tmp_path / "index").unlink()
    found = [fresh().read(sha256_digest(content)) for content in contents]
    assert found == [None if number == damaged else content for number, content in enumerate(contents)]
    keep(fresh(), contents[damaged])
    assert [fresh().read(sha256_digest(content)) for content in contents] == contents


def test_what_the_pack_has_lost_is_not_claimed(fresh: Callable[[], ContentStore], tmp_path: Path) -> None:
    keep(fresh(), b"one", b"two")
    os.truncate(tmp_path / "pack-000001", size(tmp_path) - 1)
    store = fresh()
    assert sha256_digest(b"one") in store
    assert sha256_digest(b"two") not in store
    keep(store, b"two")
    assert fresh().read(sha256_digest(b"two")) == b"two"


def test_a_changed_byte_is_noticed(fresh: Callable[[], ContentStore], tmp_path: Path) -> None:
    keep(fresh(), b"one")
    content = bytearray((tmp_path / "pack-000001").read_bytes())
    content[-1] ^= 1
    (tmp_path / "pack-000001").write_bytes(content)
    assert fresh().read(sha256_digest(b"one")) is None


def test_room_is_given_back(fresh: Callable[[], ContentStore], tmp_path: Path) -> None:
    contents = [os.urandom(10_000) for _ in range(10)]
    store, other = fresh(), fresh()
    keep(store, *contents)
    other.refresh()
    (tmp_path / "pack-000009.new").touch()
    store.compact([sha256_digest(contents[3])], never, goal=1_000_000)
    assert size(tmp_path) < 11_000
    other.refresh()
    for reader in (store, other, fresh()):
        assert reader.read(sha256_digest(contents[3])) == contents[3]
        assert sha256_digest(contents[4]) not in reader
    keep(other, contents[4])
    store.refresh()
    assert store.read(sha256_digest(contents[4])) == contents[4]
    store.flush()
    store.compact([], never, goal=1_000_000)
    assert size(tmp_path) == 0


def test_no_more_is_copied_than_the_goal_wants(
    fresh: Callable[[], ContentStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_PACK_BYTES", 1000)
    store = fresh()
    contents = [bytes([number]) * 900 for number in range(20)]
    for content in contents:
        keep(store, content)
    packs = {path: path.stat().st_ino for path in tmp_path.iterdir() if path.name.startswith("pack")}
    assert len(packs) == 10
    needed = [sha256_digest(content) for content in contents[1:]]
    store.compact(needed, never, goal=1)
    after = {path: path.stat().st_ino for path in tmp_path.iterdir() if path.name.startswith("pack")}
    assert len(packs.items() & after.items()) == 9
    assert [store.read(digest) for digest in needed] == contents[1:]


@settings(max_examples=40, deadline=None)
@given(
    rounds=st.lists(
        st.tuples(st.lists(st.binary(max_size=60), max_size=6), st.sets(st.integers(0, 20), max_size=8), st.booleans()),
        max_size=6,
    )
)
def test_nothing_needed_is_lost(rounds: list[tuple[list[bytes], set[int], bool]]) -> None:
    with tempfile.TemporaryDirectory() as base:
        stores = [ContentStore(PrivateDirectory(base)) for _ in range(2)]
        needed: set[bytes] = set()
        for contents, forgotten, which in rounds:
            store = stores[which]
            keep(store, *contents)
            needed |= set(contents)
            needed -= {content for number, content in enumerate(sorted(needed)) if number in forgotten}
            if forgotten:
                store.compact({sha256_digest(content) for content in needed}, never, goal=10**9)
            for reader in stores:
                reader.refresh()
                assert all(reader.read(sha256_digest(content)) == content for content in needed)
