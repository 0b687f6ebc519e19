"""The error of a package that cannot be fetched."""

from tejat.core.errors import TejatError


class DownloadFailure(TejatError):
    """A package was not fetched. The message says why and, where something helps, what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
