"""What was read once is known again, unless it may have changed unseen."""

import os
from pathlib import Path

from tejat.workspace.history.digests import KnownDigests, saved_digests
from tejat.workspace.history.private_directory import PrivateDirectory
from tejat.workspace.history.store import digest_of
from tejat.workspace.history.tree_state import key_of

DIGEST = digest_of(b"x")


def key(path: Path) -> bytes:
    path.touch()
    return key_of(path.lstat())


def changed(path: Path) -> int:
    return path.lstat().st_ctime_ns


def test_known_again_by_another_process(tmp_path: Path) -> None:
    file = tmp_path / "f"
    directory = PrivateDirectory(str(tmp_path / "state"))
    known = KnownDigests(directory, "/root")
    value = known.learn("a/\udcff", key(file), DIGEST, read_at=changed(file) + 10**9)
    assert value == key_of(file.lstat()) + DIGEST
    known.save()
    again = KnownDigests(directory, "/root")
    again.load()
    assert again.values_of({"a/\udcff": value[:-32]}) == ({"a/\udcff": value}, [])
    assert again.values_of({"b": value[:-32]}) == ({"b": value[:-32]}, ["b"])
    assert saved_digests(directory) == {DIGEST}
    elsewhere = KnownDigests(directory, "/other")
    elsewhere.load()
    assert elsewhere.digests() == set()


def test_another_key_is_not_known(tmp_path: Path) -> None:
    known = KnownDigests(PrivateDirectory(str(tmp_path / "state")), "/root")
    file = tmp_path / "f"
    known.learn("f", key(file), DIGEST, read_at=changed(file) + 10**9)
    file.write_text("more")
    assert known.values_of({"f": key_of(file.lstat())})[1] == ["f"]


def test_what_was_read_in_the_tick_of_its_change_is_doubtful(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "state"))
    known = KnownDigests(directory, "/root")
    file = tmp_path / "f"
    first = key(file)
    known.learn("f", first, DIGEST, read_at=changed(file) + 1_000_000)
    assert known.is_doubtful(["f"])
    assert not known.is_doubtful(["g"])
    assert known.values_of({"f": first})[1] == ["f"]
    known.save()
    assert not directory.exists()
    known.learn("f", first, DIGEST, read_at=changed(file) + 10**9)
    assert not known.is_doubtful(["f"])
    assert known.values_of({"f": first})[1] == []


def test_times_without_fractions_are_doubted_longer(tmp_path: Path) -> None:
    known = KnownDigests(PrivateDirectory(str(tmp_path / "state")), "/root")
    file = tmp_path / "f"
    file.touch()
    second = (changed(file) // 10**9 + 5) * 10**9
    os.utime(file, ns=(second, second))
    known.learn("f", key_of(file.lstat()), DIGEST, read_at=second + 10**9)
    assert known.is_doubtful(["f"])
    known.learn("f", key_of(file.lstat()), DIGEST, read_at=second + 3 * 10**9)
    assert not known.is_doubtful(["f"])


def test_forgotten_stays_forgotten_and_the_file_stays_small(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "state"))
    known = KnownDigests(directory, "/root")
    file = tmp_path / "f"
    mark = key(file)
    for number in range(12_000):
        known.learn(f"f{number % 100}", mark, digest_of(b"%d" % number), read_at=changed(file) + 10**9)
        if number % 100 == 99:
            known.save()
    known.forget(["f1", "f2", "never known"])
    known.retain(lambda digest: digest != digest_of(b"11903"))
    known.save()
    again = KnownDigests(directory, "/root")
    again.load()
    assert again.digests() == {digest_of(b"%d" % number) for number in range(11_900, 12_000)} - {
        digest_of(b"%d" % number) for number in (11_901, 11_902, 11_903)
    }
    (saved,) = (path for path in (tmp_path / "state").iterdir() if path.name.startswith("digests-"))
    assert saved.stat().st_size < 600_000


def test_damage_ends_what_is_read(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "state"))
    file = tmp_path / "f"
    mark = key(file)
    known = KnownDigests(directory, "/root")
    for name in ("a", "b"):
        known.learn(name, mark, DIGEST, read_at=changed(file) + 10**9)
        known.save()
    (saved,) = (tmp_path / "state").iterdir()
    content = bytearray(saved.read_bytes())
    content[len(content) // 2 + 30] ^= 1
    saved.write_bytes(content)
    again = KnownDigests(directory, "/root")
    again.load()
    assert again.values_of({"a": mark, "b": mark})[1] == ["b"]
