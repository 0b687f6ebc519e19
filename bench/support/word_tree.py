"""Large trees of empty files with names made of words, in a git repository that tracks all of them."""

import os
import subprocess

_WORDS = ("user", "http", "core", "view", "model", "test", "index", "page", "Login", "button", "parse", "Render")
_FILES_PER_DIRECTORY = 20
_IGNORED = "*.log\n*.pyc\nbuild/\n/dist\n.venv/\n"


def make_word_tree(root: str, files: int) -> None:
    """Create a tree of this many files in directories of twenty, and an ignored directory."""
    names: list[str] = []
    for number in range(files // _FILES_PER_DIRECTORY):
        directory = f"part{number % 25}/sub{number // 25}"
        os.makedirs(os.path.join(root, directory))
        for index in range(_FILES_PER_DIRECTORY):
            first, second = _WORDS[(number + index) % len(_WORDS)], _WORDS[number * (index + 1) % len(_WORDS)]
            names.append(f"{directory}/{first}_{second}{index}.py")
            _create(os.path.join(root, names[-1]))
    os.makedirs(os.path.join(root, "build"))
    _create(os.path.join(root, "build", "output"))
    with open(os.path.join(root, ".gitignore"), "x", encoding="ascii") as file:
        file.write(_IGNORED)
    subprocess.run(["git", "init", "--quiet", root], check=True)
    _track(root, names)


def make_flat_directory(path: str, files: int) -> None:
    """Create a directory of this many files."""
    os.makedirs(path)
    for number in range(files):
        _create(os.path.join(path, f"file{number * 7919 % files}.txt"))


def _create(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))


def _track(root: str, names: list[str]) -> None:
    """Write the index without reading the files: that takes a fraction of the time of `git add`."""
    git = ["git", "-C", root]
    made = subprocess.run([*git, "hash-object", "-w", "--stdin"], input=b"", check=True, capture_output=True)
    blob = made.stdout.decode().strip()
    entries = "".join(f"100644 {blob} 0\t{name}\n" for name in names)
    subprocess.run([*git, "update-index", "--index-info"], input=entries.encode(), check=True)
