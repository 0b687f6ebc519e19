"""Errors of the management of extensions."""

from tejat.core.errors import TejatError


class ExtensionFailure(TejatError):
    """A command about extensions failed. The message is for the user."""


class NotConfirmed(TejatError):
    """The user said no, or could not be asked. Nothing was changed."""
