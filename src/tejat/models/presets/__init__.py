"""Model presets: named generation settings, as in `modelConfigs` of Gemini CLI."""
