"""Certificates for local servers, signed by a test authority."""

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


@dataclass(frozen=True)
class Certificates:
    """`authority` is the file to trust; `server` is valid for its names, `expired` has expired."""

    authority: Path
    server: ssl.SSLContext
    expired: ssl.SSLContext


def make_certificates(directory: Path, *, names: str = "DNS:service.test,IP:127.0.0.1") -> Certificates:
    run_openssl(
        directory, "req", "-x509", *KEY, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Our own"
    )
    extensions = directory / "extensions"
    extensions.write_text(f"subjectAltName={names}\n")
    for name, days in (("server", "2"), ("expired", "-1")):
        run_openssl(
            directory, "req", *KEY, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=service.test"
        )
        signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "extensions", "-days", days]
        run_openssl(directory, "x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", *signing)
    return Certificates(directory / "ca.pem", *(server_context(directory, name) for name in ("server", "expired")))


def server_context(directory: Path, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / f"{name}.pem", directory / f"{name}.key")
    return context


def run_openssl(directory: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, check=True)
