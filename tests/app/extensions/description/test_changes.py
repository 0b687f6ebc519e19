"""Files that differ from what was agreed to."""

from tejat.app.extensions.description.changes import CodeChange, ExtensionFiles, TextChange, compare_files
from tejat.config.extensions.pins import FileIdentity, Pin


def pin(digest: str, *, runs: bool = False, inode: int = 1) -> Pin:
    return Pin(digest, is_executable=runs, identity=FileIdentity(1, inode, 1, 1, 1))


def test_nothing_changed() -> None:
    files = ExtensionFiles({"a": pin("1")}, {"b": pin("2")}, {"a": "x"})
    assert not compare_files(files, files)


def test_all_kinds_of_changes() -> None:
    old = ExtensionFiles({"a": pin("1"), "gone": pin("2")}, {"run": pin("3"), "same": pin("4")}, {"a": "x\n"})
    new = ExtensionFiles(
        {"a": pin("9"), "more": pin("5")}, {"run": pin("3", runs=True), "same": pin("4", inode=7)}, {"a": "y\n"}
    )
    changes = compare_files(old, new)
    assert [(each.path, each.kind) for each in changes.texts] == [
        ("a", "changed"),
        ("gone", "removed"),
        ("more", "added"),
    ]
    assert "-x\n+y" in changes.texts[0].patch
    assert changes.texts[1] == TextChange("gone", "", "removed")
    assert changes.code == (CodeChange("run", "changed"),)
    assert changes.to_json()["code"] == [{"path": "run", "kind": "changed"}]


def test_code_that_was_never_read() -> None:
    """Without a digest only an unchanged identity counts as unchanged."""
    old = ExtensionFiles({}, {"a": pin(""), "b": pin("")}, {})
    new = ExtensionFiles({}, {"a": pin("1"), "b": pin("1", inode=2)}, {})
    assert compare_files(old, new).code == (CodeChange("b", "changed"),)


def test_long_lists_are_shortened() -> None:
    new = ExtensionFiles({}, {f"f{number:03}": pin("1") for number in range(60)}, {})
    report = compare_files(ExtensionFiles({}, {}, {}), new).report()
    text = "\n".join(getattr(block, "text", "") for block in report.blocks)
    assert "60 files of code changed:" in text
    assert "and 10 more" in text
