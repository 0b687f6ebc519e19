"""Effects of git commands, derived from global options, subcommand and its options."""

from collections.abc import Callable, Mapping, Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.policy.shell.words import word_set

_GLOBAL_VALUES = word_set(
    "-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source --exec-path"
)
# Settings and repositories can name programs that git runs.
_GLOBAL_RUNNING = word_set("-c --config-env --exec-path --git-dir --work-tree -p --paginate")

_READ_ONLY_SUBCOMMANDS = word_set(
    """
    annotate blame cat-file check-attr check-ignore check-mailmap check-ref-format cherry count-objects describe
    diff diff-files diff-index diff-tree for-each-ref fsck grep log ls-files ls-tree merge-base merge-tree name-rev
    range-diff rev-list rev-parse shortlog show show-branch show-ref status verify-commit verify-tag version
    whatchanged
    """
)
_SUBCOMMANDS = word_set(
    """
    add am apply archive backfill bisect branch bugreport bundle cat-file check-ref-format checkout checkout-index
    cherry-pick citool clean clone column commit commit-graph commit-tree config credential credential-cache
    credential-store daemon diagnose difftool fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg
    format-patch for-each-repo fsmonitor--daemon gc get-tar-commit-id gui hash-object help hook http-backend imap-send
    index-pack init init-db instaweb interpret-trailers last-modified ls-remote mailinfo mailsplit maintenance merge
    merge-file merge-index merge-one-file mergetool mktag mktree multi-pack-index mv notes p4 pack-objects
    pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport read-tree rebase receive-pack reflog
    refs remote repack replace replay request-pull rerere reset restore revert rm scalar send-email send-pack shell
    sparse-checkout stage stash stripspace submodule svn switch symbolic-ref tag unpack-file unpack-objects
    update-index update-ref update-server-info upload-archive upload-pack var verify-pack web--browse worktree
    write-tree lfs
    """
)
# Subcommands that only read if the next word is one of these or missing.
_LISTING_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "bisect": word_set("log"),
    "bundle": word_set("verify list-heads"),
    "notes": word_set("list show"),
    "reflog": word_set("show exists"),
    "remote": word_set("get-url"),
    "stash": word_set("list show"),
    "submodule": word_set("status summary"),
    "worktree": word_set("list"),
}
# Subcommands that only read with no other options than these.
_LISTING_OPTIONS: Mapping[str, frozenset[str]] = {
    "branch": word_set("-a -r -v -vv -l --list --all --remotes --verbose --show-current --no-color --no-column"),
    "tag": word_set("-l --list -n --no-column"),
    "config": word_set(
        "-l --list --get --get-all --get-regexp --show-origin --show-scope --local --global --system list get"
    ),
}
_LISTING_WITH_OPERANDS = word_set("-l --list --get --get-all --get-regexp get")

_RUNNING_SUBCOMMANDS = word_set(
    "difftool mergetool filter-branch filter-repo hook lfs gui citool instaweb send-email svn p4"
)
_RUNNING_OPTIONS = word_set(
    "--ext-diff --textconv --filters -O --open-files-in-pager --exec -x --upload-pack --receive-pack"
    " --template --config -c -u"
)
_WRITING_OPTIONS = word_set("--output -o --output-directory --lost-found")
_RUNNING_ADDRESS = "ext::"
_VERBOSE_OPTIONS = word_set("-v --verbose")
_COMMAND_WORDS = word_set("foreach run")
# Subcommands that change the repository, but no file of the working tree.
_KEEPS_FILES = word_set("add branch commit config fetch gc notes prune push reflog remote repack tag")
# Git refuses paths behind a link, except where these name a directory or a file.
_LEAVES_REPOSITORY = word_set("-C --no-index")


class GitEffects(Frozen):
    """Effects of a git command. `paths` are files that change without being named.

    `makes_links` and `follows_links` are as in CommandEffects.
    """

    writes: tuple[str, ...]
    destroys: tuple[str, ...]
    runs_code: tuple[str, ...]
    is_read_only: bool
    paths: tuple[str, ...] = ()
    makes_links: bool = False
    follows_links: bool = True


