"""Masking of secrets for export: what is masked, what stays, and the count."""

import pytest

from tejat.app.inspection.export_mask import ExportMask
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, Opaque, Text, Thought

OWN = "my-own-secret-value-123"
PEM = "\n".join(
    [
        "-----BEGIN PRIVATE KEY-----",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
        "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
        "-----END PRIVATE KEY-----",
    ]
)


@pytest.mark.parametrize(
    "secret",
    [
        OWN,
        "ghp_" + "a1B2" * 9,
        "sk-proj-" + "abcd1234" * 3,
        "AKIA" + "ABCD1234" * 2,
        PEM,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghij1234",
    ],
)
def test_secrets_of_known_values_and_shapes_are_masked(secret: str) -> None:
    mask = ExportMask({"OWN": OWN})
    shown = mask.mask_text(f"before {secret} after {secret}")
    assert secret.split("\n")[1 if "\n" in secret else 0] not in shown
    assert shown.startswith("before ")
    assert mask.count == 2


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("API_KEY=Xk29dk2Lsk20dkwl", "API_KEY=***"),
        ('"client_secret": "Xk29dk2Lsk20dkwl"', '"client_secret": "***"'),
        ("password: Xk29dk2Lsk20dkwl", "password: ***"),
        ("Authorization: Bearer abcdefghij0123456789", "Authorization: Bearer ***"),
        ("db = postgres://user:hunter22@host/db", "db = postgres://user:***@host/db"),
    ],
)
def test_names_show_that_values_are_secret(text: str, masked: str) -> None:
    mask = ExportMask({})
    assert mask.mask_text(text) == masked
    assert mask.count == 1


@pytest.mark.parametrize(
    "text",
    [
        "token = get_token_from_environment()",
        "max_tokens: 1000000000000000000",
        "key = self.cache_key",
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "The secret: nothing",
        "file_path = /home/user/project1/src/module2.py",
        "password_file = /home/user/project1/password22",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    mask = ExportMask({"OWN": OWN})
    assert mask.mask_text(text) == text
    assert mask.count == 0


def test_every_part_of_a_message_is_masked() -> None:
    mask = ExportMask({"OWN": OWN})
    data = InlineData("image/png", b"123")
    parts = (
        Text(OWN),
        Thought(OWN),
        FunctionCall("f", {"a": [OWN, 1], "token": "Xk29dk2Lsk20dkwl"}),
        FunctionResponse("f", {"output": {"b": OWN}}),
        Opaque("v", {"c": OWN}),
        data,
    )
    (message,) = mask.mask_messages([Message(Role.MODEL, parts)])
    assert OWN not in repr(message.parts)
    assert message.parts[2] == FunctionCall("f", {"a": ["[the secret OWN]", 1], "token": "***"})
    assert message.parts[-1] is data
    assert mask.count == 6


def test_a_long_text_takes_linear_time() -> None:
    text = "key=" * 500_000 + "a" * 1_000_000
    assert ExportMask({}).mask_text(text) == text
