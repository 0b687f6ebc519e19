"""The variables without effect are those that nothing reads."""

from support.source_tree import SOURCE
from tejat.app.setup.variables import INEFFECTIVE_VARIABLES


def test_nothing_reads_them() -> None:
    texts = {
        path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
        for path in SOURCE.rglob("*.py")
        if path.name != "variables.py"
    }
    read = {
        name: file
        for name in INEFFECTIVE_VARIABLES
        for file, text in texts.items()
        if f'get("{name}"' in text or f'["{name}"]' in text
    }
    assert read == {}
