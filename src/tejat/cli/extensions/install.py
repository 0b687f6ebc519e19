"""`tejat extensions install`: fetch an extension, show what it does, ask, and install it."""

from tejat.app.extensions.installer import InstallOptions
from tejat.cli.command_parser import CommandParser
from tejat.cli.extensions.runtime import add_consent_flags, exit_codes, run_command
from tejat.core.i18n import _


def run(words: list[str]) -> int:
    """Install an extension and return the exit code."""
    options = make_parser().parse_args(words)
    flags = InstallOptions(
        ref=options.ref,
        pre_release=options.pre_release,
        auto_update=options.auto_update,
        skip_settings=options.skip_settings,
    )
    return run_command(lambda runtime: runtime.installer.install(options.source, flags), agrees=options.yes)


def make_parser() -> CommandParser:
    """The parser of `tejat extensions install`."""
    parser = CommandParser(
        "tejat extensions install",
        _(
            "Install an extension. Everything that it runs, reaches, gets and tells the model is shown first. Nothing "
            "of it is run, and no package manager is called."
        ),
        usages=("tejat extensions install SOURCE [options]",),
        notes=_(
            "SOURCE is an https:// or ssh:// address, git@host:path, github:owner/name, gitlab:owner/name, a "
            "directory, or a .tar.gz or .zip file. For GitHub, the latest release is used if there is one. "
            "GITHUB_TOKEN or GH_TOKEN is sent to the API of GitHub only."
        ),
        examples=(
            ("tejat extensions install github:owner/name", ""),
            ("tejat extensions install https://github.com/owner/name --ref v1.2.0", ""),
            ("tejat extensions install ./my-extension", ""),
        ),
        exit_codes=exit_codes(),
    )
    parser.add_argument("source", metavar="SOURCE", help=_("where the extension comes from"))
    parser.add_argument("--ref", default="", metavar="REF", help=_("branch, tag or commit"))
    parser.add_argument("--pre-release", action="store_true", help=_("use the newest release, even a pre-release"))
    parser.add_argument(
        "--auto-update", action="store_true", help=_("record autoUpdate for Gemini CLI; Tejat always asks")
    )
    parser.add_argument("--skip-settings", action="store_true", help=_("do not ask for the values that it needs"))
    add_consent_flags(parser)
    return parser
