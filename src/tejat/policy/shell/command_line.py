"""Parsed shell command lines."""

from tejat.core.frozen import Frozen, field


class ShellCommand(Frozen):
    """One simple command at any depth of the line.

    `words` have their quotes removed; a word that is not literal is given as written. `is_plain` means that all words
    are literal, the name is neither quoted nor escaped, and nothing is assigned. Redirections belong to the line.
    `wrappers` are the commands it runs behind, outermost first: `("sudo", "env")`.
    """

    words: tuple[str, ...]
    is_plain: bool
    wrappers: tuple[str, ...] = ()

    def __hash__(self) -> int:  # a line may have thousands, each looked up many times
        return hash((self.words, self.is_plain, self.wrappers))

    @property
    def name(self) -> str:
        return self.words[0] if self.words else ""


class Redirection(Frozen):
    """A redirection. `target` is None if it is not a literal word; `text` is the word as written.

    `is_harmless` holds for /dev/null and other descriptors.
    """

    operator: str
    target: str | None
    writes: bool
    is_harmless: bool
    text: str = field(default="", compare=False)


class CommandLine(Frozen):
    """A parsed line.

    `commands` are all commands at any depth, wrappers as well as wrapped ones. `is_plain` holds for lists and pipelines
    of plain commands with at most harmless redirections. `is_opaque` means that it may run code that cannot be seen: it
    does not parse, a command name is computed, a builtin evaluates a string. `doubts` are the reasons why it is not
    plain. `program_names` are for display.
    """

    text: str
    commands: tuple[ShellCommand, ...]
    redirections: tuple[Redirection, ...]
    is_plain: bool
    is_opaque: bool
    doubts: tuple[str, ...]
    program_names: tuple[str, ...]
