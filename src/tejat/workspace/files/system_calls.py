"""System calls that the standard library does not wrap."""

import errno
import fcntl
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache

O_PATH: int = getattr(os, "O_PATH", 0)  # 0 where there is none
# Without O_PATH, directories are opened for search, else for reading.
O_TRAVERSE: int = os.O_DIRECTORY | (O_PATH or getattr(os, "O_SEARCH", os.O_RDONLY))

_OPENAT2 = 437
_OPENAT2_TRIES = 8
_MANY_FILES = 8  # below that, waiting for everything else on the file system takes longer
_RESOLVE = 0x08 | 0x02  # RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS
_DELETED = " (deleted)"  # what Linux appends to the path of an open file without a name

_KERNEL_FILESYSTEMS = {
    # proc, sysfs, debugfs, tracefs, securityfs, configfs, binfmt_misc, fusectl
    *(0x9FA0, 0x62656572, 0x64626720, 0x74726163, 0x73636673, 0x62656570, 0x42494E4D, 0x65735543),
    # mqueue, devpts, pstore, cgroup, cgroup2, resctrl, bpf, efivarfs
    *(0x19800202, 0x1CD1, 0x6165676C, 0x27E0EB, 0x63677270, 0x07655821, 0xCAFE4A11, 0xDE5E81E4),
    # nsfs, pidfs, apparmorfs, selinuxfs, smackfs
    *(0x6E736673, 0x50494446, 0x5A3C69F0, 0xF97CFF8C, 0x43415D53),
}


def openat2(directory: int, relative: str, flags: int) -> int:
    """Open a path beneath `directory` in one system call, following links but no magic links.

    Raises OSError: EXDEV for a path that leaves or meets an absolute link, ELOOP for a magic link or a loop, EAGAIN
    after repeated renames, ENOSYS where the call is missing, and the errors of open.
    """
    if not _HAS_OPENAT2:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), relative)
    library = _libc()
    path = os.fsencode(relative)
    number = errno.EAGAIN
    for _ in range(_OPENAT2_TRIES):
        descriptor = library.openat2(directory, path, flags, _RESOLVE)
        if descriptor >= 0:
            return descriptor
        number = library.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(number, os.strerror(number), relative)


def openat2_once(directory: int, relative: str, flags: int, resolve: int) -> int | None:
    """Open a path beneath `directory` under these conditions of its resolution; None if that is not possible now."""
    if not _HAS_OPENAT2:
        return None
    descriptor = _libc().openat2(directory, os.fsencode(relative), flags, resolve)
    return descriptor if descriptor >= 0 else None


def is_on_kernel_filesystem(fd: int) -> bool:
    """Whether an open file is on proc, sysfs or another file system that the kernel generates. Raises OSError."""
    if sys.platform != "linux":
        return False
    return _checked_file_system(fd) in _KERNEL_FILESYSTEMS


def _checked_file_system(fd: int) -> int:
    library = _libc()
    kind = library.file_system(fd)
    if kind is None:
        number = library.get_errno()
        raise OSError(number, os.strerror(number))
    return kind


def kernel_path(fd: int) -> str | None:
    """Return the current path of an open file according to the kernel, None if unknown."""
    try:
        if sys.platform == "darwin":
            return os.fsdecode(fcntl.fcntl(fd, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
        path = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return None
    if path.endswith(_DELETED) and not _is_at(fd, path):
        return path.removesuffix(_DELETED)
    return path


def _is_at(fd: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except OSError:
        return False


def sync_files(descriptors: Sequence[int]) -> None:
    """Make the contents of open files durable, many of them at once where the system can. Raises OSError."""
    if len(descriptors) >= _MANY_FILES and _reports_sync_errors():
        # By device: a mount beneath a project has a file system of its own.
        for descriptor in {os.fstat(descriptor).st_dev: descriptor for descriptor in reversed(descriptors)}.values():
            _check(_libc().sync_file_system(descriptor))
        return
    for descriptor in descriptors:
        os.fsync(descriptor)


def file_system_type(fd: int) -> int:
    """Return the number by which Linux knows the kind of a file system, 0 elsewhere. Raises OSError."""
    return _checked_file_system(fd) if sys.platform == "linux" else 0


def inotify_init(flags: int) -> int:
    """Return a new inotify descriptor. Raises OSError: ENOSYS where there is no inotify."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    return _check(_libc().inotify_init(flags))


def inotify_add_watch(descriptor: int, path: str, mask: int) -> int:
    """Return the number of a watch. Raises OSError."""
    return _check(_libc().inotify_add_watch(descriptor, os.fsencode(path), mask))


def inotify_remove_watch(descriptor: int, watch: int) -> None:
    """End a watch, if there is one."""
    _libc().inotify_rm_watch(descriptor, watch)


def _check(result: int) -> int:
    if result >= 0:
        return result
    number = _libc().get_errno()
    raise OSError(number, os.strerror(number))


@cache
def _reports_sync_errors() -> bool:
    """Whether there is a syncfs that fails if something could not be written: since Linux 5.8."""
    if sys.platform != "linux":
        return False
    major, minor, *_ = (*re.findall(r"\d+", os.uname().release), "0", "0")
    return (int(major), int(minor)) >= (5, 8)


class _LibC:
    """Functions of the C library."""

    def __init__(self) -> None:
        # Many runs open no file beneath a directory, and ctypes takes longer to load than such a file to read.
        import ctypes

        class OpenHow(ctypes.Structure):
            _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

        @cache
        def how(flags: int, resolve: int) -> OpenHow:
            return OpenHow(flags, 0, resolve)

        library = ctypes.CDLL(None, use_errno=True)
        call, fstatfs = library.syscall, library.fstatfs
        call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(OpenHow), ctypes.c_size_t)
        call.restype = ctypes.c_long
        fstatfs.argtypes = (ctypes.c_int, ctypes.c_void_p)
        size = ctypes.sizeof(OpenHow)
        # struct statfs, with room to spare; its type is the first field, which one rare family has narrower.
        answer = ctypes.c_ulong * 64
        first = ctypes.c_uint if os.uname().machine == "s390x" else ctypes.c_ulong

        def openat2(directory: int, path: bytes, flags: int, resolve: int) -> int:
            return call(_OPENAT2, directory, path, how(flags, resolve), size)

        def file_system(fd: int) -> int | None:
            buffer = answer()
            return None if fstatfs(fd, buffer) != 0 else first.from_buffer(buffer).value & 0xFFFFFFFF

        self.get_errno = ctypes.get_errno
        self.sync_file_system: Callable[[int], int] = library.syncfs
        """0, or less. The same holds for the functions of inotify."""
        self.inotify_init: Callable[[int], int] = library.inotify_init1
        self.inotify_add_watch: Callable[[int, bytes, int], int] = library.inotify_add_watch
        self.inotify_rm_watch: Callable[[int, int], int] = library.inotify_rm_watch
        self.openat2 = openat2
        """A descriptor, or less than 0."""
        self.file_system = file_system
        """The number of its kind, or None."""


@cache
def _libc() -> _LibC:
    return _LibC()


# Two rare families number their calls differently.
_HAS_OPENAT2 = sys.platform == "linux" and not os.uname().machine.startswith(("alpha", "mips"))
