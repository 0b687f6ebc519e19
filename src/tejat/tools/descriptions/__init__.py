"""Tool descriptions for the model, one Markdown file per tool."""

import os
from typing import TypedDict


class ToolLabels(TypedDict):
    name: str
    display_name: str
    description: str


def tool_labels(name: str, display_name: str) -> ToolLabels:
    """Names and description of a built-in tool, as arguments for its base class."""
    return {"name": name, "display_name": display_name, "description": load_description(name)}


def load_description(tool: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), f"{tool}.md"), encoding="utf-8") as file:
        return file.read().strip()
