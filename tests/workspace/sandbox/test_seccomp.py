"""Which system calls come through: the filter is run by the kernel, and once more by a machine of our own."""

import errno
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.sandbox import seccomp
from tejat.workspace.sandbox.seccomp import INET_FAMILIES, Instruction, build_filter

ALLOW, KILL = 0x7FFF0000, 0x80000000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386 = 0x40000003


def refused(number: int) -> int:
    return 0x00050000 | number


def run(instructions: list[Instruction], *, call: int, architecture: int, arguments: tuple[int, ...] = ()) -> int:
    """What the kernel would make of it, after its own description of these machines."""
    words = {0: call, 4: architecture}
    for at in range(6):
        value = arguments[at] if at < len(arguments) else 0
        words[16 + 8 * at] = value & 0xFFFFFFFF
        words[20 + 8 * at] = value >> 32
    at = accumulator = 0
    while True:
        code, if_so, if_not, value = instructions[at]
        at += 1
        match code:
            case 0x20:
                accumulator = words[value]
            case 0x54:
                accumulator &= value
            case 0x06:
                return value
            case 0x15:
                at += if_so if accumulator == value else if_not
            case 0x25:
                at += if_so if accumulator > value else if_not
            case 0x35:
                at += if_so if accumulator >= value else if_not
            case 0x45:
                at += if_so if accumulator & value else if_not
            case _:
                raise AssertionError(code)


def judged(
    machine: str,
    call: int,
    *arguments: int,
    families: tuple[int, ...] = INET_FAMILIES,
    owner: tuple[int, int] | None = None,
) -> int:
    instructions = build_filter(machine, families, owner=owner)
    assert instructions is not None
    return run(instructions, call=call, architecture=ARCHITECTURES[machine], arguments=arguments)


