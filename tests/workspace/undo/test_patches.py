"""Changes are shown as patches where there is text, as a line where there is none, and never without end."""

from tejat.core.undo import PathChange, PathKind, PathState
from tejat.workspace.undo.content_store import sha256_digest
from tejat.workspace.undo.patches import render_patches


def shown(before: PathState | None, after: PathState | None, *contents: bytes) -> list[str]:
    kept = {sha256_digest(content): content for content in contents}
    return render_patches([PathChange("/r", "p", before=before, after=after)], kept.get)


def file(content: bytes, mode: int = 0o644) -> PathState:
    return PathState(PathKind.FILE, permissions=mode, size=len(content), digest=sha256_digest(content))


def test_text() -> None:
    (patch,) = shown(file(b"a\xff\n"), file(b"b\n"), b"a\xff\n", b"b\n")
    assert patch == f"Index: /r/p\n{'=' * 67}\n--- /r/p\tBefore\n+++ /r/p\tAfter\n@@ -1,1 +1,1 @@\n-a\udcff\n+b\n"


def test_lines() -> None:
    link, directory = PathState(PathKind.LINK, target="t"), PathState(PathKind.DIRECTORY, permissions=0o755)
    assert shown(None, link) == ["/r/p: created (link to t)\n"]
    assert shown(directory, None) == ["/r/p: removed (directory)\n"]
    assert shown(directory, file(b"x"), b"x") == ["/r/p: changed (directory, now file of 1 bytes)\n"]
    assert shown(None, file(b"\0"), b"\0") == ["/r/p: created (file of 1 bytes)\n"]
    assert shown(file(b"not kept"), None) == ["/r/p: removed (file of 8 bytes)\n"]
    assert shown(file(b"x"), file(b"x", 0o600), b"x") == ["/r/p: permissions changed from 0644 to 0600\n"]


def test_bounded() -> None:
    content = b"".join(b"line %d\n" % number for number in range(20_000))
    change = PathChange("/r", "p", before=None, after=file(content))
    pieces = render_patches([change] * 100, {sha256_digest(content): content}.get)
    assert sum(map(len, pieces)) < 3_000_000
    assert pieces[-1] == "... and more, which is not shown.\n"
