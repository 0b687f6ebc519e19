"""Tool descriptions for the model, one Markdown file per tool."""

import os


def load_description(tool: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), f"{tool}.md"), encoding="utf-8") as file:
        return file.read().strip()
