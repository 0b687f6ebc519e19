"""File type detection by name and first bytes."""

from enum import StrEnum

from tejat.core.frozen import frozen
from tejat.workspace.text.encoding import TextEncoding, detect_encoding


class FileKind(StrEnum):
    """The ways in which a file can be shown to a model. The values are shown to users."""

    TEXT = "text"
    IMAGE = "image"
    PDF = "pdf"
    AUDIO = "audio"
    VIDEO = "video"
    SVG = "svg"
    BINARY = "binary"


@frozen
class FileType:
    """A file's kind and MIME type; the encoding if the kind is TEXT or SVG, else None.

    The MIME type of AUDIO is in SUPPORTED_AUDIO unless no model supports the format.
    """

    kind: FileKind
    mime_type: str
    encoding: TextEncoding | None


SUPPORTED_AUDIO = {
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "aiff": "audio/aiff",
    "aif": "audio/aiff",
    "aac": "audio/aac",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
}


def classify_file(name: str, head: bytes, *, whole: bool) -> FileType:
    """Classify a file by its name or path and its first bytes. With `whole`, `head` is the entire content.

    Audio and video extensions are trusted unless the content is Unicode text; archive and program extensions always.
    """
    extension = _extension(name)
    if extension in _IMAGES:
        return FileType(FileKind.IMAGE, _IMAGES[extension], None)
    if extension == "pdf":
        return FileType(FileKind.PDF, "application/pdf", None)
    if extension in _BINARY_EXTENSIONS:
        return FileType(FileKind.BINARY, "application/octet-stream", None)
    encoding = detect_encoding(head, whole=whole)
    if extension in _AUDIO_AND_VIDEO and (encoding is None or not encoding.is_unicode):
        # Compressed audio without zero bytes looks like text in a legacy encoding.
        return FileType(*_AUDIO_AND_VIDEO[extension], None)
    if encoding is None:
        return FileType(FileKind.BINARY, "application/octet-stream", None)
    if extension == "svg":
        return FileType(FileKind.SVG, "image/svg+xml", encoding)
    return FileType(FileKind.TEXT, "text/plain", encoding)


def _extension(name: str) -> str:
    base = name[name.rfind("/") + 1 :]
    dot = base.rfind(".")
    # A leading dot hides a file, it does not begin an extension.
    return base[dot + 1 :].lower() if dot > 0 else ""


_IMAGES = {name: f"image/{name}" for name in ("png", "jpeg", "gif", "webp", "bmp")} | {"jpg": "image/jpeg"}

_OTHER_AUDIO = {
    "m4a": "audio/mp4",
    "wma": "audio/x-ms-wma",
    "opus": "audio/opus",
    "oga": "audio/ogg",
    "mid": "audio/midi",
    "midi": "audio/midi",
    "amr": "audio/amr",
    "weba": "audio/webm",
    "au": "audio/basic",
    "ra": "audio/x-realaudio",
}

# No "ts", "mts" or "cts": far more files of that name are TypeScript than video.
_VIDEOS = {
    "mp4": "video/mp4",
    "m4v": "video/mp4",
    "mpg": "video/mpeg",
    "mpeg": "video/mpeg",
    "mov": "video/quicktime",
    "qt": "video/quicktime",
    "avi": "video/x-msvideo",
    "webm": "video/webm",
    "mkv": "video/x-matroska",
    "flv": "video/x-flv",
    "wmv": "video/x-ms-wmv",
    "ogv": "video/ogg",
    "3gp": "video/3gpp",
}

_AUDIO_AND_VIDEO = {
    **{extension: (FileKind.AUDIO, mime_type) for extension, mime_type in (_OTHER_AUDIO | SUPPORTED_AUDIO).items()},
    **{extension: (FileKind.VIDEO, mime_type) for extension, mime_type in _VIDEOS.items()},
}

_BINARY_EXTENSIONS = frozenset(
    [
        *("zip", "tar", "gz", "bz2", "7z", "rar", "jar", "war", "pak", "rpa"),
        *("exe", "dll", "so", "dylib", "class", "obj", "o", "a", "lib", "wasm", "pyc", "pyo", "bin", "dat"),
        *("doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp"),
    ]
)
