"""Where the server listens, and what it says if it cannot."""

import http.client
import json
import socket
import ssl
from pathlib import Path

import pytest

from support.certificates import make_certificates
from support.interactive import InteractiveEnv
from support.web.server import open_web_server
from tejat.core.errors import UsageError
from tejat.ui.web.server import DEFAULT_PORT, WebOptions


def test_it_listens_on_this_machine_only(tmp_path: Path) -> None:
    with open_web_server(InteractiveEnv(tmp_path)) as web:
        lines = Path("/proc/net/tcp").read_text().splitlines()
        listening = [line.split()[1] for line in lines if line.split()[1].endswith(f":{web.port:04X}")]
        assert "0100007F" in {each.partition(":")[0] for each in listening}
        assert "00000000" not in {each.partition(":")[0] for each in listening}


def test_without_a_port_the_next_free_one_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", DEFAULT_PORT))
            taken.listen()
        except OSError:
            pass  # somebody else has it, which is as good
        with open_web_server(InteractiveEnv(tmp_path), WebOptions()) as web:
            assert DEFAULT_PORT < web.port < DEFAULT_PORT + 50


def test_a_port_in_use_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(UsageError, match=f"Port {port} is in use."),
            open_web_server(InteractiveEnv(tmp_path), WebOptions(port)),
        ):
            pass


@pytest.mark.parametrize(
    ("address", "problem"),
    [("192.0.2.1", "This machine has no address 192.0.2.1."), ("no.such.invalid", "Unknown address no.such.invalid.")],
)
def test_an_address_of_another_machine_is_an_error(tmp_path: Path, address: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem), open_web_server(InteractiveEnv(tmp_path), WebOptions(0, address)):
        pass


def test_a_broken_certificate_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "c.pem").write_text("nothing")
    (tmp_path / "e").mkdir()
    options = WebOptions(0, "127.0.0.1", "p" * 10, str(tmp_path / "c.pem"), str(tmp_path / "no.pem"))
    with (
        pytest.raises(UsageError, match="Cannot use the certificate"),
        open_web_server(InteractiveEnv(tmp_path / "e"), options),
    ):
        pass


def test_another_address_needs_tls_and_the_password(tmp_path: Path) -> None:
    make_certificates(tmp_path, names="IP:127.0.0.2")
    files = str(tmp_path / "server.pem"), str(tmp_path / "server.key")
    (tmp_path / "env").mkdir()
    with open_web_server(InteractiveEnv(tmp_path / "env"), WebOptions(0, "127.0.0.2", "correct horse", *files)) as web:
        assert web.link == f"https://127.0.0.2:{web.port}/", "there is no token in it"
        trusting = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))

        def request(method: str, path: str, body: object = None, **headers: str) -> tuple[int, str, bytes]:
            connection = http.client.HTTPSConnection("127.0.0.2", web.port, context=trusting, timeout=20)
            own = {"origin": web.link.rstrip("/"), "content-type": "application/json"} if body else {}
            connection.request(method, path, json.dumps(body) if body else None, {**own, **headers})
            try:
                response = connection.getresponse()
                return response.status, response.getheader("set-cookie", ""), response.read()
            finally:
                connection.close()

        status, _cookie, page = request("GET", "/")
        assert status == 401
        assert b'type="password"' in page
        assert request("POST", "/sign-in", {"password": "wrong"})[0] == 401
        assert request("POST", "/sign-in", {"word": 1})[0] == 400
        assert request("POST", "/sign-in", {"password": "correct horse"}, origin="https://evil.example")[0] == 403
        status, cookie, body = request("POST", "/sign-in", {"password": "correct horse"})
        assert status == 200
        assert cookie.endswith("; Secure")
        signed_in = {"cookie": cookie.partition(";")[0], "x-tejat-key": json.loads(body)["key"]}
        assert request("GET", "/api/sessions", **signed_in)[0] == 200
        assert request("GET", "/api/sessions")[0] == 401
