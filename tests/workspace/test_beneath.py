"""Paths resolved and opened beneath held directories: by the kernel, by our walk, and under attack."""

import errno
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tejat.workspace.beneath import Beneath, Opener, Root, make_directories

openers = pytest.mark.parametrize("opener", Opener)


@contextmanager
def beneath(*directories: Path, opener: Opener) -> Iterator[tuple[Beneath, Root]]:
    roots = [Root(str(directory.resolve())) for directory in directories]
    try:
        prefixes = sorted(((f"{root.path}/", root) for root in roots), key=lambda pair: -len(pair[0]))
        yield Beneath(prefixes, opener), roots[0]
    finally:
        for root in roots:
            root.close()


def content(opened: tuple[int, os.stat_result]) -> bytes:
    descriptor, status = opened
    try:
        assert os.path.samestat(status, os.fstat(descriptor))
        return os.read(descriptor, 100)
    finally:
        os.close(descriptor)


def open_descriptors() -> int:
    return len(os.listdir("/dev/fd"))


@openers
class TestLinks:
    def test_inside_are_followed(self, tmp_path: Path, opener: Opener) -> None:
        (tmp_path / "a" / "b").mkdir(parents=True)
        (tmp_path / "a" / "f").write_bytes(b"deep")
        (tmp_path / "a" / "b" / "up").symlink_to("../../a/b/.././f")
        (tmp_path / "absolute").symlink_to(tmp_path.resolve() / "a" / "b")
        (tmp_path / "to_root").symlink_to("a/..")
        with beneath(tmp_path, opener=opener) as (tree, root):
            for path in ("a/f", "a/b/up", "absolute/up", "to_root/to_root/absolute/up"):
                assert content(tree.open(root, path, os.O_RDONLY)) == b"deep"
            assert os.path.samestat(tree.stat(root, "to_root"), os.stat(tmp_path))
            assert os.path.samestat(tree.stat(root, ""), os.stat(tmp_path))

    def test_lead_from_one_root_into_another_and_back(self, tmp_path: Path, opener: Opener) -> None:
        one, two = tmp_path / "one", tmp_path / "two"
        one.mkdir()
        two.mkdir()
        (one / "f").write_bytes(b"back")
        (one / "there").symlink_to(two.resolve() / "back")
        (two / "back").symlink_to(one.resolve() / "f")
        with beneath(one, two, opener=opener) as (tree, root):
            assert content(tree.open(root, "there", os.O_RDONLY)) == b"back"

    def test_leave_an_inner_root_for_the_one_around_it(self, tmp_path: Path, opener: Opener) -> None:
        inner = tmp_path / "x" / "inner"
        inner.mkdir(parents=True)
        (tmp_path / "f").write_bytes(b"outer")
        (inner / "up").symlink_to("../../f")
        (inner / "absolute").symlink_to(f"{inner.resolve()}/../../f")
        (inner / "far").symlink_to("../../../f")
        with beneath(inner, tmp_path, opener=opener) as (tree, root):
            assert content(tree.open(root, "up", os.O_RDONLY)) == b"outer"
            assert content(tree.open(root, "absolute", os.O_RDONLY)) == b"outer"
            with pytest.raises(OSError, match=os.strerror(errno.EXDEV)):
                tree.open(root, "far", os.O_RDONLY)

    @pytest.mark.parametrize(
        ("target", "number"),
        [
            ("../outside/secret", errno.EXDEV),
            ("d/../../outside/secret", errno.EXDEV),
            ("..", errno.EXDEV),
            ("/etc/passwd", errno.EXDEV),
            ("/", errno.EXDEV),
            ("/proc/self/root/etc/passwd", errno.EXDEV),
            ("/proc/self/cwd", errno.EXDEV),
            ("/dev/fd/0", errno.EXDEV),
            ("{root}/../outside/secret", errno.EXDEV),
            ("{root}-evil/secret", errno.EXDEV),
            ("link", errno.ELOOP),
            ("d/../link", errno.ELOOP),
            ("{root}/link", errno.ELOOP),
            ("missing", errno.ENOENT),
            ("missing/../f", errno.ENOENT),
            ("f/../f", errno.ENOTDIR),
            ("f/", errno.ENOTDIR),
            ("f/.", errno.ENOTDIR),
            ("{root}/f/", errno.ENOTDIR),
            ("n" * 300, errno.ENAMETOOLONG),
        ],
    )
    def test_that_lead_nowhere_good_are_refused(self, tmp_path: Path, opener: Opener, target: str, number: int) -> None:
        root_path = tmp_path.resolve() / "root"
        for directory in (root_path / "d", tmp_path / "outside", tmp_path / "root-evil"):
            directory.mkdir(parents=True)
        for secret in (tmp_path / "outside" / "secret", tmp_path / "root-evil" / "secret", root_path / "f"):
            secret.touch()
        (root_path / "link").symlink_to(target.format(root=root_path))
        before = open_descriptors()
        with beneath(root_path, opener=opener) as (tree, root):
            with pytest.raises(OSError, match=os.strerror(number)) as opening:
                tree.open(root, "link", os.O_RDONLY)
            with pytest.raises(OSError, match=os.strerror(number)) as asking:
                tree.stat(root, "link")
        assert (opening.value.errno, asking.value.errno) == (number, number)
        assert open_descriptors() == before

    def test_forty_are_followed_and_not_one_more(self, tmp_path: Path, opener: Opener) -> None:
        (tmp_path / "0").write_bytes(b"end")
        for number in range(1, 42):
            (tmp_path / str(number)).symlink_to(str(number - 1))
        with beneath(tmp_path, opener=opener) as (tree, root):
            assert content(tree.open(root, "40", os.O_RDONLY)) == b"end"
            with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
                tree.open(root, "41", os.O_RDONLY)

    def test_cannot_buy_unbounded_work(self, tmp_path: Path, opener: Opener) -> None:
        deep = "/".join(["d"] * 100)
        (tmp_path / deep).mkdir(parents=True)
        # Each of forty links goes 700 times one level up and down again, a hundred levels deep: 2.8 million steps.
        (tmp_path / "far").symlink_to(deep + "/../d" * 700)
        (tmp_path / deep / "again").symlink_to(f"{tmp_path.resolve()}/far/again")
        with beneath(tmp_path, opener=opener) as (tree, root):
            start = time.monotonic()
            with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
                tree.open(root, "far/again", os.O_RDONLY)
            assert time.monotonic() - start < 2


