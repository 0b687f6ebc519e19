"""Ids of sessions."""

import os


def new_session_id() -> str:
    """A random UUID, without the slow import of `uuid`."""
    digits = bytearray(os.urandom(16))
    digits[6] = digits[6] & 0x0F | 0x40
    digits[8] = digits[8] & 0x3F | 0x80
    text = digits.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
