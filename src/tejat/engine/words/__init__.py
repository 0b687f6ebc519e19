"""What the model is told about its work, a Markdown file a subject."""

import os


def words_about(subject: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), f"{subject}.md"), encoding="utf-8") as file:
        return file.read().strip()
