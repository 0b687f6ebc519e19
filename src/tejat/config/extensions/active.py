"""Extensions in use."""

from tejat.core.frozen import frozen


@frozen
class ActiveExtension:
    """An extension whose content was agreed to and checked. `path` is the directory with its files."""

    name: str
    version: str
    path: str
