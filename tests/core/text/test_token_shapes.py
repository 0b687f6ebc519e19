"""Keys and tokens by their shape."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.text.secret_mask import MASK, mask_tokens
from tejat.core.text.token_shapes import find_tokens, may_hold_tokens

# None of these is real. They are put together here so that no scanner finds one in this file.
TOKENS = [
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ASIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "11ABCDEFG0" + "_" + "a1B2c3D4" * 6,
    "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
    "xoxb-" + "123456789012-1234567890123-" + "a1B2c3D4e5F6",
    "xapp-" + "1-A0123456789-" + "a1B2c3D4e5F6",
    "AIza" + "SyA1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q",
    "ya29." + "a0AfH6SMBx-_abcdefghijkl",
    "GOCSPX-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4",
    "sk-" + "proj-" + "a1B2c3D4e5F6g7H8_i9-J0",
    "sk-" + "ant-api03-" + "a1B2c3D4e5F6g7H8i9J0",
    "sk-" + "a1B2c3D4" * 6,
    "sk_" + "live_" + "a1B2c3D4e5F6g7H8",
    "npm_" + "a1B2c3D4e" * 4,
    "pypi-" + "AgEIcHlwaS5vcmc" + "a1B2c3D4" * 8,
    "hf_" + "a1B2c3D4" * 4,
    "SG." + "a1B2c3D4e5F6g7H8i9J0k1" + "." + "a" * 43,
    "dop_v1_" + "0f" * 32,
    "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0In0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
]
WITH_CONTEXT = [
    ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"),
    ('"SecretAccessKey": "{}"', "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"),
    ("AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"),
    ("Authorization: Bearer {}", "a1B2c3D4e5F6g7H8i9J0"),
    ("authorization: Basic {}", "dXNlcjpwYXNzd29yZA=="),
    ("postgres://app:{}@db.example.com/x", "hunter2!"),
    ("https://hooks.slack.com/services/{}", "T00000000/B00000000/" + "X" * 24),
    ("AccountName=x;AccountKey={};", "a1B2" * 21 + "=="),
]
KEY_LINES = [
    "-----BEGIN " + "RSA PRIVATE KEY-----",
    "Proc-Type: 4,ENCRYPTED",
    "DEK-Info: AES-128-CBC,0123456789ABCDEF",
    "",
    *(f"{chr(65 + number)}{'a1B2c3D4e5F6g7H' * 4}" for number in range(12)),
    "Zm9v",
    "-----END " + "RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("around", ["{}", "a {} b", '{{"k": "{}"}}', "X={}\n", "({}),", "https://x.y/?t={}&z"])
def test_a_token_is_found_wherever_it_stands(token: str, around: str) -> None:
    assert mask_tokens(around.format(token)) == around.format(MASK)
    assert may_hold_tokens(json.dumps(around.format(token)).encode())


@pytest.mark.parametrize(("around", "secret"), WITH_CONTEXT)
def test_a_secret_is_found_by_what_stands_before_it(around: str, secret: str) -> None:
    assert mask_tokens(around.format(secret)) == around.format(MASK)
    assert may_hold_tokens(json.dumps(around.format(secret)).encode())


@pytest.mark.parametrize("prefix", ["", "+", "    ", "L{}: ", "{}| ", "> "])
def test_a_private_key_is_found_in_files_diffs_and_listings(prefix: str) -> None:
    text = "\n".join(prefix.format(number) + line for number, line in enumerate(KEY_LINES, 1))
    for written in (text, json.dumps(text), repr(text)):
        masked = mask_tokens(f"before {written}\nafter")
        assert masked.startswith("before ")
        assert masked.endswith("\nafter")
        assert re.search("a1B2|Zm9v|0123", masked) is None


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN " + "PRIVATE KEY----- begins a key, and much text follows it here.",
        "-----BEGIN " + "CERTIFICATE-----\n" + "a1B2" * 16 + "\n-----END CERTIFICATE-----",
        "sk-toggleable__content-for-a-notebook",
        "ssk-" + "a1B2c3D4" * 6,
        "0123456789abcdef0123456789abcdef01234567",
        "sha256-" + "a1B2" * 10 + "=",
        "a bearer of bad news; Basic access; npm_config_cache",
        "https://example.com:8080/a@b",
        "http://[::1]:8080/ git@github.com:me/x.git ssh://git@host/x",
        "postgres://${USER}:${PASSWORD}@host/x",
        "eyJhbGciOiJIUzI1NiJ9",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert find_tokens(text) == []


def test_source_code_stays() -> None:
    sources = Path(find_tokens.__code__.co_filename).parents[2].rglob("*.py")
    assert [path.name for path in sources if find_tokens(path.read_text())] == []


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*TOKENS, *KEY_LINES, " ", "\n", "a", "://a:", "@", "Bearer "]), max_size=12))
def test_masking_twice_changes_nothing_more(pieces: list[str]) -> None:
    text = "".join(pieces)
    once = mask_tokens(text)
    assert mask_tokens(once) == once
    assert may_hold_tokens(text.encode()) or once == text


HOSTILE = [KEY_LINES[0], "eyJ", "eyJa.", "://", "://a:", "secretaccesskey", "xoxa-", "A1|", "Abc: x\n"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = f"{KEY_LINES[0]}{piece * (1_000_000 // len(piece))}"
    began = time.process_time()
    mask_tokens(text)
    assert time.process_time() - began < 5