@pytest.mark.parametrize(("machine", "column"), [("x86_64", 0), ("aarch64", 1)])
class TestBothProcessors:
    def test_every_call_on_the_list_is_refused(self, machine: str, column: int) -> None:
        for numbers in seccomp._DENIED_CALLS.values():
            number = numbers[column]
            if number is not None:
                assert judged(machine, number) == refused(errno.EPERM)

    def test_what_programs_do_without_is_absent(self, machine: str, column: int) -> None:
        for number in (*seccomp._ABSENT_CALLS.values(), 470, 1000, 0x3FFFFFFF):
            assert judged(machine, number) == refused(errno.ENOSYS)

    def test_another_processor_is_killed(self, machine: str, column: int) -> None:
        instructions = build_filter(machine, ())
        assert instructions is not None
        for other in (I386, *(value for name, value in ARCHITECTURES.items() if name != machine)):
            assert run(instructions, call=1, architecture=other) == KILL

    def test_new_namespaces(self, machine: str, column: int) -> None:
        clone, unshare = ((56, 220)[column], (272, 97)[column])
        for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
            assert judged(machine, clone, flag | 17) == refused(errno.EPERM)
            assert judged(machine, unshare, flag) == refused(errno.EPERM)
        assert judged(machine, unshare, 0x80) == refused(errno.EPERM)
        assert judged(machine, clone, 0x3D0F00) == ALLOW  # a thread
        assert judged(machine, clone, 0x4111) == ALLOW  # vfork
        assert judged(machine, unshare, 0x400) == ALLOW  # only its own descriptors

    def test_sockets(self, machine: str, column: int) -> None:
        call, pair = ((41, 198)[column], (53, 199)[column])
        for family in range(50):
            expected = ALLOW if family in (2, 10, 16) else refused(errno.EACCES)
            assert judged(machine, call, family) == expected
            assert judged(machine, call, family, families=()) == refused(errno.EACCES)
        flags = 0o2000000 | 0o4000
        assert [judged(machine, pair, 1, kind) for kind in (1, 5, 1 | flags)] == [ALLOW] * 3
        assert [judged(machine, pair, 1, kind) for kind in (2, 3, 2 | flags, 3 | flags)] == [refused(errno.EACCES)] * 4

    def test_keys_typed_into_a_terminal(self, machine: str, column: int) -> None:
        call = (16, 29)[column]
        for request in (0x5412, 0x541C, 0x5412 | 1 << 32):
            assert judged(machine, call, 0, request) == refused(errno.EPERM)
        assert judged(machine, call, 0, 0x5413) == ALLOW

    def test_personalities(self, machine: str, column: int) -> None:
        call = (135, 92)[column]
        assert [judged(machine, call, value) for value in (0, 0xFFFFFFFF)] == [ALLOW] * 2
        assert [judged(machine, call, value) for value in (8, 0x0400000)] == [refused(errno.EPERM)] * 2

    def test_what_only_namespaces_make_harmless(self, machine: str, column: int) -> None:
        for error, calls in seccomp._DENIED_WITHOUT_NAMESPACES.items():
            for numbers in calls.values():
                number = numbers[column]
                assert number is not None
                assert judged(machine, number, owner=(7, 8)) == refused(error)
                assert judged(machine, number) == ALLOW

    def test_owners(self, machine: str, column: int) -> None:
        for numbers, position in seccomp._OWNER_CALLS.values():
            number, before = numbers[column], (5,) * position
            if number is None:
                continue
            for user, group in ((7, 8), (0xFFFFFFFF, 8), (7, 0xFFFFFFFF), (2**64 - 1, 2**64 - 1)):
                assert judged(machine, number, *before, user, group, owner=(7, 8)) == ALLOW
            for user, group in ((8, 8), (7, 7), (0xFFFFFFFF, 0), (0, 0xFFFFFFFF)):
                assert judged(machine, number, *before, user, group, owner=(7, 8)) == refused(errno.EPERM)
                assert judged(machine, number, *before, user, group) == ALLOW

    def test_modes(self, machine: str, column: int) -> None:
        for numbers, position in seccomp._MODE_CALLS.values():
            number, before = numbers[column], (5,) * position
            if number is not None:
                modes = {0o755: ALLOW, 0o1777: ALLOW, 0o4755: refused(errno.EPERM), 0o2755: refused(errno.EPERM)}
                assert {mode: judged(machine, number, *before, mode, owner=(7, 8)) for mode in modes} == modes
                assert judged(machine, number, *before, 0o4755) == ALLOW

    def test_limits_of_other_processes_and_flags_of_files(self, machine: str, column: int) -> None:
        limit, ioctl = (302, 261)[column], (16, 29)[column]
        assert judged(machine, limit, 0, owner=(7, 8)) == ALLOW
        assert judged(machine, limit, 1, owner=(7, 8)) == refused(errno.EPERM)
        for request in seccomp._FILE_FLAGS:
            assert judged(machine, ioctl, 0, request, owner=(7, 8)) == refused(errno.ENOTTY)
            assert judged(machine, ioctl, 0, request) == ALLOW
        assert judged(machine, ioctl, 0, 0x5412, owner=(7, 8)) == refused(errno.EPERM)
        assert judged(machine, ioctl, 0, 0x5413, owner=(7, 8)) == ALLOW

    @settings(max_examples=200, deadline=None)
    @given(
        call=st.integers(0, 0xFFFFFFFF),
        arguments=st.lists(st.integers(0, 2**64 - 1), max_size=6),
        owner=st.sampled_from([None, (7, 8)]),
    )
    def test_every_path_ends(
        self, machine: str, column: int, call: int, arguments: list[int], owner: tuple[int, int] | None
    ) -> None:
        answer = judged(machine, call, *arguments, owner=owner)
        errors = (errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EOPNOTSUPP, errno.ENOTTY)
        assert answer in {ALLOW, KILL, *map(refused, errors)}

    def test_no_jump_is_too_far(self, machine: str, column: int) -> None:
        instructions = build_filter(machine, INET_FAMILIES, owner=(7, 8))
        assert instructions is not None
        for at, (_, if_so, if_not, _) in enumerate(instructions):
            assert max(if_so, if_not) < 256
            assert at + 1 + max(if_so, if_not) <= len(instructions)


