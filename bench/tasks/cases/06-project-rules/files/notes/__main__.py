"""`python3 -m notes COMMAND ...`."""

import json
import os
import sys
from importlib import import_module
from pathlib import Path

from notes.store import Store

HELP = Path(__file__).parent.parent / "docs" / "commands.json"


def main(arguments):
    commands = json.loads(HELP.read_text(encoding="utf-8"))
    if not arguments or arguments[0] not in commands:
        for name, text in commands.items():
            print(f"{name:10} {text}", file=sys.stderr)
        return 64
    module = import_module(f"notes.commands.{arguments[0]}")
    return module.run(arguments[1:], Store(os.environ.get("NOTES_FILE", "notes.txt")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
