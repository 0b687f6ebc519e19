"""A GitHub on this machine: releases over its API, repositories over git, and a second host for downloads."""

import json
import os
import ssl
import subprocess
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from support.certificates import make_certificates

_BACKEND = "git-http-backend"


@dataclass
class SeenRequest:
    """A request that a server got, with lower-case header names."""

    path: str
    headers: dict[str, str]


@dataclass
class LocalHost:
    """An https server: fixed answers by path as (status, headers, body), and bare repositories below `repositories`."""

    port: int = 0
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(
        default_factory=dict[str, tuple[int, dict[str, str], bytes]]
    )
    requests: list[SeenRequest] = field(default_factory=list[SeenRequest])
    repositories: Path | None = None

    @property
    def origin(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def answer_json(self, path: str, value: object) -> None:
        self.answers[path] = (200, {"Content-Type": "application/json"}, json.dumps(value).encode())

    def redirect(self, path: str, target: str) -> None:
        self.answers[path] = (302, {"Location": target}, b"")


@dataclass
class LocalGitHub:
    """The server with the API, another one for downloads, and the environment that makes the program use them."""

    api: LocalHost
    downloads: LocalHost
    authority: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "GITHUB_SERVER_URL": self.api.origin,
            "GITHUB_API_URL": self.api.origin,
            "SSL_CERT_FILE": str(self.authority),
            "NO_PROXY": "*",
        }

    def publish(self, repository: str, tag: str, assets: Mapping[str, bytes], *, is_latest: bool = True) -> None:
        """Make a release; its files are redirects to the other host."""
        base = f"/repos/{repository}"
        listed: list[dict[str, Any]] = []
        for name, content in assets.items():
            path = f"{base}/releases/assets/{name}"
            self.api.redirect(path, f"{self.downloads.origin}/files/{tag}/{name}")
            self.downloads.answers[f"/files/{tag}/{name}"] = (200, {}, content)
            listed.append({"name": name, "url": f"{self.api.origin}{path}"})
        release = {"tag_name": tag, "assets": listed, "tarball_url": f"{self.api.origin}{base}/tarball/{tag}"}
        if is_latest:
            self.api.answer_json(f"{base}/releases/latest", release)
        self.api.answer_json(f"{base}/releases/tags/{tag}", release)
        self.api.answer_json(f"{base}/releases?per_page=1", [release])


@contextmanager
def local_github(directory: Path) -> Generator[LocalGitHub]:
    """Run both servers until the end of the block. Certificates are made in `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    certificates = make_certificates(directory)
    with _serve(certificates.server) as api, _serve(certificates.server) as downloads:
        api.repositories = directory
        yield LocalGitHub(api, downloads, certificates.authority)


@contextmanager
def _serve(context: ssl.SSLContext) -> Generator[LocalHost]:
    host = LocalHost()

    class Handler(_Handler):
        local_host = host

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    host.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    local_host: LocalHost

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            self._answer(self._read_chunks())
        else:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length", "0"))))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- as in the base class
        pass

    def _answer(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.local_host.requests.append(SeenRequest(self.path, headers))
        found = self.local_host.answers.get(self.path)
        if found is None and ".git/" in self.path and self.local_host.repositories is not None:
            found = _run_git(self.local_host.repositories, self.command, self.path, headers, body)
        status, sent, content = found or (404, {}, b"{}")
        self.send_response(status)
        for name, value in {**sent, "Content-Length": str(len(content)), "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _read_chunks(self) -> bytes:
        pieces: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)


def _run_git(
    root: Path, method: str, path: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, dict[str, str], bytes]:
    parts = urlsplit(path)
    program = Path(subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip())
    done = subprocess.run(
        [program / _BACKEND],
        input=body,
        capture_output=True,
        env={
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "REQUEST_METHOD": method,
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "HTTP_GIT_PROTOCOL": headers.get("git-protocol", ""),
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        },
        check=True,
    )
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    lines = (line.partition(": ") for line in head.decode("latin-1").split("\r\n"))
    sent = {name: value for name, _, value in lines}
    status = int(sent.pop("Status", "200").split(" ")[0])
    return status, sent, content
