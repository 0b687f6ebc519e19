"""Worker program that scales pictures and extracts the text of PDF documents.

It is isolated because hostile files exhaust memory or time. It runs as a file, without the rest of the package, with
the directory of Pillow or pypdf as its argument. Input: a line of JSON with the task, then the file. Output: a line of
JSON, then the result.
"""

import io
import json
import resource
import sys
from typing import Any

MAX_MEMORY = 3 << 29
MAX_SECONDS = 30

SCALE = "scale"
TEXT = "text"


def main() -> None:
    """Do the task on standard input. Exits with a status other than 0 on failure."""
    for what, limit in (
        (resource.RLIMIT_CPU, MAX_SECONDS),
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CORE, 0),
    ):
        _limit(what, limit)
    sys.path.append(sys.argv[1])
    task = json.loads(sys.stdin.buffer.readline())
    outcome, result = (_scale if task["task"] == SCALE else _extract_text)(sys.stdin.buffer.read(), task)
    sys.stdout.buffer.write(json.dumps(outcome).encode("ascii") + b"\n" + result)


def _scale(data: bytes, task: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    from PIL import Image

    # The size of the picture is limited by the memory of this process.
    Image.MAX_IMAGE_PIXELS = None
    longest = (task["max_side"], task["max_side"])
    written = io.BytesIO()
    with Image.open(io.BytesIO(data)) as opened:
        kind = opened.format if opened.format in ("JPEG", "WEBP") else "PNG"
        opened.draft(None, longest)
        image: Image.Image = opened
        if opened.mode not in ("L", "LA", "RGB", "RGBA"):
            image = opened.convert("RGBA" if "transparency" in opened.info and kind != "JPEG" else "RGB")
        image.thumbnail(longest, reducing_gap=2.0)
        image.save(written, kind)
    outcome = {"mime_type": f"image/{kind.lower()}", "width": image.width, "height": image.height}
    return outcome, written.getvalue()


def _extract_text(data: bytes, task: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    from pypdf import PdfReader

    document = PdfReader(io.BytesIO(data))
    pages: list[str] = []
    length = 0
    for page in document.pages:
        pages.append(page.extract_text().strip())
        length += len(pages[-1])
        if length > task["max_characters"]:
            break
    outcome = {"pages": len(document.pages)}
    return outcome, "\f".join(pages).encode("utf-8", "replace")


def _limit(what: int, limit: int) -> None:
    _, hard = resource.getrlimit(what)
    allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    try:
        resource.setrlimit(what, (allowed, hard))
    except (ValueError, OSError):  # not every system limits everything
        return


if __name__ == "__main__":
    main()
