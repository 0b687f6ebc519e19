"""System prompts of the built-in sub-agents: Markdown files."""

import os


def load_prompt(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), f"{name}.md"), encoding="utf-8") as file:
        return file.read().strip()