def git_effects(words: Sequence[str]) -> GitEffects:
    """Return the effects of a command whose name is git."""
    before, subcommand, after = _split_words(words)
    runs = [lazy("runs programs set on the command line ({word})", word=word) for word in _global_running(before)]
    if not subcommand:
        is_asking = bool(before) and set(before) <= {"--version", "--help", "--no-pager"}
        return GitEffects((), (), tuple(runs), is_read_only=is_asking)
    if subcommand in _RUNNING_SUBCOMMANDS or (subcommand in ("submodule", "bisect") and _COMMAND_WORDS & set(after)):
        runs.append(lazy("runs other programs (git {subcommand})", subcommand=subcommand))
    reads = _is_read_only(subcommand, after)
    named = _given_options(after, _RUNNING_OPTIONS, subcommand)
    runs += [lazy("runs programs from settings ({word})", word=word) for word in named]
    runs += [lazy("runs a program named in an address (ext::)") for word in after if word.startswith(_RUNNING_ADDRESS)]
    writes = [lazy("writes a file ({word})", word=word) for word in _given_options(after, _WRITING_OPTIONS, subcommand)]
    if not reads:
        writes.append(lazy("changes the repository or its files (git {subcommand})", subcommand=subcommand))
    destroys: list[str] = []
    check = _DESTRUCTIVE.get(subcommand)
    if check and (option := check(after)) is not None:
        given = option and f" {option}"
        destroys.append(
            lazy("discards or deletes (git {subcommand}{destroyed})", subcommand=subcommand, destroyed=given)
        )
    return GitEffects(
        tuple(dict.fromkeys(writes)),
        tuple(destroys),
        tuple(dict.fromkeys(runs)),
        is_read_only=reads and not writes and not runs and not destroys,
        paths=(".git/config",) if subcommand == "config" and not reads else (),
        makes_links=not reads and subcommand not in _KEEPS_FILES,
        follows_links=not _LEAVES_REPOSITORY.isdisjoint(words),
    )


