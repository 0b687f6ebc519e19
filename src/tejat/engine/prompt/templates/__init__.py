"""What the model is told about its work, a Markdown file a subject."""

import os


def load_template(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), f"{name}.md"), encoding="utf-8") as file:
        return file.read().strip()
