"""Seccomp filter (classic BPF) that decides which system calls a command may make."""

import errno
import struct

from tejat.workspace.sandbox.libc import Pinned, call

INET_FAMILIES = (2, 10, 16)  # IPv4, IPv6, and NETLINK, which programs use to list the machine's addresses

# For each machine, its audit architecture and the column in the tables below.
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

# Calls with this bit belong to the x32 table, which no ordinary program uses.
_X32 = 0x40000000
# Newer calls fail with ENOSYS as on an older kernel, which programs cope with.
_NEWEST_CALL = 469

_CLONE, _UNSHARE, _SOCKET, _SOCKET_PAIR = (56, 220), (272, 97), (41, 198), (53, 199)
_IOCTL, _PERSONALITY = (16, 29), (135, 92)

# A way out, a way into other processes, or a part of the kernel that no build or test needs.
_DENIED_CALLS: dict[str, tuple[int, int | None]] = {
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    # keys
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # kernel programs and kernel introspection
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "syslog": (103, 116),
    "lookup_dcookie": (212, 18),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "_sysctl": (156, None),
    # the machine as a whole
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "nfsservctl": (180, 42),
    "iopl": (172, None),
    "ioperm": (173, None),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
}

# Refused without namespaces only, which give a command memory of its own and file systems that it cannot change.
# A filter does not see paths, so what outside files are protected by is refused inside as well.
_DENIED_WITHOUT_NAMESPACES: dict[int, dict[str, tuple[int, int | None]]] = {
    errno.EPERM: {
        "shmget": (29, 194),
        "shmat": (30, 196),
        "shmctl": (31, 195),
        "semget": (64, 190),
        "semop": (65, 193),
        "semctl": (66, 191),
        "semtimedop": (220, 192),
        "msgget": (68, 186),
        "msgsnd": (69, 189),
        "msgrcv": (70, 188),
        "msgctl": (71, 187),
        "mq_open": (240, 180),
        "mq_unlink": (241, 181),
    },
    # As on a file system that has no attributes, which programs cope with.
    errno.EOPNOTSUPP: {
        "setxattr": (188, 5),
        "lsetxattr": (189, 6),
        "fsetxattr": (190, 7),
        "setxattrat": (463, 463),
        "removexattr": (197, 14),
        "lremovexattr": (198, 15),
        "fremovexattr": (199, 16),
        "removexattrat": (466, 466),
        "file_setattr": (469, 469),
    },
}
_PROCESS_LIMITS = {"prlimit64": (302, 261)}
# Each with the position of its mode, or of its user and group, among the arguments.
_MODE_CALLS: dict[str, tuple[tuple[int, int | None], int]] = {
    "chmod": ((90, None), 1),
    "fchmod": ((91, 52), 1),
    "fchmodat": ((268, 53), 2),
    "fchmodat2": ((452, 452), 2),
}
_OWNER_CALLS: dict[str, tuple[tuple[int, int | None], int]] = {
    "chown": ((92, None), 1),
    "fchown": ((93, 55), 1),
    "lchown": ((94, None), 1),
    "fchownat": ((260, 54), 2),
}

# Programs fall back when these are missing. clone3 passes its flags by pointer, where no filter sees them;
# io_uring performs operations without further system calls.
_ABSENT_CALLS = {"clone3": 435, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427}

_NEW_NAMESPACES = 0x7E020000
_NEW_TIME_NAMESPACE = 0x80  # a signal number in the flags of clone
_STOLEN_KEYS = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX inject input into a terminal
# FS_IOC_SETFLAGS (of both sizes), FS_IOC_SETVERSION, FS_IOC_FSSETXATTR and FS_IOC_ENABLE_VERITY change any file that is
# open for reading.
_FILE_FLAGS = (0x40086602, 0x40046602, 0x40087602, 0x401C5820, 0x40806685)
_SET_ID_BITS = 0o6000
_UNCHANGED = 0xFFFFFFFF
_ORDINARY_PERSONALITIES = (0, 0xFFFFFFFF)  # the second one only queries
# A datagram pair can be connected to any named socket. Raw means datagram here.
_DATAGRAM_TYPES = (2, 3)
_SOCKET_TYPE_BITS = 0xF

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _GREATER, _GREATER_OR_EQUAL, _ANY_BIT = 0x15, 0x25, 0x35, 0x45
_REFUSE, _KILL = 0x00050000, 0x80000000
_CALL_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _ARGUMENT_SIZE = 0, 4, 16, 8

_SET_NO_NEW_PRIVILEGES = 38
_SET_SECCOMP = 22
_FILTER = 2

# Operation code, jump offsets if true and if false, and an operand.
Instruction = tuple[int, int, int, int]
_ALLOWED: Instruction = (_RETURN, 0, 0, 0x7FFF0000)


