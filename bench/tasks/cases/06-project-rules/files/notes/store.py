"""The file of notes."""

from pathlib import Path


class Store:
    def __init__(self, path):
        self.path = Path(path)

    def notes(self):
        """All notes, oldest first."""
        if not self.path.exists():
            return []
        return [line for line in self.path.read_text(encoding="utf-8").splitlines() if line.strip()]

    def add(self, note):
        with self.path.open("a", encoding="utf-8") as file:
            file.write(note + "\n")


def tags(note):
    """The tags of a note as they are written, without the `#`."""
    return [word[1:] for word in note.split() if word.startswith("#") and len(word) > 1]
