"""From a path as text to an open file: the one way into the workspace, and what is refused on it."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.descriptors import count_leaked, count_open
from tejat.core.errors import ErrorType, UsageError, WorkspaceError
from tejat.workspace.files.openat import PathResolution
from tejat.workspace.files.roots import Location, Roots


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A root with a little in it, beside what must stay out of reach."""
    base = tmp_path.resolve()
    for directory in ("root/sub", "outside", "root-evil"):
        (base / directory).mkdir(parents=True)
    (base / "root" / "sub" / "f").write_bytes(b"inside")
    (base / "outside" / "secret").write_bytes(b"SECRET")
    (base / "root-evil" / "secret").write_bytes(b"SECRET")
    return base


@pytest.fixture(params=PathResolution)
def roots(place: Path, request: pytest.FixtureRequest) -> Iterator[Roots]:
    with Roots([place / "root"], opener=request.param) as roots:
        yield roots


@contextmanager
def refused(error_type: ErrorType) -> Iterator[None]:
    with pytest.raises(WorkspaceError) as caught:
        yield
    assert caught.value.error_type is error_type, caught.value


@contextmanager
def ordinary_user() -> Iterator[None]:
    """As someone whom permissions bind, whoever runs the tests."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def read(roots: Roots, path: str) -> bytes:
    with roots.open_file(roots.locate(path)) as file:
        return file.read_all()


def tree(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


class TestDirectories:
    def test_are_held_as_spelled_and_as_they_are(self, place: Path) -> None:
        (place / "alias").symlink_to("root")
        with Roots([f"{place}//outside/../alias/", place / "outside"]) as roots:
            assert roots.paths == (f"{place}/alias", f"{place}/outside")
            assert (roots.first.path, roots.first.real_path) == (f"{place}/alias", f"{place}/root")
            assert [root.path for root in roots.directories] == list(roots.paths)

    def test_relative_ones_start_in_the_working_directory(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(place / "root")
        with Roots(["."]) as roots:
            monkeypatch.chdir(place / "outside")
            assert roots.paths == (f"{place}/root",)
            assert read(roots, "sub/f") == b"inside"

    def test_duplicates_are_one_but_every_spelling_is_known(self, place: Path) -> None:
        (place / "alias").symlink_to("root")
        before = count_open()
        with Roots([place / "root", place / "alias", f"{place}/root/"]) as roots:
            assert count_leaked(before) == 1
            assert roots.paths == (f"{place}/root",)
            assert roots.locate(f"{place}/alias/sub/f") == Location(roots.first, "sub/f")

    @pytest.mark.parametrize("directory", ["missing", "root/sub/f", "root\0", "\ud800"])
    def test_that_are_none_are_named(self, place: Path, directory: str) -> None:
        before = count_open()
        with pytest.raises(UsageError) as caught:
            Roots([place / "root", f"{place}/{directory}"])
        assert f"{place}/{directory}" in str(caught.value) or repr(f"{place}/{directory}") in str(caught.value)
        assert count_leaked(before) == 0

    def test_one_string_is_one_directory(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(place / "root")
        with Roots("./", for_reading="../outside") as roots:
            assert roots.paths == (f"{place}/root",)
            assert roots.add(place / "outside") == ()
            with refused(ErrorType.PATH_NOT_IN_WORKSPACE):
                roots.locate("/etc/passwd")

    @pytest.mark.parametrize("directories", [[], [""]])
    def test_there_must_be_one(self, directories: list[str]) -> None:
        with pytest.raises(UsageError):
            Roots(directories)

    def test_one_replaced_by_a_link_stays_what_it_was(self, roots: Roots, place: Path) -> None:
        (place / "root").rename(place / "moved")
        (place / "root").symlink_to("outside")
        (place / "moved" / "absolute").symlink_to(place / "root" / "sub" / "f")
        assert read(roots, f"{place}/root/sub/f") == b"inside"
        assert read(roots, "absolute") == b"inside"
        with refused(ErrorType.FILE_NOT_FOUND):
            read(roots, "secret")
        with roots.open_parent(roots.locate("new"), create=True) as parent:
            assert os.path.samestat(os.fstat(parent.fd), os.stat(place / "moved"))

    def test_some_can_be_added(self, place: Path) -> None:
        with Roots([place / "root"]) as roots:
            with refused(ErrorType.PATH_NOT_IN_WORKSPACE):
                roots.locate(f"{place}/outside/secret")
            (new,) = roots.add([place / "outside", place / "root"])
            assert roots.paths == (f"{place}/root", f"{place}/outside")
            assert roots.directories[1] is new
            assert roots.locate(f"{place}/outside/secret") == Location(new, "secret")
            assert roots.locate("sub/f") == Location(roots.first, "sub/f")
            assert roots.add([f"{place}/outside/"]) == ()

    @pytest.mark.parametrize("directory", ["missing", "root/sub/f"])
    def test_where_one_cannot_be_added_none_is(self, place: Path, directory: str) -> None:
        before = count_open()
        with Roots([place / "root"]) as roots:
            with pytest.raises(UsageError):
                roots.add([place / "outside", place / directory])
            assert roots.paths == (f"{place}/root",)
            with refused(ErrorType.PATH_NOT_IN_WORKSPACE):
                roots.locate(f"{place}/outside/secret")
        assert count_leaked(before) == 0

    def test_closed_ones_open_nothing_and_close_again(self, roots: Roots) -> None:
        location = roots.locate("sub/f")
        roots.close()
        roots.close()
        with refused(ErrorType.READ_CONTENT_FAILURE):
            roots.open_file(location)


class TestLocate:
    @pytest.mark.parametrize(
        ("path", "relative"),
        [
            ("sub/f", "sub/f"),
            ("{root}/sub/f", "sub/f"),
            ("//{root}//sub/./x/..//f/", "sub/f"),
            ("{root}", ""),
            (".", ""),
            ("", ""),
            ("sub/..", ""),
            ("../root/sub", "sub"),
            ("~/f", "~/f"),
            ("a%41.txt", "a%41.txt"),
            ("%2e%2e/x", "%2e%2e/x"),
            ("file:///etc/passwd", "file:/etc/passwd"),
            (os.fsdecode(b"\xff/\xe9"), os.fsdecode(b"\xff/\xe9")),
            ("new\nline \u202e", "new\nline \u202e"),
            ("-rf", "-rf"),
            ("d/" * 200 + "f", "d/" * 200 + "f"),
        ],
    )
    def test_is_text_alone(self, roots: Roots, place: Path, path: str, relative: str) -> None:
        location = roots.locate(path.format(root=place / "root") if "{root}" in path else path)
        assert location == Location(roots.first, relative)
        assert location.path == f"{place}/root/{relative}".removesuffix("/")

    @pytest.mark.parametrize(
        "path", ["../outside/secret", "{root}/../outside/secret", "{root}-evil/secret", "/", "sub/../.."]
    )
    def test_refuses_what_is_outside(self, roots: Roots, place: Path, path: str) -> None:
        attempted = path.format(root=place / "root")
        with pytest.raises(WorkspaceError) as caught:
            roots.locate(attempted)
        error = caught.value
        words = (
            f'Path not in workspace: Attempted path "{attempted}" resolves outside the allowed workspace directories: '
        )
        expected = (f"{words}{place}/root", "Path not in workspace.", ErrorType.PATH_NOT_IN_WORKSPACE, attempted)
        assert (error.message, error.display, error.error_type, error.path) == expected

    @pytest.mark.parametrize("path", ["x/" * 2500, "n" * 300, "d/" + "é" * 128, "\ud800", "su\0b/f"])
    def test_refuses_what_cannot_be_a_path_in_few_words(self, roots: Roots, path: str) -> None:
        with pytest.raises(WorkspaceError) as caught:
            roots.locate(path)
        assert caught.value.error_type is ErrorType.INVALID_TOOL_PARAMS
        assert len(caught.value.message) < 200
        caught.value.message.encode()

    def test_the_innermost_root_wins(self, place: Path) -> None:
        with Roots(["/", place / "root", place / "root" / "sub"]) as roots:
            everything, outer, inner = roots.directories
            assert roots.locate(f"{place}/root/sub/f") == Location(inner, "f")
            assert roots.locate(f"{place}/root/subtle") == Location(outer, "subtle")
            assert roots.locate("/etc") == Location(everything, "etc")
            assert (roots.locate("/").path, roots.locate("/etc").path) == ("/", "/etc")

    def test_a_relative_path_belongs_to_the_base(self, roots: Roots, place: Path) -> None:
        base = roots.locate("sub")
        assert roots.locate("f", base=base) == Location(roots.first, "sub/f")
        assert roots.locate("../x", base=base) == Location(roots.first, "x")
        assert roots.locate(f"{place}/root/x", base=base) == Location(roots.first, "x")
        with refused(ErrorType.PATH_NOT_IN_WORKSPACE):
            roots.locate("../../x", base=base)

    @pytest.mark.parametrize("opener", PathResolution)
    def test_a_relative_path_belongs_to_the_one_root_that_has_it(self, place: Path, opener: PathResolution) -> None:
        for directory in ("one", "two", "three"):
            (place / directory).mkdir()
        for file in ("one/both", "two/both", "two/only", "two/twice", "three/twice"):
            (place / file).touch()
        (place / "one" / "out").symlink_to(place / "outside")
        (place / "two" / "out").mkdir()
        with Roots([place / "one", place / "two", place / "three"], opener=opener) as roots:
            one, two, _ = roots.directories
            found = [roots.locate(path) for path in ("both", "only", "twice", "neither", "../two/x", "out")]
            assert [location.root for location in found] == [one, two, one, one, two, one]

    def test_a_leading_at_sign_is_dropped_only_when_that_helps(self, roots: Roots, place: Path) -> None:
        (place / "root" / "@dir").mkdir()
        cases = {"@sub/f": "sub/f", "@dir": "@dir", "@missing": "@missing", f"@{place}/root/sub/f": "sub/f"}
        cases |= {"@/etc/passwd": "@/etc/passwd", "@@sub/f": "@@sub/f"}
        assert {path: roots.locate(path).relative for path in cases} == cases

    def test_a_location_is_found_anew_when_there_are_other_roots(self, place: Path) -> None:
        inner = place / "root/inner"
        inner.mkdir()
        (inner / "f").touch()
        with Roots([place / "root"]) as roots:
            for _ in range(2):
                assert roots.locate(f"{inner}/f").root is roots.first
                assert roots.locate("f").path == f"{place}/root/f"
            (new,) = roots.add([inner])
            for _ in range(2):
                assert roots.locate(f"{inner}/f").root is new
                assert roots.locate("f").path == f"{inner}/f"


class TestOpenFile:
    def test_reads_what_is_asked_for(self, roots: Roots, place: Path) -> None:
        (place / "root" / "big").write_bytes(bytes(range(256)) * 1024)
        (place / "root" / "empty").touch()
        with roots.open_file(roots.locate("big")) as file:
            assert (file.fileno(), file.status.st_size, file.location.relative) == (file.fd, 262144, "big")
            assert (file.read(0), file.read(3), len(file.read(10**12))) == (b"", b"\0\1\2", 262144)
            with open(place / "root" / "big", "ab") as more:
                more.write(b"grown" * 100_000)
            assert file.read_all() == bytes(range(256)) * 1024 + b"grown" * 100_000
            file.close()
        assert read(roots, "empty") == b""

    def test_tells_the_real_path(self, roots: Roots, place: Path) -> None:
        (place / "root" / "link").symlink_to("sub")
        with roots.open_file(roots.locate("link/f")) as file, roots.open_directory(roots.locate("link")) as directory:
            assert (file.real_path, directory.real_path) == (f"{place}/root/sub/f", f"{place}/root/sub")
            assert file.location.path == f"{place}/root/link/f"

    def test_uses_exactly_the_name(self, roots: Roots, place: Path) -> None:
        names = ["a%41.txt", "aA.txt", "a\\b", " ", "*", "~", os.fsdecode(b"\xff")]
        for name in names:
            (place / "root" / name).write_bytes(os.fsencode(name))
        assert [read(roots, name) for name in names] == [os.fsencode(name) for name in names]

    def test_does_not_care_where_the_process_is(
        self, roots: Roots, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(place / "outside")
        with refused(ErrorType.FILE_NOT_FOUND):
            read(roots, "secret")

    @pytest.mark.parametrize(
        "target", ["../outside", "{base}/outside", "/proc/self/root{base}/outside", "/proc/self/cwd"]
    )
    def test_refuses_links_that_lead_out(self, roots: Roots, place: Path, target: str) -> None:
        (place / "root" / "d").symlink_to(target.format(base=place))
        path = f"{place}/root/d/secret"
        with pytest.raises(WorkspaceError) as caught:
            read(roots, "d/secret")
        assert caught.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE
        assert f'"{path}" resolves outside the allowed workspace directories: {place}/root' in caught.value.message
        assert "SECRET" not in caught.value.message
        for attempt in (roots.open_directory, roots.stat):
            with refused(ErrorType.PATH_NOT_IN_WORKSPACE):
                attempt(roots.locate("d"))

    def test_refuses_pipes_sockets_and_devices_at_once(
        self, roots: Roots, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(place / "root")  # the address of a socket must be short
        os.mkfifo("pipe")
        with socket.socket(socket.AF_UNIX) as listener, Roots(["/dev"]) as devices:
            listener.bind("socket")
            places = [(roots, "pipe"), (roots, "socket"), (devices, "zero"), (devices, "tty"), (devices, "null")]
            for among, name in places:
                spent: list[float] = []
                for attempt in (among.open_file, among.open_file, lambda place: roots.open_parent(place, create=True)):
                    start = time.monotonic()
                    with refused(ErrorType.SPECIAL_FILE):
                        attempt(among.locate(name))
                    spent.append(time.monotonic() - start)
                assert min(spent[:2]) < 0.05

    @pytest.mark.parametrize(
        ("path", "error_type"),
        [
            ("sub", ErrorType.TARGET_IS_DIRECTORY),
            ("", ErrorType.TARGET_IS_DIRECTORY),
            ("missing", ErrorType.FILE_NOT_FOUND),
            ("sub/f/x", ErrorType.FILE_NOT_FOUND),
            ("loop", ErrorType.READ_CONTENT_FAILURE),
            ("long/link", ErrorType.INVALID_TOOL_PARAMS),
        ],
    )
    def test_says_why_not(self, roots: Roots, place: Path, path: str, error_type: ErrorType) -> None:
        (place / "root" / "loop").symlink_to("loop")
        (place / "root" / "long").symlink_to("n" * 300)
        with refused(error_type):
            read(roots, path)

    def test_permissions_hold(self, roots: Roots, place: Path) -> None:
        os.chmod(place / "root", 0o755)
        os.chmod(place / "root" / "sub" / "f", 0)
        os.chmod(place / "root" / "sub", 0o311)
        with ordinary_user():
            with refused(ErrorType.PERMISSION_DENIED):
                read(roots, "sub/f")
            with refused(ErrorType.PERMISSION_DENIED):
                roots.open_directory(roots.locate("sub"))
            assert roots.stat(roots.locate("sub/f")).st_size == 6
            with roots.open_parent(roots.locate("sub/f"), create=False) as parent:
                assert parent.name == "f"
        os.chmod(place / "root" / "sub", 0o755)

    @pytest.mark.parametrize("opener", PathResolution)
    def test_files_of_the_kernel_are_closed_in_every_root(self, opener: PathResolution) -> None:
        paths = ["/proc/self/environ", f"/proc/{os.getppid()}/mem", "/dev/fd/0", "/proc/self/root/etc/passwd", "/proc"]
        for directory in ("/", "/proc"):
            with Roots([directory], opener=opener) as roots:
                for path in paths if directory == "/" else [paths[0], paths[1], paths[-1]]:
                    for attempt in (roots.open_file, roots.stat):
                        with refused(ErrorType.PERMISSION_DENIED):
                            attempt(roots.locate(path))
                with refused(ErrorType.PERMISSION_DENIED):
                    roots.open_directory(roots.locate("/proc"))
                with refused(ErrorType.PERMISSION_DENIED):
                    roots.open_parent(roots.locate("/proc/sys/kernel/new"), create=True)

    def test_a_hard_link_is_read_and_shows_itself(self, roots: Roots, place: Path) -> None:
        os.link(place / "outside" / "secret", place / "root" / "h")
        with roots.open_file(roots.locate("h")) as file:
            assert (file.status.st_nlink, file.read_all()) == (2, b"SECRET")


class TestOpenParent:
    def test_is_the_directory_of_a_file_that_is_or_is_not_there(self, roots: Roots, place: Path) -> None:
        for name in ("f", "new"):
            with roots.open_parent(roots.locate(f"sub/{name}"), create=False) as parent:
                assert (parent.name, parent.missing, parent.location.relative) == (name, (), f"sub/{name}")
                assert os.path.samestat(os.fstat(parent.fd), os.stat(place / "root" / "sub"))
                os.fsync(parent.fd)
                parent.close()
        assert tree(place / "root") == ["sub", "sub/f"]

    @pytest.mark.parametrize("create", [False, True])
    def test_makes_what_is_missing_only_when_asked(self, roots: Roots, place: Path, create: bool) -> None:
        with roots.open_parent(roots.locate("sub/x/y/new"), create=create) as parent:
            assert (parent.name, parent.missing) == ("new", () if create else ("x", "y"))
            assert parent.location == roots.locate("sub/x/y/new")
            deepest = place / "root" / ("sub/x/y" if create else "sub")
            assert os.path.samestat(os.fstat(parent.fd), os.stat(deepest))
            assert tree(place / "root") == ["sub", "sub/f", *(["sub/x", "sub/x/y"] if create else [])]
            parent.remove_created()
        assert tree(place / "root") == ["sub", "sub/f"]

    @pytest.mark.parametrize(
        ("target", "relative"),
        [
            ("sub/f", "sub/f"),
            ("{root}/sub/f", "sub/f"),
            ("sub/new", "sub/new"),
            ("{root}/x/y", "x/y"),
            ("second", "sub/f"),
            ("sub/../sub/./f", "sub/f"),
        ],
    )
    def test_follows_links_by_hand(self, roots: Roots, place: Path, target: str, relative: str) -> None:
        (place / "root" / "link").symlink_to(target.format(root=place / "root"))
        (place / "root" / "second").symlink_to(f"{place}/root/sub/f")
        with roots.open_parent(roots.locate("link"), create=True) as parent:
            assert parent.location == Location(roots.first, relative)
            descriptor = os.open(parent.name, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, dir_fd=parent.fd)
            os.write(descriptor, b"through")
            os.close(descriptor)
        assert (place / "root" / "link").is_symlink()
        assert (place / "root" / relative).read_bytes()[:7] == (place / "root" / "link").read_bytes()[:7] == b"through"

    @pytest.mark.parametrize(
        ("path", "error_type"),
        [
            ("", ErrorType.TARGET_IS_DIRECTORY),
            ("sub/", ErrorType.TARGET_IS_DIRECTORY),
            ("to_root", ErrorType.TARGET_IS_DIRECTORY),
            ("sub/f/x/y", ErrorType.FILE_WRITE_FAILURE),
            ("loop", ErrorType.FILE_WRITE_FAILURE),
            ("through", ErrorType.FILE_NOT_FOUND),
            ("dangling", ErrorType.PATH_NOT_IN_WORKSPACE),
            ("far", ErrorType.PATH_NOT_IN_WORKSPACE),
            ("out/new", ErrorType.PATH_NOT_IN_WORKSPACE),
            ("out/x/new", ErrorType.PATH_NOT_IN_WORKSPACE),
            ("x/long/y", ErrorType.INVALID_TOOL_PARAMS),
        ],
    )
    def test_refuses_and_leaves_no_trace(self, roots: Roots, place: Path, path: str, error_type: ErrorType) -> None:
        targets = {"to_root": ".", "loop": "loop", "through": "missing/../new", "dangling": "../outside/mark"}
        targets |= {"far": f"{place}/outside/mark", "out": "../outside"}
        for name, target in targets.items():
            (place / "root" / name).symlink_to(target)
        before = tree(place)
        location = Location(roots.first, f"x/{'n' * 300}/y") if path == "x/long/y" else roots.locate(path)
        for create in (False, True) if path != "x/long/y" else (True,):
            with refused(error_type):
                roots.open_parent(location, create=create)
        assert tree(place) == before

    def test_one_file_has_one_location_from_every_root(self, place: Path) -> None:
        (place / "alias").symlink_to("root/sub")
        (place / "root" / "link").symlink_to("sub/f")
        with Roots([place / "root", place / "alias"]) as roots:
            expected = Location(roots.directories[1], "f")
            for path in (f"{place}/root/link", f"{place}/root/sub/f", f"{place}/alias/f"):
                with roots.open_parent(roots.locate(path), create=False) as parent:
                    assert parent.location == expected


class TestDirectoriesForReading:
    @pytest.fixture
    def kept(self, tmp_path: Path) -> Path:
        for name in ("work", "kept"):
            (tmp_path / name).mkdir()
        (tmp_path / "kept" / "output.txt").write_text("all of it")
        return tmp_path / "kept"

    def test_files_are_read_by_their_whole_path_only(self, kept: Path) -> None:
        with Roots([kept.parent / "work"], for_reading=[kept]) as roots:
            with roots.open_file(roots.locate(f"{kept}/output.txt")) as file:
                assert file.read_all() == b"all of it"
            assert roots.paths == (str(kept.parent / "work"),)
            with pytest.raises(WorkspaceError) as caught, roots.open_file(roots.locate("output.txt")):
                pass
            assert caught.value.error_type is ErrorType.FILE_NOT_FOUND

    def test_they_are_not_listed(self, kept: Path) -> None:
        with Roots([kept.parent / "work"], for_reading=[kept]) as roots:
            with pytest.raises(WorkspaceError) as caught:
                roots.open_directory(roots.locate(str(kept)))
            assert caught.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE

    @pytest.mark.parametrize("name", ["output.txt", "new.txt", "new/er.txt"])
    def test_nothing_is_written_there(self, kept: Path, name: str) -> None:
        with Roots([kept.parent / "work"], for_reading=[kept]) as roots:
            with pytest.raises(WorkspaceError) as caught:
                roots.open_parent(roots.locate(f"{kept}/{name}"), create=True)
            assert caught.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE
        assert [path.name for path in kept.iterdir()] == ["output.txt"]


class TestReadOnly:
    def test_it_can_be_read_and_listed_but_not_written(self, tmp_path: Path) -> None:
        project, skill = tmp_path / "project", tmp_path / "skill"
        (skill / "inner").mkdir(parents=True)
        project.mkdir()
        (skill / "inner" / "a").write_text("text")
        with Roots(str(project)) as roots:
            with pytest.raises(WorkspaceError):
                roots.locate(str(skill / "inner" / "a"))
            roots.add_read_only(str(skill))
            with roots.open_file(roots.locate(str(skill / "inner" / "a"))) as opened:
                assert opened.read_all() == b"text"
            with roots.open_directory(roots.locate(str(skill))) as directory:
                assert os.listdir(directory.fd) == ["inner"]
            with pytest.raises(WorkspaceError) as raised:
                roots.open_parent(roots.locate(str(skill / "new")), create=True)
            assert raised.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE
            assert roots.paths == (str(project),)

    def test_inside_of_a_workspace_directory_and_through_a_link(self, tmp_path: Path) -> None:
        skill = tmp_path / "skills" / "x"
        skill.mkdir(parents=True)
        (tmp_path / "link").symlink_to("skills/x")
        with Roots(str(tmp_path)) as roots:
            roots.add_read_only(str(skill))
            for path in ("skills/x/new", "link/new", "link/deep/new"):
                with pytest.raises(WorkspaceError) as raised:
                    roots.open_parent(roots.locate(path), create=True)
                assert raised.value.error_type is ErrorType.PATH_NOT_IN_WORKSPACE
            roots.open_parent(roots.locate("skills/new"), create=False).close()
        assert os.listdir(skill) == []

    def test_a_workspace_directory_stays_writable(self, tmp_path: Path) -> None:
        with Roots(str(tmp_path)) as roots:
            roots.add_read_only(str(tmp_path))
            roots.open_parent(roots.locate("new"), create=False).close()

    def test_a_missing_directory(self, tmp_path: Path) -> None:
        with Roots(str(tmp_path)) as roots, pytest.raises(UsageError):
            roots.add_read_only(str(tmp_path / "missing"))
