"""Paths resolved and opened beneath held directories: by the kernel, by our walk, and under attack."""

import errno
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.descriptors import count_leaked, count_open
from tejat.core.errors import ErrorType, WorkspaceError
from tejat.workspace.files.openat import BeneathOpener, PathResolution, RootDirectory
from tejat.workspace.files.roots import Roots

openers = pytest.mark.parametrize("opener", PathResolution)


@contextmanager
def beneath(*directories: Path, opener: PathResolution) -> Iterator[tuple[BeneathOpener, RootDirectory]]:
    roots = [RootDirectory(str(directory.resolve())) for directory in directories]
    try:
        prefixes = sorted(((f"{root.path}/", root) for root in roots), key=lambda pair: -len(pair[0]))
        yield BeneathOpener(prefixes, opener), roots[0]
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


@openers
class TestLinks:
    def test_inside_are_followed(self, tmp_path: Path, opener: PathResolution) -> None:
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

    def test_lead_from_one_root_into_another_and_back(self, tmp_path: Path, opener: PathResolution) -> None:
        one, two = tmp_path / "one", tmp_path / "two"
        one.mkdir()
        two.mkdir()
        (one / "f").write_bytes(b"back")
        (one / "there").symlink_to(two.resolve() / "back")
        (two / "back").symlink_to(one.resolve() / "f")
        with beneath(one, two, opener=opener) as (tree, root):
            assert content(tree.open(root, "there", os.O_RDONLY)) == b"back"

    def test_leave_an_inner_root_for_the_one_around_it(self, tmp_path: Path, opener: PathResolution) -> None:
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
    def test_that_lead_nowhere_good_are_refused(
        self, tmp_path: Path, opener: PathResolution, target: str, number: int
    ) -> None:
        root_path = tmp_path.resolve() / "root"
        for directory in (root_path / "d", tmp_path / "outside", tmp_path / "root-evil"):
            directory.mkdir(parents=True)
        for secret in (tmp_path / "outside" / "secret", tmp_path / "root-evil" / "secret", root_path / "f"):
            secret.touch()
        (root_path / "link").symlink_to(target.format(root=root_path))
        before = count_open()
        with beneath(root_path, opener=opener) as (tree, root):
            with pytest.raises(OSError, match=os.strerror(number)) as opening:
                tree.open(root, "link", os.O_RDONLY)
            with pytest.raises(OSError, match=os.strerror(number)) as asking:
                tree.stat(root, "link")
        assert (opening.value.errno, asking.value.errno) == (number, number)
        assert count_leaked(before) == 0

    def test_forty_are_followed_and_not_one_more(self, tmp_path: Path, opener: PathResolution) -> None:
        (tmp_path / "0").write_bytes(b"end")
        for number in range(1, 42):
            (tmp_path / str(number)).symlink_to(str(number - 1))
        with beneath(tmp_path, opener=opener) as (tree, root):
            assert content(tree.open(root, "40", os.O_RDONLY)) == b"end"
            with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
                tree.open(root, "41", os.O_RDONLY)

    def test_cannot_buy_unbounded_work(self, tmp_path: Path, opener: PathResolution) -> None:
        deep = "/".join(["d"] * 100)
        (tmp_path / deep).mkdir(parents=True)
        # Each of forty links goes 700 times one level up and down again, a hundred levels deep: 2.8 million steps.
        (tmp_path / "far").symlink_to(deep + "/../d" * 700)
        (tmp_path / deep / "again").symlink_to(f"{tmp_path.resolve()}/far/again")
        with beneath(tmp_path, opener=opener) as (tree, root):
            start = time.process_time()
            with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
                tree.open(root, "far/again", os.O_RDONLY)
            assert time.process_time() - start < 2


