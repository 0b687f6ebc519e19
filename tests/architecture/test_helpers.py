"""Each helper of `docs/design/overview.md` exists once, and is used instead of a hand-rolled form."""

import ast
from collections.abc import Iterator

from support.source_tree import modules


def nodes() -> Iterator[tuple[str, ast.AST]]:
    for file, tree in modules().items():
        for node in ast.walk(tree):
            yield file, node


def calls() -> Iterator[tuple[str, ast.Call, str]]:
    """Every call with the last name of what it calls."""
    for file, node in nodes():
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    yield file, node, name
                case _:
                    pass


def at(file: str, node: ast.AST) -> str:
    return f"{file}:{getattr(node, 'lineno', 0)}"


def test_sanitizing() -> None:
    """One line is made by `sanitize_line` or `sanitize_summary`, not by replacing line ends."""
    escapes = [
        at(file, node)
        for file, node in nodes()
        if isinstance(node, ast.Constant) and node.value in ("<U+000A>", "<U+0009>") and file != "core/sanitize.py"
    ]
    rewritten = [
        at(file, call)
        for file, call, name in calls()
        if name in ("replace", "splitlines") or (name == "split" and not call.args)
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Call)
        and isinstance(call.func.value.func, ast.Name)
        and call.func.value.func.id == "sanitize_text"
        and file != "core/sanitize.py"
    ]
    assert escapes + rewritten == []


def test_state_paths() -> None:
    """Files and directories of the program are properties of `AppPaths`."""
    joined = [
        at(file, call)
        for file, call, name in calls()
        if name == "join" and call.args and isinstance(call.args[0], ast.Attribute)
        if call.args[0].attr in ("state", "config") and file != "config/paths.py"
    ]
    hashed = [
        at(file, call)
        for file, call, name in calls()
        if name == "sha256" and "realpath" in ast.dump(call) and file != "config/paths.py"
    ]
    assert joined + hashed == []


MAY_RENAME = {
    "app/diagnostics/log_file.py",  # rotates the log
    "batch/runner/attempts.py",  # moves the files of a task
    "workspace/downloads/placement.py",  # moves whole directories
    "workspace/files/temp_file.py",
    "workspace/processes/supervision/descriptors.py",  # runs without the package
    "workspace/sandbox/probe.py",  # tries what a sandbox forbids
    "workspace/undo/restore_operations.py",  # restores files of the user
}
MAY_LOCK = {
    "workspace/files/file_lock.py",
    "workspace/sandbox/container/launcher.py",  # runs without the package
    "workspace/sandbox/placeholders.py",  # shares locks with bwrap
}


def test_private_writes() -> None:
    """Files of the program are replaced by `private_files`, and locked by `file_lock`."""
    found = [
        at(file, call)
        for file, call, name in calls()
        if (ast.unparse(call.func) in ("os.rename", "os.replace", "shutil.move") and file not in MAY_RENAME)
        or (name in ("flock", "lockf") and file not in MAY_LOCK)
    ]
    assert found == []


MAY_CREATE = {
    "app/commands/init.py",  # makes a file of the project
    "models/recording/recorder.py",  # changes no file that is not a recording
    "workspace/files/private_files.py",
    "workspace/processes/supervision/descriptors.py",  # runs without the package
    "workspace/sandbox/bubblewrap.py",  # an empty file that nobody may read
    "workspace/sandbox/placeholders.py",  # stand in for files of the user
    "workspace/sandbox/probe.py",  # tries what a sandbox forbids
}


def test_private_files() -> None:
    """Files of the program are created by `private_files`, with mode 0600 whatever the umask."""
    found = [
        at(file, call)
        for file, call, name in calls()
        if name == "open" and "O_CREAT" in ast.dump(call) and ast.unparse(call.func) == "os.open"
        if file not in MAY_CREATE
    ]
    assert found == []


MAY_START_THREADS = {
    "ui/terminal/forced_exit.py",  # works when the event loop hangs
    "workspace/files/line_slice.py",  # counts one file in parallel
    "workspace/sandbox/landlock_child.py",  # the restriction is for one thread
    "workspace/threads/daemon.py",
    "workspace/threads/loop_thread.py",  # runs an event loop for synchronous programs
    "workspace/threads/pool.py",
}


def test_threads() -> None:
    """Blocking work runs through `workspace.threads`."""
    found = [
        at(file, call)
        for file, call, name in calls()
        if name in ("to_thread", "run_in_executor", "ThreadPoolExecutor")
        or (ast.unparse(call.func) == "threading.Thread" and file not in MAY_START_THREADS)
    ]
    assert found == []


def test_functions_that_do_nothing() -> None:
    """There is one `never_stop`."""
    found = [
        at(file, node) for file, node in nodes() if isinstance(node, ast.FunctionDef) and "never_stop" in node.name
    ]
    assert len(found) == 1, found


def test_secret_masks() -> None:
    """Secrets are replaced by `core/text/secret_mask.py`."""
    masks = [
        at(file, node)
        for file, node in nodes()
        if isinstance(node, ast.Constant) and node.value == "***" and file != "core/text/secret_mask.py"
    ]
    assert masks == []


def test_token_estimates() -> None:
    """Tokens are estimated in `core/messages/tokens.py` only."""
    estimates = [
        at(file, node)
        for file, node in nodes()
        if isinstance(node, ast.FunctionDef) and "estimate" in node.name and "token" in node.name
        if file != "core/messages/tokens.py"
    ]
    assert estimates == []


def test_approval_modes() -> None:
    """The modes are the members of `ApprovalMode`."""
    spelled = [
        at(file, node)
        for file, node in nodes()
        if isinstance(node, ast.Constant) and node.value == "auto_edit" and file != "core/approval/modes.py"
    ]
    assert spelled == []


def test_path_containment() -> None:
    """Whether a path lies in a directory is asked of `core.text.paths`."""
    hand_rolled = [
        at(file, node)
        for file, node in nodes()
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and file != "core/text/paths.py"
        if any(isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.Eq) for each in node.values)
        and any(
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and each.func.attr == "startswith"
            and ast.unparse(each.args[0]).endswith(("/'", "+ '/'"))
            and not isinstance(each.args[0], ast.Constant)
            for each in node.values
        )
    ]
    assert hand_rolled == []


def test_executables() -> None:
    """Programs are recognised by `is_executable_file`."""
    found = [
        at(file, node)
        for file, node in nodes()
        if isinstance(node, ast.BoolOp) and "isfile" in ast.unparse(node) and "X_OK" in ast.unparse(node)
    ]
    assert found == []


def test_argument_parsers() -> None:
    """Subcommands are parsed by `CommandParser`, which has `--debug`."""
    found = [at(file, call) for file, call, name in calls() if name == "ArgumentParser"]
    assert found == []


def test_enumerations() -> None:
    """Enumerations of strings are defined with `StrEnum` of `core/text/str_enum.py`, which is cheaper."""
    plain = [
        at(file, node)
        for file, node in nodes()
        if (isinstance(node, ast.ImportFrom) and node.module == "enum" and any(a.name == "StrEnum" for a in node.names))
        or (isinstance(node, ast.Attribute) and node.attr == "StrEnum")
        if file != "core/text/str_enum.py"
    ]
    assert plain == []
