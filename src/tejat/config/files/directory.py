"""Creation of the user's own configuration and state directories."""

from tejat.config.paths import NO_HOME
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.workspace.files import private_files


def make_private_directory(path: str) -> str:
    """Create the directory and its parents with mode 0700, whatever the umask, and return its path.

    An existing directory is closed to others. Raises UsageError.
    """
    try:
        private_files.make_private_directory(path, follow_symlinks=True)
    except private_files.UnusableDirectory as error:
        raise UsageError(lazy("Cannot use {path}: {why}.", path=path, why=error.strerror)) from error
    except OSError as error:
        if path.startswith(f"{NO_HOME}/"):
            raise UsageError(lazy("No home directory found. Set HOME.")) from None
        raise UsageError(
            lazy("Could not create the directory {path}: {why}.", path=path, why=error.strerror)
        ) from error
    return path
