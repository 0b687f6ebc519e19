"""Modules that are loaded at their first use, and behave like any other then."""

import subprocess
import sys

import pytest

_START = """
import sys
from tejat.cli.startup.lazy_modules import load_lazily
load_lazily()
import asyncio
"""


def run(script: str) -> None:
    subprocess.run([sys.executable, "-I", "-c", _START + script], check=True, timeout=60)


class TestLazyModules:
    def test_importing_does_not_load_them(self) -> None:
        run("""
import inspect, linecache, textwrap
import inspect
from asyncio import sslproto
assert "ast" not in sys.modules and "tokenize" not in sys.modules
assert type(inspect).__name__ == type(sslproto).__name__ == "_LazyModule"
""")

    @pytest.mark.parametrize(
        "use", ["inspect.signature", "from inspect import signature", "vars(inspect)['signature']", "dir(inspect)"]
    )
    def test_using_one_loads_it(self, use: str) -> None:
        run(f"""
import inspect
{use}
assert "ast" in sys.modules
assert type(inspect) is type(sys) and inspect is sys.modules["inspect"]
assert type(inspect.__spec__.loader).__name__ == type(inspect.__loader__).__name__ == "SourceFileLoader"
assert str(inspect.signature(lambda a, *, b=1: None)) == "(a, *, b=1)"
""")

    def test_a_value_that_is_set_first_stays(self) -> None:
        run("""
import textwrap
textwrap.dedent = 5
assert textwrap.dedent == 5 and textwrap.fill("a b", 1) == "a\\nb"
""")

    def test_threads_that_use_one_at_the_same_time_all_get_it(self) -> None:
        run("""
import inspect, threading
barrier, found = threading.Barrier(8), []
def use():
    barrier.wait()
    found.append(inspect.iscoroutinefunction(use))
threads = [threading.Thread(target=use) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
assert found == [False] * 8, found
""")

    def test_connections_without_tls_do_not_load_ssl(self) -> None:
        run("""
import socket, ssl
async def start():
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    await reader.read()
    near, far = socket.socketpair()
    for each in near, far:
        each.setblocking(False)
    await asyncio.get_running_loop().sock_sendall(near, b"x")
    assert await asyncio.get_running_loop().sock_recv(far, 1) == b"x"
asyncio.run(start())
assert "_ssl" not in sys.modules and "hashlib" not in sys.modules
""")

    def test_asyncio_still_refuses_tls_sockets(self) -> None:
        run("""
import socket, ssl
tls = ssl.create_default_context().wrap_socket(socket.socket(), server_hostname="a", do_handshake_on_connect=False)
async def start():
    try:
        await asyncio.get_running_loop().sock_recv(tls, 1)
    except TypeError:
        return True
assert asyncio.run(start())
""")

    @pytest.mark.parametrize("use", ["import ssl; ssl.SSLSocket", "from ssl import SSLSocket"])
    def test_other_modules_get_the_class_of_tls_sockets(self, use: str) -> None:
        run(f"{use}; import ssl, socket; assert issubclass(ssl.SSLSocket, socket.socket)")

    @pytest.mark.parametrize(
        "use",
        [
            "import hashlib; assert hashlib.sha256(b'').hexdigest().startswith('e3b0')",
            "import base64; assert base64.b64encode(b'a') == b'YQ=='",
            "from ipaddress import ip_address; assert ip_address('::1').is_loopback",
            "from urllib.parse import urlsplit; assert urlsplit('http://[::1]:8/').hostname == '::1'",
        ],
    )
    def test_each_works_when_it_is_used(self, use: str) -> None:
        run(use)

    def test_tls_works(self) -> None:
        run("""
import ssl
async def start():
    loop = asyncio.get_running_loop()
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        await asyncio.open_connection("127.0.0.1", port, ssl=ssl.create_default_context())
    except (ssl.SSLError, ConnectionError):
        return True
assert asyncio.run(start())
""")


class TestAnswersWithoutLoading:
    def test_asyncio_loads_none_of_them(self) -> None:
        run("""
asyncio.run(asyncio.sleep(0))
names = "logging", "subprocess", "traceback", "concurrent.futures"
assert all(type(sys.modules[name]).__name__ == "_LazyModule" for name in names)
""")

    def test_they_are_the_values_of_the_modules(self) -> None:
        run("""
import concurrent.futures, logging, subprocess
names = [
    *((concurrent.futures, name) for name in ("FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED")),
    *((subprocess, name) for name in ("PIPE", "STDOUT", "DEVNULL")),
    (logging, "DEBUG"),
]
answers = [getattr(module, name) for module, name in names]
assert type(logging).__name__ == "_LazyModule"
concurrent.futures.Future, logging.Logger, subprocess.Popen
assert answers == [vars(module)[name] for module, name in names]
assert asyncio.FIRST_COMPLETED is concurrent.futures.FIRST_COMPLETED
assert asyncio.subprocess.PIPE is subprocess.PIPE
""")

    def test_errors_of_tasks_are_logged(self) -> None:
        done = subprocess.run(
            [
                sys.executable,
                "-I",
                "-c",
                f"""{_START}
async def fail():
    raise KeyError("lost")
async def start():
    task = asyncio.ensure_future(fail())
    await asyncio.sleep(0)
    del task
asyncio.run(start())
""",
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stderr.startswith("Task exception was never retrieved")
        assert done.stderr.rstrip().endswith("KeyError: 'lost'")

    def test_the_debug_mode_of_asyncio_has_the_stack(self) -> None:
        run("""
async def start():
    handle = asyncio.get_running_loop().call_soon(print)
    assert [frame.name for frame in handle._source_traceback][-1] == "start", handle._source_traceback
    handle.cancel()
asyncio.run(start(), debug=True)
""")

    def test_a_program_gets_the_real_logger(self) -> None:
        run("""
import logging
assert type(logging.getLogger("asyncio")) is logging.Logger
logging.getLogger("asyncio").setLevel(logging.ERROR)
assert asyncio.log.logger.level == logging.ERROR and not asyncio.log.logger.isEnabledFor(logging.WARNING)
""")

    def test_executors_and_programs_work(self) -> None:
        run("""
async def start():
    assert await asyncio.to_thread(lambda: 5) == 5
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(6)", stdout=asyncio.subprocess.PIPE)
    assert (await program.communicate())[0] == b"6\\n"
asyncio.run(start())
""")
