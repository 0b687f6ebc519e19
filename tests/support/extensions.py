"""Extensions on the disk, as Gemini CLI and people leave them there."""

import json
from collections.abc import Mapping
from pathlib import Path


def write_extension(
    directory: Path,
    *,
    manifest: Mapping[str, object] | None = None,
    files: Mapping[str, str] | None = None,
    record: Mapping[str, object] | None = None,
    is_new: bool = False,
) -> Path:
    """Write an extension with the directory's name, installed from a local source unless it `is_new`."""
    directory.mkdir(parents=True, exist_ok=True)
    content = {"name": directory.name, "version": "1.0.0", **(manifest or {})}
    (directory / "gemini-extension.json").write_text(json.dumps(content, indent=2))
    for name, text in (files or {}).items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o755)
    if not is_new:
        installed = record or {"source": f"/src/{directory.name}", "type": "local"}
        (directory / ".gemini-extension-install.json").write_text(json.dumps(installed))
    return directory


def link_extension(directory: Path, source: Path) -> Path:
    """Link an extension, whose files stay in `source`."""
    directory.mkdir(parents=True)
    record = {"source": str(source), "type": "link"}
    (directory / ".gemini-extension-install.json").write_text(json.dumps(record))
    return directory