def git_subcommand(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the subcommand, empty if there is none, and the words after it."""
    _, subcommand, after = _split_words(words)
    return subcommand, after


def is_git_subcommand(words: Sequence[str]) -> bool:
    """Return whether a git command is one of git itself; others are aliases in its settings, or programs on PATH."""
    subcommand, _ = git_subcommand(words)
    return not subcommand or subcommand in _SUBCOMMANDS or subcommand in _READ_ONLY_SUBCOMMANDS


def rewrites_history(words: Sequence[str]) -> bool:
    """Return whether a git command discards or replaces commits."""
    subcommand, after = git_subcommand(words)
    check = _HISTORY_REWRITING.get(subcommand)
    return check is not None and check(after) is not None


def _split_words(words: Sequence[str]) -> tuple[Sequence[str], str, Sequence[str]]:
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _GLOBAL_VALUES else 1
    return words[1 : min(at, len(words))], words[at] if at < len(words) else "", words[at + 1 :]


def _global_running(before: Sequence[str]) -> list[str]:
    options = [word.partition("=")[0] for word in before]
    return [option for option in dict.fromkeys(options) if option in _GLOBAL_RUNNING]


def _is_read_only(subcommand: str, after: Sequence[str]) -> bool:
    if subcommand in _READ_ONLY_SUBCOMMANDS:
        return True
    first = next((word for word in after if word not in _VERBOSE_OPTIONS), None)
    if subcommand in _LISTING_SUBCOMMANDS:
        return (first is None and subcommand != "stash") or first in _LISTING_SUBCOMMANDS[subcommand]
    options = _LISTING_OPTIONS.get(subcommand)
    if options is None or (subcommand == "config" and not after):
        return False
    given = [word.partition("=")[0] for word in after]
    has_operands = any(not word.startswith("-") and word not in options for word in after)
    has_unknown = any(word.startswith("-") and word not in options for word in given)
    # A word without dashes is a subcommand only in first place: `git config core.pager get` sets something.
    chosen = {word for at, word in enumerate(given) if at == 0 or word.startswith("-")}
    return not has_unknown and (not has_operands or not _LISTING_WITH_OPERANDS.isdisjoint(chosen))


def _given_options(after: Sequence[str], options: frozenset[str], subcommand: str) -> list[str]:
    """Return the options that are present: whole, abbreviated, clustered or with a value."""
    found: list[str] = []
    for word in after:
        if word == "--":
            break
        if not word.startswith("-"):
            continue
        name = word.partition("=")[0]
        for option in sorted(options):
            is_long = option.startswith("--") and len(name) > len("--") and option.startswith(name)
            # Short options differ by subcommand: -O opens a pager for grep only.
            is_short = len(option) == 2 and word[:1] == "-" and not name.startswith("--") and option[1] in name
            if is_long or (is_short and subcommand in _SHORT_OPTIONS[option]):
                found.append(option)
    return found


_SHORT_OPTIONS: Mapping[str, frozenset[str]] = {
    "-O": word_set("grep"),
    "-c": word_set("clone"),
    "-o": word_set("archive format-patch bundle"),
    "-u": word_set("clone"),
    "-x": word_set("rebase difftool"),
}


def _unconditional(_after: Sequence[str]) -> str | None:
    return ""


def _has_any(*options: str) -> Callable[[Sequence[str]], str | None]:
    """Make a check for the presence of one of the options or words, also inside a cluster."""

    def check(after: Sequence[str]) -> str | None:
        for word in after:
            for option in options:
                is_cluster = len(option) == 2 and option[0] == "-" and word[:1] == "-" and word[:2] != "--"
                name = word.partition("=")[0]
                is_long = option.startswith("--") and len(word) > len("--x") and option.startswith(name)
                if word == option or is_long or (is_cluster and option[1] in word):
                    return option
        return None

    return check


def _clean(after: Sequence[str]) -> str | None:
    return None if _has_any("-n", "--dry-run")(after) else ""


def _checkout(after: Sequence[str]) -> str | None:
    """Check for discarded changes: switching branches keeps them, a path discards them, and a name may be either."""
    return None if _has_any("-b")(after) and not _has_any("-f", "--force")(after) else ""


def _restore(after: Sequence[str]) -> str | None:
    is_index_only = _has_any("--staged", "-S")(after) and not _has_any("--worktree", "-W")(after)
    return None if is_index_only else ""


def _push(after: Sequence[str]) -> str | None:
    forced = _has_any(
        "-f", "-d", "--force", "--force-with-lease", "--force-if-includes", "--delete", "--mirror", "--prune"
    )(after)
    if forced is not None:
        return forced
    return next((word[0] for word in after if word[:1] in ("+", ":") and len(word) > 1), None)


_DESTRUCTIVE: Mapping[str, Callable[[Sequence[str]], str | None]] = {
    **dict.fromkeys(("am", "cherry-pick", "rebase"), _has_any("--abort", "--skip")),
    "branch": _has_any("-D", "-d", "-M", "-f", "-C", "--delete", "--force"),
    "checkout": _checkout,
    "checkout-index": _has_any("-f", "--force"),
    "clean": _clean,
    **dict.fromkeys(("filter-branch", "filter-repo", "prune", "rm"), _unconditional),
    "gc": _has_any("--prune", "--aggressive"),
    "lfs": _has_any("prune"),
    "merge": _has_any("--abort"),
    "notes": _has_any("remove", "prune"),
    "push": _push,
    "read-tree": _has_any("--reset", "-u"),
    "reflog": _has_any("expire", "delete"),
    "remote": _has_any("remove", "rm", "prune"),
    "reset": _has_any("--hard", "--merge", "--keep"),
    "restore": _restore,
    "stash": _has_any("drop", "clear"),
    "submodule": _has_any("deinit"),
    "switch": _has_any("-f", "-C", "--force", "--discard-changes", "--force-create"),
    "tag": _has_any("-d", "-f", "--delete", "--force"),
    "update-ref": _has_any("-d"),
    "worktree": _has_any("remove", "prune"),
}
_HISTORY_REWRITING: Mapping[str, Callable[[Sequence[str]], str | None]] = {
    **{
        name: _DESTRUCTIVE[name] for name in word_set("branch filter-branch filter-repo gc prune push reflog reset tag")
    },
    "commit": _has_any("--amend"),
    **dict.fromkeys(("rebase", "replace", "update-ref"), _unconditional),
    "switch": _has_any("-C", "--force-create"),
}
