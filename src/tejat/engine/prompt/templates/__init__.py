"""Prompt templates: Markdown files that the model reads."""

import os


def load_template(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), f"{name}.md"), encoding="utf-8") as file:
        return file.read().strip()
