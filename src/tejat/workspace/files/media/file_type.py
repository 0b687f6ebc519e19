"""File type detection by first bytes and name."""

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.media.media_type import detect_media_type
from tejat.workspace.text.encoding import TextEncoding, detect_encoding


class FileKind(StrEnum):
    """The ways in which a file can be shown to a model. The values are shown to users."""

    TEXT = "text"
    IMAGE = "image"
    PDF = "pdf"
    AUDIO = "audio"
    VIDEO = "video"
    BINARY = "binary"


class FileType(Frozen):
    """A file's kind and MIME type; the encoding if the kind is TEXT, else None.

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
    """Classify a file by its first bytes and its name or path. With `whole`, `head` is the entire content.

    Media are typed by their content. Where that tells nothing, the extensions of media are trusted unless the content
    is Unicode text; archive and program extensions are always trusted.
    """
    extension = _extension(name)
    if extension in _BINARY_EXTENSIONS:
        return FileType(FileKind.BINARY, "application/octet-stream", None)
    encoding = detect_encoding(head, whole=whole)
    is_unicode = head != b"" and encoding is not None and encoding.is_unicode
    named = _MEDIA.get(extension)
    detected = detect_media_type(head)
    if detected == _PDF and extension == "pdf":
        return FileType(FileKind.PDF, _PDF, None)
    if detected is not None and not is_unicode and (named is not None or not detected.startswith("audio/")):
        return FileType(_kind_of(detected), detected, None)
    if named is not None and not is_unicode:
        # Compressed audio without zero bytes looks like text in a legacy encoding.
        return FileType(*named, None)
    if encoding is None:
        return FileType(FileKind.BINARY, "application/octet-stream", None)
    return FileType(FileKind.TEXT, "image/svg+xml" if extension == "svg" else "text/plain", encoding)


def _kind_of(mime_type: str) -> FileKind:
    return FileKind.PDF if mime_type == _PDF else FileKind(mime_type.partition("/")[0])


def _extension(name: str) -> str:
    base = name[name.rfind("/") + 1 :]
    dot = base.rfind(".")
    # A leading dot hides a file, it does not begin an extension.
    return base[dot + 1 :].lower() if dot > 0 else ""


_PDF = "application/pdf"
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

_MEDIA = {
    "pdf": (FileKind.PDF, _PDF),
    **{extension: (FileKind.IMAGE, mime_type) for extension, mime_type in _IMAGES.items()},
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
