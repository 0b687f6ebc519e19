"""Extensions in use."""

from tejat.core.frozen import frozen


@frozen
class ActiveExtension:
    """An extension whose content was agreed to and checked. `path` is the directory with its files.

    `plan_directory` is where it wants plans to be written, relative to the project; empty for nowhere.
    """

    name: str
    version: str
    path: str
    plan_directory: str = ""
