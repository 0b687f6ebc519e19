"""TLS context with the system's certificates and those that the environment adds."""

import asyncio
import atexit
import os
import ssl
from collections.abc import Mapping
from concurrent import futures

from tejat.workspace.threads.daemon import start_daemon

# Locations on common systems, for a Python built with other defaults.
_KNOWN_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
# Variables of other programs, commonly set for a company's certificates.
_EXTRA_BUNDLE_VARIABLES = ("NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE")
_EXIT_SECONDS = 2.0
"""How long the end of the process waits for certificates that are still being loaded."""


class CertificateStore:
    """A TLS context, built once in the background. Verification cannot be disabled."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._load_errors: list[str] = []
        self._context: futures.Future[ssl.SSLContext] | None = None

    @property
    def load_errors(self) -> list[str]:
        """Names of variables whose certificates failed to load, for error messages."""
        return list(self._load_errors)

    def warm_up(self) -> None:
        """Start loading the certificates, which takes as long as starting a small program."""
        if self._context is None:
            self._context = start_daemon(self._build_context)
            # OpenSSL frees its tables when the process ends. A thread that still uses them would crash.
            atexit.register(futures.wait, (self._context,), _EXIT_SECONDS)

    async def context(self) -> "ssl.SSLContext":
        self.warm_up()
        assert self._context is not None
        return await asyncio.wrap_future(self._context)

    def _build_context(self) -> "ssl.SSLContext":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # verifies certificate and host name
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        # A company's intermediate certificate suffices, as in browsers.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        usual = ssl.get_default_verify_paths()
        paths = certificate_paths(self._environment, file=usual.openssl_cafile, directory=usual.openssl_capath)
        for name, path in paths:
            try:
                if os.path.isdir(path):
                    context.load_verify_locations(capath=path)
                else:
                    context.load_verify_locations(cafile=path)
            except (OSError, ValueError):  # SSLError is an OSError
                self._load_errors.append(name)
        return context


def certificate_paths(environment: Mapping[str, str], *, file: str, directory: str) -> list[tuple[str, str]]:
    """Return the files and directories to load, each with a name for error messages.

    `file` and `directory` are OpenSSL's defaults. OpenSSL's two variables replace them, as set in the given
    environment, not in that of the process.
    """
    named = [(name, environment[name]) for name in ("SSL_CERT_FILE", *_EXTRA_BUNDLE_VARIABLES) if environment.get(name)]
    directories = environment.get("SSL_CERT_DIR", "").split(os.pathsep)
    named += [("SSL_CERT_DIR", path) for path in directories if path]
    names = {name for name, _ in named}
    system: list[str] = []
    if "SSL_CERT_FILE" not in names and os.path.isfile(file):
        system.append(file)
    if "SSL_CERT_DIR" not in names and _has_certificates(directory):
        system.append(directory)
    if not system and names.isdisjoint({"SSL_CERT_FILE", "SSL_CERT_DIR"}):
        system += [bundle for bundle in _KNOWN_BUNDLES if os.path.isfile(bundle)][:1]
    return [*((path, path) for path in system), *named]


def _has_certificates(directory: str) -> bool:
    """Return whether OpenSSL finds certificates there: their names are hashes."""
    try:
        return any(name.endswith(".0") for name in os.listdir(directory))
    except OSError:
        return False
