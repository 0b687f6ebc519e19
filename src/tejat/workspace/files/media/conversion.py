"""Conversion of media by the optional libraries Pillow and pypdf, each in a process of its own."""

import json
from collections.abc import Callable, Mapping

from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.workspace.files.media import media_worker
from tejat.workspace.files.media.image import ImageSize
from tejat.workspace.files.media.library_worker import LibraryMissing, WorkerFailure, run_worker

MAX_PDF_CHARACTERS = 10_000_000

_SCALED_SIDE = 2000
"""Pixels of the longer side of a scaled picture: more than any model looks at."""
_MAX_SECONDS = 60.0
_INSTALL = "pip install 'tejat[media]'"


class ScaledImage(Frozen):
    mime_type: str
    data: bytes
    size: ImageSize


class PdfText(Frozen):
    """The text of a document, page by page. `page_count` is that of the whole document."""

    pages: tuple[str, ...]
    page_count: int


class ConversionFailure(TejatError):
    """Media could not be converted. The message is a sentence that says why and what to do."""


def scale_image(data: bytes, stop: Callable[[], None]) -> ScaledImage:
    """Scale a picture down to a size that every service takes.

    Blocks; `stop` is called every 50 ms and its exceptions propagate. Raises ConversionFailure.
    """
    outcome, scaled = _run("PIL", {"task": media_worker.SCALE, "max_side": _SCALED_SIDE}, data, stop)
    size = ImageSize(int(str(outcome["width"])), int(str(outcome["height"])))
    return ScaledImage(str(outcome["mime_type"]), scaled, size)


def extract_pdf_text(data: bytes, stop: Callable[[], None]) -> PdfText:
    """Extract the text of a PDF document. Blocks and raises like `scale_image`."""
    task = {"task": media_worker.TEXT, "max_characters": MAX_PDF_CHARACTERS}
    outcome, text = _run("pypdf", task, data, stop)
    return PdfText(tuple(text.decode("utf-8", "replace").split("\f")), int(str(outcome["pages"])))


def _run(
    library: str, task: Mapping[str, object], data: bytes, stop: Callable[[], None]
) -> tuple[Mapping[str, object], bytes]:
    given = json.dumps(task).encode() + b"\n" + data
    try:
        answer = run_worker(media_worker.__file__, library, given, seconds=_MAX_SECONDS, stop=stop)
    except LibraryMissing:
        raise ConversionFailure(lazy("This needs an optional package: {command}", command=_INSTALL)) from None
    except WorkerFailure as failure:
        raise ConversionFailure(str(failure)) from None
    head, _, result = answer.partition(b"\n")
    outcome: dict[str, object] = json.loads(head)
    return outcome, result