@openers
class TestOpening:
    def test_kernel_file_systems_are_refused_in_every_root(self, opener: PathResolution) -> None:
        cases = [("/", "proc/self/environ"), ("/", "proc/self/fd/0"), ("/", "proc/self/root/etc/passwd"), ("/", "sys")]
        cases += [("/", "dev/fd/0"), ("/", "proc/self/mem"), ("/proc", "uptime"), ("/proc/self", "root")]
        for directory, path in cases:
            root = RootDirectory(directory)
            with closing(root):
                tree = BeneathOpener([(directory.rstrip("/") + "/", root)], opener)
                with pytest.raises(PermissionError, match="Files of the kernel"):
                    tree.open(root, path, os.O_RDONLY)
                with pytest.raises(PermissionError, match="Files of the kernel"):
                    tree.stat(root, path)

    def test_depth_costs_no_descriptors(self, tmp_path: Path, opener: PathResolution) -> None:
        name = "d" * 20  # in all longer than what one system call takes
        directory = os.open(tmp_path, os.O_RDONLY)
        for _ in range(300):
            os.mkdir(name, dir_fd=directory)
            following = os.open(name, os.O_RDONLY, dir_fd=directory)
            os.close(directory)
            directory = following
        os.symlink("../" * 150 + "f", "link", dir_fd=directory)
        os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=directory))
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        with beneath(tmp_path, opener=opener) as (tree, root):
            resource.setrlimit(resource.RLIMIT_NOFILE, (directory + 20, limits[1]))
            try:
                assert tree.stat(root, f"{name}/" * 300 + "f").st_size == 0
                with pytest.raises(FileNotFoundError):
                    tree.stat(root, f"{name}/" * 300 + "link")
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
                os.close(directory)

    def test_a_closed_root_opens_nothing(self, tmp_path: Path, opener: PathResolution) -> None:
        (tmp_path / "f").touch()
        with beneath(tmp_path, opener=opener) as (tree, root):
            root.close()
            with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
                tree.open(root, "f", os.O_RDONLY)


