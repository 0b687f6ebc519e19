"""Errors of the management of extensions."""

from tejat.core.errors import TejatError, UsageError
from tejat.workspace.downloads.failure import DownloadFailure


class ExtensionFailure(TejatError):
    """A command about extensions failed. The message is for the user."""


class NotConfirmed(TejatError):
    """The user said no, or could not be asked. Nothing was changed."""


FAILURES = (ExtensionFailure, DownloadFailure, UsageError)
"""Errors with a message for the user, after which everything is as it was."""
