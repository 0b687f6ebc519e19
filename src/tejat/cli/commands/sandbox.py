"""`tejat sandbox`: build the image of container sandboxes, and try the sandbox."""

import argparse
import subprocess
import sys

from tejat.app.run_config import load_run_config
from tejat.app.tools.sandbox.checks import sandbox_checks
from tejat.app.tools.sandbox.image import plan_image_build
from tejat.cli.command_parser import CommandParser, directory_argument
from tejat.cli.commands.doctor import print_checks
from tejat.cli.messages import one_line, print_error, print_usage_error
from tejat.cli.policy_flags import add_sandbox_flag
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_OK
from tejat.core.i18n import _
from tejat.core.json_text import dump_json


def run(words: list[str]) -> int:
    """Run `tejat sandbox` and return the exit code."""
    parser = make_parser()
    options = parser.parse_intermixed_args(words)
    try:
        match options.words:
            case ["build"]:
                return _build(options)
            case ["test"]:
                return _test(options)
            case _:
                return parser.reject_words(options.words)
    except UsageError as error:
        return print_usage_error(error)


def _build(options: argparse.Namespace) -> int:
    build = plan_image_build(load_run_config([options.root]), options.sandbox)
    print(_("Building {image} from {file}:", image=build.image, file=one_line(build.source)), file=sys.stderr)
    print(f"  {one_line(' '.join(build.command))}", file=sys.stderr, flush=True)
    done = subprocess.run(build.command, input=build.dockerfile, env=dict(build.environment), check=False)
    if done.returncode != 0:
        print_error(_("Could not build the image (exit code {code}).", code=done.returncode))
        return EXIT_FAILED
    print(_("Built {image}. Test it with: tejat sandbox test", image=build.image))
    return EXIT_OK


def _test(options: argparse.Namespace) -> int:
    checks = sandbox_checks(load_run_config([options.root]), [options.root], options.sandbox)
    if options.json:
        print(dump_json([check.to_json() for check in checks], indent=2))
    else:
        print_checks(checks)
    return next((check.exit_code for check in checks if check.exit_code), EXIT_OK)


def make_parser() -> CommandParser:
    """The parser of `tejat sandbox`."""
    parser = CommandParser(
        "tejat sandbox",
        _("Test what the sandbox enforces, or build the image for container sandboxes."),
        usages=("tejat sandbox test [--sandbox WORD] [--root DIR] [--json]", "tejat sandbox build [--sandbox WORD]"),
        actions=(("test", _("try the sandbox and report what it enforces")), ("build", _("build the container image"))),
        examples=(("tejat sandbox build --sandbox podman", _("build the image with podman")),),
        exit_codes=(
            ("0", _("done")),
            ("1", _("the image was not built")),
            ("2", _("bad usage")),
            ("44", _("the sandbox does not work")),
        ),
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument(
        "--root", default=".", type=directory_argument, metavar="DIR", help=_("the project directory (default: .)")
    )
    parser.add_argument("--json", action="store_true", help=_("print a JSON array"))
    add_sandbox_flag(parser)
    return parser
