"""Program that tries to answer every question of every session: `socket_attack.py SOCKETS RESULT [STEP...]`.

The steps come first: `orphan` leaves the parents, `raise` tries to raise the limit of file sizes, `supervisor` kills
supervisors among the ancestors, `wait` waits until a file `go` is beside the result. It writes what each session did.
"""

import glob
import json
import os
import resource
import signal
import socket
import sys
import time
from contextlib import suppress

INFO = b'{"jsonrpc":"2.0","id":1,"method":"info","params":{}}\n'
REFUSED, LET_IN = "refused", "let in"


def attempt(name: str) -> str:
    """Try to answer the questions of one session."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        try:
            connection.connect(name)
            connection.sendall(INFO)
            received = b""
            while not received.endswith(b"\n"):
                part = connection.recv(1 << 16)
                if not part:
                    return REFUSED
                received += part
        except OSError:
            return REFUSED
        for question in json.loads(received)["result"]["questions"]:
            reply = {"$": "ApprovalReply", "outcome": "proceed_once"}
            params = {"question_id": question["question_id"], "reply": reply}
            request = {"jsonrpc": "2.0", "id": 2, "method": "answer", "params": params}
            connection.sendall(json.dumps(request).encode() + b"\n")
            connection.recv(1 << 16)
    return LET_IN


def leave_parents() -> None:
    for _ in range(2):
        if os.fork():
            os._exit(0)
        os.setsid()


def raise_limit() -> None:
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def kill_supervisors() -> None:
    pid = os.getppid()
    supervisors: list[int] = []
    while pid > 1:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if b"processes.supervisor" in file.read():
                supervisors.append(pid)
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            pid = int(file.read().rpartition(")")[2].split()[1])
    leave_parents()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for each in supervisors:
        os.kill(each, signal.SIGKILL)
    time.sleep(0.2)


def main(sockets: str, result: str, *steps: str) -> None:
    for step in steps:
        if step == "orphan":
            leave_parents()
        elif step == "raise":
            raise_limit()
        elif step == "supervisor":
            kill_supervisors()
        elif step == "wait":
            deadline = time.monotonic() + 60
            while not os.path.exists(os.path.join(os.path.dirname(result), "go")) and time.monotonic() < deadline:
                time.sleep(0.02)
    os.chdir(sockets)  # the whole path may be too long for an address
    found = {name: attempt(name) for name in glob.glob("*.sock")}
    with open(f"{result}.part", "w", encoding="utf-8") as file:
        json.dump(found, file)
    os.replace(f"{result}.part", result)


if __name__ == "__main__":
    main(*sys.argv[1:])