@openers
class TestOpening:
    def test_kernel_file_systems_are_refused_in_every_root(self, opener: Opener) -> None:
        cases = [("/", "proc/self/environ"), ("/", "proc/self/fd/0"), ("/", "proc/self/root/etc/passwd"), ("/", "sys")]
        cases += [("/", "dev/fd/0"), ("/", f"proc/{os.getppid()}/mem"), ("/proc", "uptime"), ("/proc/self", "root")]
        for directory, path in cases:
            root = Root(directory)
            with closing(root):
                tree = Beneath([(directory.rstrip("/") + "/", root)], opener)
                with pytest.raises(PermissionError, match="Files of the kernel"):
                    tree.open(root, path, os.O_RDONLY)
                with pytest.raises(PermissionError, match="Files of the kernel"):
                    tree.stat(root, path)

    def test_a_pipe_is_opened_without_waiting(self, tmp_path: Path, opener: Opener) -> None:
        os.mkfifo(tmp_path / "pipe")
        with beneath(tmp_path, opener=opener) as (tree, root):
            start = time.monotonic()
            descriptor, status = tree.open(root, "pipe", os.O_RDONLY)
            os.close(descriptor)
            assert time.monotonic() - start < 0.05
            assert stat.S_ISFIFO(status.st_mode)

    def test_descriptors_are_not_inherited(self, tmp_path: Path, opener: Opener) -> None:
        (tmp_path / "f").touch()
        with beneath(tmp_path, opener=opener) as (tree, root):
            descriptor, _ = tree.open(root, "f", os.O_RDONLY)
            try:
                assert not os.get_inheritable(descriptor)
                assert not os.get_inheritable(root.fd)
            finally:
                os.close(descriptor)

    def test_depth_costs_no_descriptors(self, tmp_path: Path, opener: Opener) -> None:
        resource = pytest.importorskip("resource")
        directory = os.open(tmp_path, os.O_RDONLY)
        for _ in range(300):
            os.mkdir("d", dir_fd=directory)
            following = os.open("d", os.O_RDONLY, dir_fd=directory)
            os.close(directory)
            directory = following
        os.symlink("../" * 150 + "f", "link", dir_fd=directory)
        os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=directory))
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        with beneath(tmp_path, opener=opener) as (tree, root):
            resource.setrlimit(resource.RLIMIT_NOFILE, (directory + 20, limits[1]))
            try:
                assert tree.stat(root, "d/" * 300 + "f").st_size == 0
                with pytest.raises(FileNotFoundError):
                    tree.stat(root, "d/" * 300 + "link")
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
                os.close(directory)

    def test_a_closed_root_opens_nothing(self, tmp_path: Path, opener: Opener) -> None:
        (tmp_path / "f").touch()
        with beneath(tmp_path, opener=opener) as (tree, root):
            root.close()
            with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
                tree.open(root, "f", os.O_RDONLY)


