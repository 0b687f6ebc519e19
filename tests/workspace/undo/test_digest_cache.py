"""What was read once is known again, unless it may have changed unseen."""

import os
import struct
from pathlib import Path

from tejat.workspace.undo.content_store import sha256_digest
from tejat.workspace.undo.digest_cache import DigestCache, load_saved_digests
from tejat.workspace.undo.private_directory import PrivateDirectory
from tejat.workspace.undo.tree_state import pack_file_key

DIGEST = sha256_digest(b"x")


def key(path: Path) -> bytes:
    path.touch()
    return pack_file_key(path.lstat())


def changed(path: Path) -> int:
    return path.lstat().st_ctime_ns


def test_known_again_by_another_process(tmp_path: Path) -> None:
    file = tmp_path / "f"
    directory = PrivateDirectory(str(tmp_path / "state"))
    known = DigestCache(directory, "/root")
    value = known.add("a/\udcff", key(file), DIGEST, read_at=changed(file) + 10**9)
    assert value == pack_file_key(file.lstat()) + DIGEST
    known.save()
    again = DigestCache(directory, "/root")
    again.load()
    assert again.lookup({"a/\udcff": value[:-32]}) == ({"a/\udcff": value}, [])
    assert again.lookup({"b": value[:-32]}) == ({"b": value[:-32]}, ["b"])
    assert load_saved_digests(directory) == {DIGEST}
    elsewhere = DigestCache(directory, "/other")
    elsewhere.load()
    assert elsewhere.digests() == set()


def test_another_key_is_not_known(tmp_path: Path) -> None:
    known = DigestCache(PrivateDirectory(str(tmp_path / "state")), "/root")
    file = tmp_path / "f"
    known.add("f", key(file), DIGEST, read_at=changed(file) + 10**9)
    file.write_text("more")
    assert known.lookup({"f": pack_file_key(file.lstat())})[1] == ["f"]


def test_what_was_read_in_the_tick_of_its_change_is_doubtful(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "state"))
    known = DigestCache(directory, "/root")
    file = tmp_path / "f"
    first = key(file)
    known.add("f", first, DIGEST, read_at=changed(file) + 1_000_000)
    assert known.is_uncertain(["f"])
    assert not known.is_uncertain(["g"])
    assert known.lookup({"f": first})[1] == ["f"]
    known.save()
    assert not directory.exists()
    known.add("f", first, DIGEST, read_at=changed(file) + 10**9)
    assert not known.is_uncertain(["f"])
    assert known.lookup({"f": first})[1] == []


def test_times_without_fractions_are_doubted_longer(tmp_path: Path) -> None:
    known = DigestCache(PrivateDirectory(str(tmp_path / "state")), "/root")
    file = tmp_path / "f"
    file.touch()
    second = (changed(file) // 10**9 + 5) * 10**9
    os.utime(file, ns=(second, second))
    known.add("f", pack_file_key(file.lstat()), DIGEST, read_at=second + 10**9)
    assert known.is_uncertain(["f"])
    known.add("f", pack_file_key(file.lstat()), DIGEST, read_at=second + 3 * 10**9)
    assert not known.is_uncertain(["f"])


def test_forgotten_stays_forgotten_and_the_file_stays_small(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "state"))
    known = DigestCache(directory, "/root")
    file = tmp_path / "f"
    mark = key(file)
    for number in range(12_000):
        known.add(f"f{number % 100}", mark, sha256_digest(b"%d" % number), read_at=changed(file) + 10**9)
        if number % 100 == 99:
            known.save()
    known.discard(["f1", "f2", "never known"])
    known.retain(known.digests() - {sha256_digest(b"11903")})
    known.save()
    again = DigestCache(directory, "/root")
    again.load()
    assert again.digests() == {sha256_digest(b"%d" % number) for number in range(11_900, 12_000)} - {
        sha256_digest(b"%d" % number) for number in (11_901, 11_902, 11_903)
    }
    (saved,) = (path for path in (tmp_path / "state").iterdir() if path.name.startswith("digests-"))
    assert saved.stat().st_size < 600_000


def test_damage_ends_what_is_read(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "state"))
    file = tmp_path / "f"
    mark = key(file)
    known = DigestCache(directory, "/root")
    for name in ("a", "b"):
        known.add(name, mark, DIGEST, read_at=changed(file) + 10**9)
        known.save()
    (saved,) = (tmp_path / "state").iterdir()
    content = bytearray(saved.read_bytes())
    content[len(content) // 2 + 30] ^= 1
    saved.write_bytes(content)
    again = DigestCache(directory, "/root")
    again.load()
    assert again.lookup({"a": mark, "b": mark})[1] == ["b"]
    again.add("b", mark, DIGEST, read_at=changed(file) + 10**9)
    again.save()
    healed = DigestCache(directory, "/root")
    healed.load()
    assert healed.lookup({"a": mark, "b": mark})[1] == []


def test_nothing_left_is_read_as_nothing(tmp_path: Path) -> None:
    """After a large delete the file is rewritten without any name in it."""
    directory = PrivateDirectory(str(tmp_path / "state"))
    file = tmp_path / "f"
    mark = key(file)
    known = DigestCache(directory, "/root")
    names = [f"src/{number}" for number in range(5000)]
    for name in names:
        known.add(name, mark, DIGEST, read_at=changed(file) + 10**9)
    known.save()
    known.discard(names)
    known.save()
    again = DigestCache(directory, "/root")
    again.load()
    assert again.digests() == load_saved_digests(directory) == set()
    again.add("f", mark, DIGEST, read_at=changed(file) + 10**9)
    again.save()
    assert load_saved_digests(directory) == {DIGEST}


def test_an_empty_block_of_an_earlier_version_is_passed_over(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "state"))
    file = tmp_path / "f"
    mark = key(file)
    known = DigestCache(directory, "/root")
    known.add("f", mark, DIGEST, read_at=changed(file) + 10**9)
    known.save()
    (saved,) = (tmp_path / "state").iterdir()
    saved.write_bytes(struct.pack("<4sIII", b"tjd1", 0, 0, 0) + saved.read_bytes())
    again = DigestCache(directory, "/root")
    again.load()
    assert again.lookup({"f": mark})[1] == []


def test_the_last_value_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "f"
    known = DigestCache(PrivateDirectory(str(tmp_path / "state")), "/root")
    mark = key(file)
    assert known.value_of("f", mark) == mark
    value = known.add("f", mark, DIGEST, read_at=changed(file))
    assert known.uncertain_paths() == {"f"}
    assert known.value_of("f", mark) == value
    assert known.value_of("f", bytes(len(mark))) == bytes(len(mark))


def test_what_is_no_longer_stored_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "f"
    known = DigestCache(PrivateDirectory(str(tmp_path / "state")), "/root")
    known.add("f", key(file), DIGEST, read_at=changed(file) + 10**9)
    known.retain({DIGEST})
    assert known.take_lost() == set()
    known.retain(())
    assert (known.take_lost(), known.take_lost()) == ({"f"}, set())
    assert known.digests() == set()


def test_what_is_unknown(tmp_path: Path) -> None:
    file, other = tmp_path / "f", tmp_path / "g"
    known = DigestCache(PrivateDirectory(str(tmp_path / "state")), "/root")
    first, second = key(file), key(other)
    known.add("f", first, DIGEST, read_at=changed(file))
    assert known.unknown({"f": first, "g": second}) == ["g"]
    assert known.unknown({"f": second}) == ["f"]
