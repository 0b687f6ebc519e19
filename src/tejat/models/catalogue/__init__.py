"""The catalogue of models: names, context windows, prices, aliases and fallback chains, as data."""
