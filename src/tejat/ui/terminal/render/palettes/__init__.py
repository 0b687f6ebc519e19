"""Palettes of named themes, and the colour arithmetic behind them."""
