"""Encoding, decoding and HTTP code that several services share."""