WITHOUT_OPENAT2 = """
import ctypes, os, struct, sys
from tejat.workspace.files.openat import BeneathOpener, PathResolution, RootDirectory
instructions = [(0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, 0x50000 | int(sys.argv[2])), (0x06, 0, 0, 0x7FFF0000)]
program = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
held = ctypes.create_string_buffer(program)
header = ctypes.create_string_buffer(struct.pack("HP", len(instructions), ctypes.addressof(held)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, header):
    sys.exit("no filters here")
root = RootDirectory(sys.argv[1])
descriptor, _ = BeneathOpener([(root.path + "/", root)], PathResolution.KERNEL).open(root, "link", os.O_RDONLY)
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
def test_a_directory_swapped_with_a_link_never_leads_out(tmp_path: Path, opener: PathResolution) -> None:
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
    # ENOTDIR: it was swapped at every look, until the walk lost its patience and refused.
    assert {b"inside", errno.EXDEV} <= seen.keys() <= {b"inside", errno.EXDEV, errno.ENOENT, errno.ENOTDIR}
    assert sum(seen.values()) > 2000


NAMES = st.sampled_from("abc")
STEPS = st.lists(st.sampled_from(["a", "b", "c", "..", ".", ""]), min_size=1, max_size=4).map("/".join)
TARGETS = st.one_of(
    STEPS,
    st.tuples(st.sampled_from(["../", "../../", "{base}/"]), st.sampled_from(["one", "two", "out"]), STEPS).map(
        lambda parts: f"{parts[0]}{parts[1]}/{parts[2]}"
    ),
).filter(lambda target: target.strip("/") != "")
PLACES = st.tuples(st.sampled_from(["one", "two", "out"]), st.lists(NAMES, min_size=1, max_size=3)).map(
    lambda place: "/".join([place[0], *place[1]])
)
TREES = st.lists(st.tuples(PLACES, st.one_of(st.just("file"), TARGETS.map(lambda target: f"->{target}"))), max_size=12)


def plant(base: str, tree: list[tuple[str, str]]) -> None:
    for name in ("one", "two", "out"):
        os.mkdir(f"{base}/{name}")
    for place, kind in tree:
        path = f"{base}/{place}"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if kind == "file":
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            else:
                os.symlink(kind[2:].format(base=base), path)
        except OSError:
            continue  # Something else is there already, or a link on the way leads nowhere.


def stays_inside(base: str, path: str) -> bool:
    """Whether resolving goes through nothing but the roots, as far as it gets; by text and lstat alone."""
    roots = [f"{base}/one", f"{base}/two"]
    current = next(root for root in roots if f"{path}/".startswith(f"{root}/"))
    ahead = path[len(current) :].split("/")
    for _ in range(400):
        if not any(f"{current}/".startswith(f"{root}/") for root in roots):
            return False
        if not ahead:
            return True
        step = ahead.pop(0)
        if step == "..":
            current = os.path.dirname(current)
        elif step not in ("", "."):
            entry = f"{current}/{step}"
            if not os.path.islink(entry):
                current = entry
                continue
            target = os.readlink(entry)
            if target.startswith("/"):
                plain = "/" + "/".join(part for part in target.split("/") if part not in ("", "."))
                inside = [root for root in roots if f"{plain}/".startswith(f"{root}/")]
                if not inside:
                    return False
                current = inside[0]
                target = plain[len(current) :]
            ahead = target.split("/") + ahead
    return False


def outcome(roots: Roots, path: str) -> int | ErrorType:
    try:
        with roots.open_file(roots.locate(path)) as file:
            assert os.path.samestat(file.status, roots.stat(file.location))
            return file.status.st_ino
    except WorkspaceError as error:
        return error.error_type


PATHS = st.lists(st.tuples(st.sampled_from(["one", "two", "out"]), STEPS), min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(tree=TREES, paths=PATHS)
def test_a_file_is_opened_exactly_when_it_lies_beneath_a_root(
    tree: list[tuple[str, str]], paths: list[tuple[str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        base = os.path.realpath(directory)
        plant(base, tree)
        directories = [f"{base}/one", f"{base}/two"]
        with Roots(directories) as kernel, Roots(directories, opener=PathResolution.WALK) as walk:
            for path in [f"{base}/{name}/{steps}" for name, steps in paths] + [f"{base}/{place}" for place, _ in tree]:
                found = outcome(kernel, path)
                assert outcome(walk, path) == found
                plain = os.path.normpath(path)
                real = os.path.realpath(plain)
                named = any(f"{plain}/".startswith(f"{root}/") for root in directories)
                inside = any(f"{real}/".startswith(f"{root}/") for root in directories)
                if isinstance(found, int):
                    assert inside
                    assert (found, True) == (os.stat(plain).st_ino, os.path.isfile(plain))
                elif named and os.path.isfile(plain):
                    assert found is ErrorType.PATH_NOT_IN_WORKSPACE
                    assert not (inside and stays_inside(base, plain))
                elif not named:
                    assert found is ErrorType.PATH_NOT_IN_WORKSPACE


def names_beneath(base: str) -> list[str]:
    return sorted(f"{directory}/{name}" for directory, inner, files in os.walk(base) for name in inner + files)


@openers
@settings(max_examples=80, deadline=None)
@given(tree=TREES, paths=PATHS)
def test_a_file_is_written_where_the_kernel_looks_for_it(
    opener: PathResolution, tree: list[tuple[str, str]], paths: list[tuple[str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        base = os.path.realpath(directory)
        plant(base, tree)
        before = names_beneath(base)
        with Roots([f"{base}/one", f"{base}/two"], opener=opener) as roots:
            for path in [f"{base}/{name}/{steps}" for name, steps in paths] + [f"{base}/{place}" for place, _ in tree]:
                plain = os.path.normpath(path)
                existed = os.path.isfile(plain)
                try:
                    parent = roots.open_parent(roots.locate(path), create=True)
                except WorkspaceError:
                    assert names_beneath(base) == before
                    assert not isinstance(outcome(roots, path), int)
                    continue
                with parent:
                    descriptor = os.open(parent.name, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, dir_fd=parent.fd)
                    assert os.path.samestat(os.fstat(descriptor), os.stat(plain))
                    assert os.path.realpath(plain) == parent.location.path
                    os.close(descriptor)
                    if not existed:
                        os.unlink(parent.name, dir_fd=parent.fd)
                    parent.remove_created()
                assert names_beneath(base) == before