class TestMakingDirectories:
    def test_makes_each_in_the_one_before(self, tmp_path: Path) -> None:
        with beneath(tmp_path, opener=Opener.WALK) as (_, root), closing(make_directories(root.fd, ["a", "b"])) as made:
            assert os.path.samestat(os.fstat(made.fd), os.stat(tmp_path / "a" / "b"))
            os.fsync(made.fd)
            made.remove()
            assert os.listdir(tmp_path) == []

    def test_follows_the_umask(self, tmp_path: Path) -> None:
        before = os.umask(0o027)
        try:
            with beneath(tmp_path, opener=Opener.WALK) as (_, root):
                make_directories(root.fd, ["a"]).close()
        finally:
            os.umask(before)
        assert stat.S_IMODE(os.stat(tmp_path / "a").st_mode) == 0o750

    def test_removes_only_what_it_made_and_only_while_empty(self, tmp_path: Path) -> None:
        (tmp_path / "theirs").mkdir()
        with beneath(tmp_path, opener=Opener.WALK) as (_, root):
            with closing(make_directories(root.fd, ["theirs", "ours", "inner"])) as made:
                made.remove()
            assert os.listdir(tmp_path / "theirs") == []
            with closing(make_directories(root.fd, ["outer", "used", "inner"])) as made:
                (tmp_path / "outer" / "used" / "f").touch()
                made.remove()
                made.remove()
            assert sorted(os.listdir(tmp_path / "outer" / "used")) == ["f"]

    @pytest.mark.parametrize("obstacle", ["file", "link"])
    def test_leaves_nothing_when_something_is_in_the_way(self, tmp_path: Path, obstacle: str) -> None:
        (tmp_path / "file").touch()
        (tmp_path / "outside").mkdir()
        (tmp_path / "link").symlink_to("outside")
        before = open_descriptors()
        with beneath(tmp_path, opener=Opener.WALK) as (_, root):
            with pytest.raises(OSError, match=os.strerror(errno.ENOTDIR)):
                make_directories(root.fd, [obstacle, "x"])
            with pytest.raises(OSError, match=os.strerror(errno.ENAMETOOLONG)):
                make_directories(root.fd, ["a", "b", "n" * 300])
        assert sorted(os.listdir(tmp_path)) == ["file", "link", "outside"]
        assert os.listdir(tmp_path / "outside") == []
        assert open_descriptors() == before


WITHOUT_OPENAT2 = """
import ctypes, os, struct, sys
from tejat.workspace.beneath import Beneath, Opener, Root
instructions = [(0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, 0x50000 | int(sys.argv[2])), (0x06, 0, 0, 0x7FFF0000)]
program = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
held = ctypes.create_string_buffer(program)
header = ctypes.create_string_buffer(struct.pack("HP", len(instructions), ctypes.addressof(held)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, header):
    sys.exit("no filters here")
root = Root(sys.argv[1])
descriptor, _ = Beneath([(root.path + "/", root)], Opener.KERNEL).open(root, "link", os.O_RDONLY)
print(os.read(descriptor, 100).decode())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_a_system_that_forbids_the_call_is_served_by_the_walk(tmp_path: Path, number: int) -> None:
    (tmp_path / "f").write_text("walked")
    (tmp_path / "link").symlink_to("f")
    command = [sys.executable, "-c", WITHOUT_OPENAT2, str(tmp_path.resolve()), str(number)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
    if done.stderr == "no filters here\n":
        pytest.skip("this system allows no seccomp filters")
    assert (done.stdout, done.stderr) == ("walked\n", "")


SWAP = """
import os, sys
os.chdir(sys.argv[1])
print("ready", flush=True)
while True:
    for link in ("relative", "absolute"):
        os.rename("root/d", "kept")
        os.rename(link, "root/d")
        os.rename("root/d", link)
        os.rename("kept", "root/d")
"""


@openers
def test_a_directory_swapped_with_a_link_never_leads_out(tmp_path: Path, opener: Opener) -> None:
    for name, text in (("root/d", b"inside"), ("outside", b"SECRET")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "f").write_bytes(text)
    (tmp_path / "relative").symlink_to("../outside")
    (tmp_path / "absolute").symlink_to(tmp_path.resolve() / "outside")
    seen: dict[bytes | int, int] = {}
    with (
        subprocess.Popen([sys.executable, "-c", SWAP, str(tmp_path)], stdout=subprocess.PIPE) as swapper,
        beneath(tmp_path / "root", opener=opener) as (tree, root),
    ):
        try:
            assert swapper.stdout is not None
            swapper.stdout.readline()
            start = time.monotonic()
            # At least one second, and until the swapper was seen at work.
            while (spent := time.monotonic() - start) < 1 or (
                spent < 20 and not {b"inside", errno.EXDEV} <= seen.keys()
            ):
                for _ in range(100):
                    try:
                        found: bytes | int = content(tree.open(root, "d/f", os.O_RDONLY))
                    except OSError as error:
                        found = error.errno or 0
                    seen[found] = seen.get(found, 0) + 1
        finally:
            swapper.kill()
    assert {b"inside", errno.EXDEV} <= seen.keys() <= {b"inside", errno.EXDEV, errno.ENOENT}
    assert sum(seen.values()) > 2000
