"""The end of a check's output: bounded, and without secrets."""

from pathlib import Path

from tejat.batch.report.check_excerpt import MAX_LINES, read_excerpt


def test_the_last_lines(tmp_path: Path) -> None:
    file = tmp_path / "check.txt"
    file.write_text("".join(f"line {number}\n" for number in range(100)))
    assert read_excerpt(str(file)).splitlines() == [f"line {number}" for number in range(100 - MAX_LINES, 100)]


def test_long_lines_and_large_files_are_cut(tmp_path: Path) -> None:
    file = tmp_path / "check.txt"
    file.write_text(("x" * 5000 + "\n") * 1000)
    assert len(read_excerpt(str(file))) < 5000


def test_tokens_are_masked_and_bytes_decoded(tmp_path: Path) -> None:
    file = tmp_path / "check.txt"
    file.write_bytes(b"key AKIA" + b"IOSFODNN7EXAMPLE \xff\n")
    assert read_excerpt(str(file)) == "key *** \ufffd"


def test_without_a_file(tmp_path: Path) -> None:
    assert read_excerpt(str(tmp_path / "none")) == ""
    assert read_excerpt(str(tmp_path)) == ""