def test_the_second_table_of_x86_64_is_killed() -> None:
    assert judged("x86_64", 0x40000000 | 1) == KILL


def test_other_processors_are_not_known() -> None:
    assert build_filter("riscv64", INET_FAMILIES) is None


@pytest.mark.parametrize(
    ("column", "header", "pattern"),
    [
        (0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", r"#define __NR_(\w+) (\d+)"),
        (1, "/usr/include/asm-generic/unistd.h", r"#define __NR(?:3264)?_(\w+) (\d+)"),
    ],
)
def test_the_numbers_are_those_of_the_system(column: int, header: str, pattern: str) -> None:
    if not Path(header).exists():
        pytest.skip("the headers of the kernel are not installed")
    known = {name: int(number) for name, number in re.findall(pattern, Path(header).read_text())}
    ours = {name: numbers[column] for name, numbers in seccomp._DENIED_CALLS.items()} | dict(seccomp._ABSENT_CALLS)
    judged_names = {
        "clone": seccomp._CLONE,
        "unshare": seccomp._UNSHARE,
        "socket": seccomp._SOCKET,
        "socketpair": seccomp._SOCKET_PAIR,
        "ioctl": seccomp._IOCTL,
        "personality": seccomp._PERSONALITY,
    }
    judged_names |= seccomp._PROCESS_LIMITS
    ours |= {name: numbers[column] for name, numbers in judged_names.items()}
    for calls in seccomp._DENIED_WITHOUT_NAMESPACES.values():
        ours |= {name: numbers[column] for name, numbers in calls.items()}
    for checked in (seccomp._MODE_CALLS, seccomp._OWNER_CALLS):
        ours |= {name: numbers[column] for name, (numbers, _) in checked.items()}
    compared = {name: number for name, number in ours.items() if name in known}
    assert len(compared) > 40
    assert compared == {name: known[name] for name in compared}


def in_a_filtered_process(action: str) -> subprocess.CompletedProcess[str]:
    text = (
        "import ctypes, os, sys\n"
        "from tejat.workspace.sandbox.seccomp import build_filter, install_filter\n"
        "install_filter(build_filter(os.uname().machine, ()))\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"{action}\n"
        "print(answer, ctypes.get_errno())"
    )
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)


@pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in ARCHITECTURES, reason="no filter is known here"
)
class TestTheKernel:
    @pytest.mark.parametrize(
        ("action", "number"),
        [
            ("answer = libc.ptrace(0, 0, 0, 0)", errno.EPERM),
            ("answer = libc.unshare(0x10000000)", errno.EPERM),
            ("answer = libc.mount(b'x', b'/', b'tmpfs', 0, None)", errno.EPERM),
            ("answer = libc.socket(1, 1, 0)", errno.EACCES),
            ("answer = libc.syscall(435, None, 0)", errno.ENOSYS),
            ("answer = libc.syscall(425, 1, None)", errno.ENOSYS),
            ("answer = libc.syscall(999)", errno.ENOSYS),
        ],
    )
    def test_refuses(self, action: str, number: int) -> None:
        done = in_a_filtered_process(action)
        assert (done.stdout, done.stderr) == (f"-1 {number}\n", "")

    def test_lets_the_rest_through(self) -> None:
        done = in_a_filtered_process("answer = os.system('echo a child')")
        assert (done.stdout, done.stderr) == ("a child\n0 0\n", "")

    @pytest.mark.skipif(os.uname().machine != "x86_64", reason="there is no second table")
    def test_kills_who_uses_the_second_table(self) -> None:
        done = in_a_filtered_process("answer = libc.syscall(0x40000000 | 39)")
        assert (done.returncode, done.stdout) == (-signal.SIGSYS, "")

    def test_what_cannot_be_installed_is_an_error(self) -> None:
        with pytest.raises(OSError, match=re.escape(os.strerror(errno.EINVAL))):
            seccomp.install_filter([(0xFFFF, 0, 0, 0)])
