"""SHA-256 with and without OpenSSL."""

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.text.digest import sha256


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


@given(pieces=st.lists(st.binary(max_size=200)))
def test_pieces_are_hashed_one_after_the_other(pieces: list[bytes]) -> None:
    assert sha256(*pieces).digest() == hashlib.sha256(b"".join(pieces)).digest()


def test_views_are_hashed_as_their_bytes() -> None:
    assert sha256(memoryview(b"abc"), b"").hexdigest() == hashlib.sha256(b"abc").hexdigest()


@pytest.mark.parametrize(("size", "uses_openssl"), [(0, False), (50_000, False), (1_000_000, True)])
def test_only_large_data_loads_openssl(size: int, uses_openssl: bool) -> None:
    script = f"import sys; from tejat.core.text.digest import sha256; print(sha256(b'a' * {size}).hexdigest())"
    found, loaded = run(f"{script}; print('_hashlib' in sys.modules)").split()
    assert (found, loaded) == (hashlib.sha256(b"a" * size).hexdigest(), str(uses_openssl))


def test_a_python_without_its_own_sha256_uses_hashlib() -> None:
    script = "import sys; sys.modules.update(_sha2=None, _sha256=None); from tejat.core.text.digest import sha256; "
    assert run(f"{script}print(sha256(b'abc').hexdigest())") == hashlib.sha256(b"abc").hexdigest()
