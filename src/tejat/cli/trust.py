"""`tejat trust`: what a folder brings along, and whether that counts."""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from typing import assert_never

from tejat.cli.confirm import can_ask
from tejat.cli.style import Style
from tejat.config.places import Places, places_of
from tejat.config.trust import Trust, TrustLevel, forget_folder, listed, trust_folder
from tejat.config.trust_renewal import lasting_trust
from tejat.config.trust_store import TrustItem
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_NOT_CONFIRMED, EXIT_OK, EXIT_USAGE
from tejat.core.json_text import dump_json
from tejat.core.types import JsonObject
from tejat.core.visible import visible
from tejat.core.words import say, translated


def run(words: list[str], environment: Mapping[str, str]) -> int:
    """Run `tejat trust` with these words and return the exit code."""
    options = _parser().parse_args(words)
    places = places_of(environment)
    try:
        if options.list:
            return _list(places, as_json=options.json)
        if options.revoke is not None:
            return _revoke(places, options.revoke, environment)
        if options.never is not None:
            return _never(places, options.never)
        return _trust(places, options, environment)
    except UsageError as error:
        print(f"tejat: {visible(translated(error))}", file=sys.stderr)
        return EXIT_CONFIGURATION if isinstance(error, ConfigurationError) else EXIT_USAGE


def _trust(places: Places, options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    root = os.path.abspath(options.directory)
    trust = lasting_trust(places, root, environment)
    if options.json:
        print(dump_json(_to_json(root, trust), indent=2))
        return EXIT_OK
    _show(root, trust)
    if trust.is_trusted and not options.yes:
        return EXIT_OK
    if trust.problem is not None:
        return EXIT_CONFIGURATION
    if not options.yes:
        if not can_ask():
            told = say("nobody is here to say yes. With --yes it is trusted without asking.")
            print(f"tejat: {told}", file=sys.stderr)
            return EXIT_NOT_CONFIRMED
        if not _agrees():
            print(say("Nothing was changed."), file=sys.stderr)
            return EXIT_NOT_CONFIRMED
    # What was shown is what is trusted, whatever became of it meanwhile.
    trust_folder(places, root, items=trust.items)
    print(say("Trusted: {folder}", folder=_on_one_line(root)))
    return EXIT_OK


def _list(places: Places, *, as_json: bool) -> int:
    folders = listed(places)
    if as_json:
        entries: list[JsonObject] = [
            {"path": folder.path, "level": folder.level, "when": folder.when, "byGemini": folder.by_gemini}
            for folder in folders
        ]
        print(dump_json(entries, indent=2))
        return EXIT_OK
    for folder in folders:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(folder.when))
        note = f"  {say('(you told Gemini CLI)')}" if folder.by_gemini else ""
        print(f"{_level(folder.level).ljust(11)}  {when}  {_on_one_line(folder.path)}{note}")
    if not folders:
        print(say("Nothing was decided about any folder yet."))
    return EXIT_OK


def _level(level: TrustLevel) -> str:
    match level:
        case TrustLevel.TRUSTED:
            return say("trusted")
        case TrustLevel.NOT_TRUSTED:
            return say("not trusted")
        case TrustLevel.UNKNOWN:
            return say("unknown")
        case TrustLevel.CHANGED:
            return say("changed")
        case _:
            assert_never(level)


def _revoke(places: Places, directory: str, environment: Mapping[str, str]) -> int:
    root = os.path.abspath(directory)
    if forget_folder(places, root):
        print(say("Forgotten: {folder}", folder=_on_one_line(root)))
    else:
        print(say("Nothing was decided about {folder}.", folder=_on_one_line(root)))
    if os.path.isdir(root):
        trust = lasting_trust(places, root, environment)
        if trust.is_trusted:
            print(say("{reason} `tejat trust --never` overrules that.", reason=_on_one_line(trust.reason)))
    return EXIT_OK


def _never(places: Places, directory: str) -> int:
    root = os.path.abspath(directory)
    trust_folder(places, root, level=TrustLevel.NOT_TRUSTED)
    print(say("Never trusted, with everything in it: {folder}", folder=_on_one_line(root)))
    return EXIT_OK


def _show(root: str, trust: Trust) -> None:
    style = Style(sys.stdout)
    print(style.bold(_on_one_line(root)))
    changes = {item.path: say("gone") if item.what == "gone" else say("changed") for item in trust.changed}
    gone = [item for item in trust.changed if item.what == "gone"]
    for item in (*trust.items, *gone):
        _show_item(item, changes.get(item.path))
    if not trust.items and not gone:
        print(f"  {say('brings nothing along that needs trust')}")
    print(_on_one_line(trust.reason))


def _show_item(item: TrustItem, change: str | None) -> None:
    what = "" if item.what == "gone" else f"{translated(item.shown)}  "
    print(f"  {what}{_on_one_line(item.path)}{f'  ({change})' if change else ''}")
    for line in item.says:
        print(f"      {_on_one_line(line)}")


def _on_one_line(text: str) -> str:
    """Text that can pass for no other line of ours."""
    return visible(translated(text)).replace("\n", "<U+000A>")


def _agrees() -> bool:
    print(say("Trust this folder as it is now? [y]es / [n]o:"), end=" ", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        print(file=sys.stderr)
    return line.strip().lower() in ("y", "yes")


def _to_json(root: str, trust: Trust) -> JsonObject:
    return {
        "path": root,
        "level": trust.level,
        "reason": trust.reason,
        "items": [item._asdict() for item in trust.items],
        "changed": [item.path for item in trust.changed],
    }


def _epilog() -> str:
    return say("""\
A folder that is not trusted can be worked in, but its own settings, MCP servers, hooks, commands and environment file
are left alone. Trust is for the folder as it is now: when one of these files changes, it ends until you look again.

exit codes: 0 done, 2 bad usage, 3 not confirmed, 52 the file with what was decided cannot be relied on
""")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tejat trust",
        description=say("Show what a folder brings along, and trust it after a yes."),
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("directory", nargs="?", default=".", metavar="DIR", help=say("the folder (default: .)"))
    parser.add_argument("--yes", action="store_true", help=say("trust it without asking"))
    parser.add_argument("--json", action="store_true", help=say("print JSON and ask nothing"))
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help=say("show what was decided about folders"))
    instead.add_argument("--revoke", metavar="DIR", help=say("forget what was decided about a folder"))
    instead.add_argument("--never", metavar="DIR", help=say("never trust a folder and what is in it"))
    return parser
