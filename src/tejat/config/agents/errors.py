"""The error for the file of a sub-agent that cannot be used."""


class BrokenAgent(ValueError):
    """A file that defines no usable agent. The message is the reason, without the name of the file."""
