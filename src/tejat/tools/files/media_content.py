"""Content of a picture, a document, a sound or a film for a model."""

from collections.abc import Callable

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import lazy
from tejat.core.messages.types import InlineData
from tejat.tools.files.display_path import relative_path
from tejat.workspace.files.handles.open_file import OpenFile
from tejat.workspace.files.media.file_type import SUPPORTED_AUDIO, FileKind, FileType
from tejat.workspace.files.media.image import MAX_SIDE, DamagedImage, read_image_size
from tejat.workspace.files.media.media_type import detect_media_type

MAX_MEDIA_BYTES = 20 * 2**20

_PDF_SIGNATURE_WITHIN = 1024
"""Bytes in which a PDF document must say that it is one."""


def read_media(file: OpenFile, found: FileType, stop: Callable[[], None]) -> tuple[InlineData, str]:
    """Return a whole picture, document, sound or film, and the text shown to the user. Raises ToolFailure."""
    location = file.location
    size = file.status.st_size
    if found.kind is FileKind.AUDIO and found.mime_type not in SUPPORTED_AUDIO.values():
        raise ToolFailure(
            lazy(
                "Cannot read audio file {location}: its format is not supported. Supported formats: {names}.",
                location=relative_path(location),
                names=", ".join(SUPPORTED_AUDIO),
            ),
            ErrorType.READ_CONTENT_FAILURE,
        )
    if size > MAX_MEDIA_BYTES:
        raise ToolFailure(
            lazy("File size exceeds the 20MB limit: {path} ({size:.2f}MB)", path=location.path, size=size / 2**20),
            ErrorType.FILE_TOO_LARGE,
            display=lazy("File size exceeds the 20MB limit."),
        )
    data = file.read(MAX_MEDIA_BYTES)
    path = relative_path(location)
    if not data:
        raise unusable_media(lazy("The {kind} file is empty: {path}", kind=found.kind.value, path=path))
    if found.kind is FileKind.PDF and b"%PDF-" not in data[:_PDF_SIGNATURE_WITHIN]:
        raise unusable_media(lazy("Not a valid PDF document: {path}", path=path))
    display = lazy("Read {kind} file: {path}", kind=found.kind.value, path=path)
    if found.kind is FileKind.IMAGE:
        return _image_content(InlineData(found.mime_type, data), path, display, stop)
    return InlineData(found.mime_type, data), display


def _image_content(image: InlineData, path: str, display: str, stop: Callable[[], None]) -> tuple[InlineData, str]:
    """Return a picture, scaled down if it is too large for services. Raises ToolFailure."""
    try:
        if detect_media_type(image.data) != image.mime_type:
            raise DamagedImage
        size = read_image_size(image.data, image.mime_type)
    except DamagedImage:
        raise unusable_media(lazy("The image is damaged or incomplete: {path}", path=path)) from None
    if size is None or max(size.width, size.height) <= MAX_SIDE:
        return image, display
    from tejat.workspace.files.media.conversion import ConversionFailure, scale_image

    try:
        scaled = scale_image(image.data, stop)
    except ConversionFailure as failure:
        message = lazy(
            "The image has {size} pixels; services accept at most {limit} per side: {path}. It could "
            "not be scaled down. {why}",
            size=size,
            limit=MAX_SIDE,
            path=path,
            why=failure,
        )
        raise unusable_media(message) from failure
    note = lazy("{display} (scaled down from {before} to {after})", display=display, before=size, after=scaled.size)
    return InlineData(scaled.mime_type, scaled.data), note


def unusable_media(message: str) -> ToolFailure:
    """The failure of a file that no service would take."""
    return ToolFailure(message, ErrorType.READ_CONTENT_FAILURE)
