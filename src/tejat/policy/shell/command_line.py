"""A shell line taken apart with the grammar of bash: every command in it, and how sure we are of that."""

from tejat.core.frozen import field, frozen


@frozen
class ShellCommand:
    """One simple command, wherever in the line it stands.

    `words` are the values after quotes are removed; a word that is not literal is given as it is written. `is_plain`
    says that all of them are literal, the name is neither quoted nor escaped, and nothing is assigned. Redirections are
    judged with the line.
    `via` are the wrappers it was found behind, outermost first: `("sudo", "env")`.
    """

    words: tuple[str, ...]
    is_plain: bool
    wrappers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.words[0] if self.words else ""


@frozen
class Redirection:
    """`target` is None where it is not a literal word, and `text` what is written there then.

    `is_harmless`: to /dev/null or another descriptor.
    """

    operator: str
    target: str | None
    writes: bool
    is_harmless: bool
    text: str = field(default="", compare=False)


@frozen
class CommandLine:
    """What a line is made of.

    `commands` holds every command at any depth, wrappers and what they wrap alike. `is_plain`: lists and pipelines of
    plain commands and nothing else; harmless redirections are plain too. `is_opaque`: something in it may run code that
    cannot be seen (it does not parse, the name of a command is computed, a builtin evaluates a string). `doubts` say in
    words why it is not plain. `roots` are the names to show a person.
    """

    text: str
    commands: tuple[ShellCommand, ...]
    redirections: tuple[Redirection, ...]
    is_plain: bool
    is_opaque: bool
    doubts: tuple[str, ...]
    program_names: tuple[str, ...]
