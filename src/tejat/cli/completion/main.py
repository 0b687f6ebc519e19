"""`tejat completion`: print the completion script of a shell."""

from tejat.cli.command_parser import CommandParser
from tejat.cli.completion.bash import bash_script
from tejat.cli.completion.fish import fish_script
from tejat.cli.completion.grammar import read_grammar
from tejat.cli.completion.zsh import zsh_script
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Run `tejat completion` and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(words)
    match options.words:
        case [("bash" | "zsh" | "fish") as shell]:
            print(_WRITERS[shell](read_grammar()), end="")
            return EXIT_OK
        case _:
            return parser.reject_words(options.words)


def make_parser() -> CommandParser:
    """The parser of `tejat completion`."""
    parser = CommandParser(
        "tejat completion",
        _(
            "Print a script that completes commands, flags, models, sessions, tools and MCP servers in your "
            "shell. Install it once, and again after updating tejat."
        ),
        usages=("tejat completion bash|zsh|fish",),
        actions=(("bash", _("script for bash")), ("zsh", _("script for zsh")), ("fish", _("script for fish"))),
        examples=(
            ("tejat completion bash > ~/.local/share/bash-completion/completions/tejat", ""),
            ('tejat completion zsh > "${fpath[1]}/_tejat"', ""),
            ("tejat completion fish > ~/.config/fish/completions/tejat.fish", ""),
            ("source <(tejat completion bash)", _("for this shell only")),
        ),
    )
    parser.add_argument("words", nargs="*")
    return parser


_WRITERS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
