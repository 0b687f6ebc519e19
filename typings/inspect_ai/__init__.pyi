"""The part of inspect-ai 0.3.285 that `tejat.integrations.inspect_swe` uses. It is no dependency."""
