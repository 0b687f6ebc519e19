"""Whom we believe over TLS: the system's trust store and whatever the environment adds to it."""

import os
import ssl
from collections.abc import Mapping
from concurrent.futures import Future

from tejat.workspace.http.background import in_background, result_of

# Where systems keep their certificates, for a Python that was built to look elsewhere.
_KNOWN_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
# Variables of other programs, which people set for the certificates of their own company.
_ADDITIONS = ("NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE")


class Trust:
    """One TLS context, made once, in the background. Verification cannot be turned off."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._complaints: list[str] = []
        self._making: Future[ssl.SSLContext] | None = None

    @property
    def complaints(self) -> list[str]:
        """What could not be loaded, by the name of its variable: worth saying when a certificate is not believed."""
        return list(self._complaints)

    def warm_up(self) -> None:
        """Begin to load the certificates, which takes as long as a small program."""
        if self._making is None:
            self._making = in_background(self._make)

    async def context(self) -> ssl.SSLContext:
        self.warm_up()
        assert self._making is not None
        return await result_of(self._making)

    def _make(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # checks the certificate and the name
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        # A company's own intermediate is enough, as it is for browsers.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        self._load_system(context)
        for variable in _ADDITIONS:
            self._load(context, variable)
        return context

    def _load_system(self, context: ssl.SSLContext) -> None:
        """What OpenSSL would take, but by the environment that we were given and not by the process's own."""
        usual = ssl.get_default_verify_paths()
        has_file = self._load(context, "SSL_CERT_FILE", usual.openssl_cafile)
        has_directory = self._load(context, "SSL_CERT_DIR", usual.openssl_capath)
        if not has_file and not has_directory:
            found = next((bundle for bundle in _KNOWN_BUNDLES if os.path.isfile(bundle)), None)
            if found is not None:
                context.load_verify_locations(cafile=found)

    def _load(self, context: ssl.SSLContext, variable: str, otherwise: str = "") -> bool:
        """Whether the variable named something, or its default exists."""
        named = self._environment.get(variable, "")
        path = named or otherwise
        if not path or (not named and not os.path.exists(path)):
            return False
        try:
            if os.path.isdir(path) or variable == "SSL_CERT_DIR":
                context.load_verify_locations(capath=path)
            else:
                context.load_verify_locations(cafile=path)
        except (OSError, ValueError):  # an SSLError is an OSError
            self._complaints.append(variable if named else path)
        return True
