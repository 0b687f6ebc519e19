"""Whom we believe, by the environment we were given."""

import asyncio
import ssl
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from support.certificates import Certificates, make_certificates, run_openssl
from tejat.workspace.http import tls
from tejat.workspace.http.tls import CertificateStore, certificate_paths


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def context(environment: dict[str, str]) -> tuple[ssl.SSLContext, list[str]]:
    certificate_store = CertificateStore(environment)
    return asyncio.run(certificate_store.context()), certificate_store.load_errors


def believes(server: ssl.SSLContext, client: ssl.SSLContext, name: str = "service.test") -> bool:
    """Whether a handshake between the two comes to its end."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(back, there, server_hostname=name),
        server.wrap_bio(there, back, server_side=True),
    ]
    for _ in range(10):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError:
                return False
    return ends[0].version() is not None and ends[1].version() is not None


def test_nobody_is_believed_without_a_reason(certificates: Certificates) -> None:
    made, complaints = context({})
    assert not believes(certificates.server, made)
    assert complaints == []


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"])
def test_a_file_of_certificates(certificates: Certificates, variable: str) -> None:
    made, complaints = context({variable: str(certificates.authority)})
    assert believes(certificates.server, made)
    assert complaints == []


@pytest.mark.parametrize("variable", ["SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"])
def test_a_directory_of_certificates(certificates: Certificates, tmp_path: Path, variable: str) -> None:
    (tmp_path / "ca.pem").write_bytes(certificates.authority.read_bytes())
    run_openssl(tmp_path, "rehash", ".")
    made, complaints = context({variable: str(tmp_path)})
    assert believes(certificates.server, made)
    assert complaints == []


def test_the_system_is_still_believed_beside_an_addition(certificates: Certificates) -> None:
    plain, _ = context({})
    more, _ = context({"NODE_EXTRA_CA_CERTS": str(certificates.authority)})
    assert len(more.get_ca_certs()) == len(plain.get_ca_certs()) + 1


def test_the_environment_of_the_process_does_not_count(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"):
        monkeypatch.setenv(variable, str(certificates.authority))
    made, _ = context({})
    assert not believes(certificates.server, made)


def test_a_wrong_name_and_an_old_certificate_are_not_believed(certificates: Certificates) -> None:
    made, _ = context({"SSL_CERT_FILE": str(certificates.authority)})
    assert not believes(certificates.server, made, name="other.test")
    assert not believes(certificates.expired, made)


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"])
def test_what_cannot_be_loaded_is_remembered_by_its_variable(tmp_path: Path, variable: str) -> None:
    (tmp_path / "no.pem").write_text("nothing")
    assert context({variable: str(tmp_path / "missing.pem")})[1] == [variable]
    assert context({variable: str(tmp_path / "no.pem")})[1] == [variable]


def test_verification_is_on_and_old_versions_are_off() -> None:
    made, _ = context({"PYTHONHTTPSVERIFY": "0", "NODE_TLS_REJECT_UNAUTHORIZED": "0"})
    assert (made.verify_mode, made.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert made.minimum_version is ssl.TLSVersion.TLSv1_2


class TestPlaces:
    def test_where_openssl_looks(self, certificates: Certificates, tmp_path: Path) -> None:
        (tmp_path / "0a1b2c3d.0").write_text("")
        file, directory = str(certificates.authority), str(tmp_path)
        found = certificate_paths({}, file=file, directory=directory)
        assert found == [(file, file), (directory, directory)]

    def test_the_variables_of_openssl_take_its_place_one_by_one(self, tmp_path: Path) -> None:
        (tmp_path / "0a1b2c3d.0").write_text("")
        (tmp_path / "file").write_text("")
        file, directory = str(tmp_path / "file"), str(tmp_path)
        assert certificate_paths({"SSL_CERT_FILE": "/a"}, file=file, directory=directory) == [
            (directory, directory),
            ("SSL_CERT_FILE", "/a"),
        ]
        assert certificate_paths({"SSL_CERT_DIR": "/a:/b"}, file=file, directory=directory) == [
            (file, file),
            ("SSL_CERT_DIR", "/a"),
            ("SSL_CERT_DIR", "/b"),
        ]

    def test_the_others_add_to_it(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        file = str(tmp_path / "file")
        environment = {"NODE_EXTRA_CA_CERTS": "/a", "REQUESTS_CA_BUNDLE": "/b", "SSL_CERT_FILE": ""}
        assert certificate_paths(environment, file=file, directory="/missing") == [
            (file, file),
            ("NODE_EXTRA_CA_CERTS", "/a"),
            ("REQUESTS_CA_BUNDLE", "/b"),
        ]

    def test_a_python_that_looks_in_the_wrong_place(
        self, certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bundle = str(certificates.authority)
        monkeypatch.setattr(tls, "_KNOWN_BUNDLES", ("/missing", bundle, str(tmp_path)))
        (tmp_path / "not-by-hash.pem").write_text("")
        assert certificate_paths({}, file="/missing", directory=str(tmp_path)) == [(bundle, bundle)]
        only = {"SSL_CERT_FILE": "/a"}
        assert certificate_paths(only, file="/missing", directory="/missing") == [("SSL_CERT_FILE", "/a")]


def test_the_context_is_made_once() -> None:
    async def main() -> bool:
        certificate_store = CertificateStore({})
        certificate_store.warm_up()
        certificate_store.warm_up()
        first, second = await asyncio.gather(certificate_store.context(), certificate_store.context())
        return first is second

    assert asyncio.run(main())


def test_nothing_is_made_before_it_is_wanted() -> None:
    before = set(threading.enumerate())
    CertificateStore({})
    assert not set(threading.enumerate()) - before


def test_the_end_of_a_process_waits_for_certificates_that_are_being_loaded(
    certificates: Certificates, tmp_path: Path
) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_text(certificates.authority.read_text() * 100)
    code = f"""
import atexit
from tejat.workspace.http.tls import CertificateStore

store = CertificateStore({{"SSL_CERT_FILE": {str(bundle)!r}}})
atexit.register(lambda: print(store._context.done()))
store.warm_up()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