def build_filter(
    machine: str, families: tuple[int, ...], *, owner: tuple[int, int] | None = None
) -> list[Instruction] | None:
    """Return the filter for this machine and these socket families, None for an unknown machine.

    Local sockets are allowed only as pairs: a named one can belong to an outside process that no sandbox restricts.
    Without namespaces `owner` is the user and group of the command, and more is refused: shared memory, attributes,
    other owners, set-id bits, limits of other processes.
    """
    known = _MACHINES.get(machine)
    if known is None:
        return None
    architecture, column = known
    filtered: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _CALL_NUMBER),
    ]
    if machine == "x86_64":
        filtered += [(_GREATER_OR_EQUAL, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]
    filtered += [(_GREATER, 0, 1, _NEWEST_CALL), _deny(errno.ENOSYS)]
    for number in _ABSENT_CALLS.values():
        filtered += [(_EQUAL, 0, 1, number), _deny(errno.ENOSYS)]
    denied = [(numbers, errno.EPERM) for numbers in _DENIED_CALLS.values()]
    checked = _argument_filters(families, () if owner is None else _FILE_FLAGS)
    if owner is not None:
        denied += [
            (numbers, error) for error, calls in _DENIED_WITHOUT_NAMESPACES.items() for numbers in calls.values()
        ]
        checked += _ownership_filters(owner)
    for numbers, error in denied:
        number = numbers[column]
        if number is not None:
            filtered += [(_EQUAL, 0, 1, number), _deny(error)]
    for numbers, checks in checked:
        number = numbers[column]
        if number is not None:
            filtered += [(_EQUAL, 0, len(checks), number), *checks]
    return [*filtered, _ALLOWED]


def install_filter(instructions: list[Instruction]) -> None:
    """Filter the system calls of this thread and all its future children. Raises OSError."""
    code = Pinned(b"".join(struct.pack("=HBBI", *each) for each in instructions))
    program = struct.pack("@HP", len(instructions), code.address)
    call("prctl", _SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    call("prctl", _SET_SECCOMP, _FILTER, program, 0, 0)


def _argument_filters(
    families: tuple[int, ...], file_flags: tuple[int, ...]
) -> list[tuple[tuple[int, int | None], list[Instruction]]]:
    refused, no_socket, unsupported = _deny(errno.EPERM), _deny(errno.EACCES), _deny(errno.ENOTTY)
    first, second = _load_argument(0), _load_argument(1)
    socket_type: Instruction = (_AND, 0, 0, _SOCKET_TYPE_BITS)
    every_namespace = _NEW_NAMESPACES | _NEW_TIME_NAMESPACE
    flags = _match_any(file_flags, unsupported, _ALLOWED)
    return [
        (_CLONE, [first, (_ANY_BIT, 0, 1, _NEW_NAMESPACES), refused, _ALLOWED]),
        (_UNSHARE, [first, (_ANY_BIT, 0, 1, every_namespace), refused, _ALLOWED]),
        (_IOCTL, [second, *_match_any(_STOLEN_KEYS, refused, *flags)]),
        (_PERSONALITY, [first, *_match_any(_ORDINARY_PERSONALITIES, _ALLOWED, refused)]),
        (_SOCKET, [first, *_match_any(families, _ALLOWED, no_socket)]),
        (_SOCKET_PAIR, [second, socket_type, *_match_any(_DATAGRAM_TYPES, no_socket, _ALLOWED)]),
    ]


def _ownership_filters(owner: tuple[int, int]) -> list[tuple[tuple[int, int | None], list[Instruction]]]:
    """Return the filters of calls that change other processes, or the owner or mode of files."""
    refused = _deny(errno.EPERM)
    filters: list[tuple[tuple[int, int | None], list[Instruction]]] = [
        (numbers, [_load_argument(0), (_EQUAL, 1, 0, 0), refused, _ALLOWED]) for numbers in _PROCESS_LIMITS.values()
    ]
    for numbers, position in _MODE_CALLS.values():
        filters.append((numbers, [_load_argument(position), (_ANY_BIT, 0, 1, _SET_ID_BITS), refused, _ALLOWED]))
    for numbers, position in _OWNER_CALLS.values():
        checks: list[Instruction] = []
        for at, own in enumerate(owner):
            checks += [_load_argument(position + at), (_EQUAL, 2, 0, _UNCHANGED), (_EQUAL, 1, 0, own), refused]
        filters.append((numbers, [*checks, _ALLOWED]))
    return filters


def _load_argument(position: int) -> Instruction:
    """Load the low half of an argument."""
    return (_LOAD, 0, 0, _FIRST_ARGUMENT + position * _ARGUMENT_SIZE)


def _match_any(values: tuple[int, ...], then: Instruction, *otherwise: Instruction) -> list[Instruction]:
    compared: list[Instruction] = []
    for value in values:
        compared += [(_EQUAL, 0, 1, value), then]
    return [*compared, *otherwise]


def _deny(number: int) -> Instruction:
    return (_RETURN, 0, 0, _REFUSE | number)
