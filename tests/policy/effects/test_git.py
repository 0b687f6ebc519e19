import pytest

from tejat.core.frozen import replace
from tejat.policy.effects.git import GitEffects, git_effects

READING = [
    "git log",
    "git log --oneline -n 5 -- src",
    "git status --short",
    "git diff HEAD~1",
    "git show HEAD:a",
    "git blame a",
    "git branch",
    "git branch -a",
    "git branch --list 'x*'",
    "git branch --show-current",
    "git tag",
    "git tag -l v1",
    "git remote",
    "git remote -v",
    "git remote get-url origin",
    "git stash list",
    "git stash show",
    "git config --get user.name",
    "git config --list",
    "git reflog",
    "git worktree list",
    "git submodule status",
    "git rev-parse HEAD",
    "git ls-files",
    "git grep x",
    "git --no-pager log",
    "git -C sub log",
    "git --version",
    "git notes show",
    "git log -O order",
    "git bisect log",
]
WRITING = [
    "git add .",
    "git commit -m x",
    "git merge x",
    "git pull",
    "git fetch",
    "git push",
    "git branch new",
    "git tag v1",
    "git stash",
    "git stash push",
    "git config a.b c",
    "git config a.b",
    "git config a.b get",
    "git remote add x y",
    "git remote -v add x y",
    "git remote --verbose set-url x y",
    "git fsck --lost-found",
    "git bisect view x",
    "git format-patch -No x HEAD",
    "git checkout -b x",
    "git reset",
    "git worktree add x",
    "git log --output=x",
    "git diff --output x",
    "git log --outp=x",
    "git format-patch -o x HEAD",
    "git bisect start",
    "git unheard-of",
]
RUNNING = [
    "git -c a.b=c log",
    "git --config-env=a=b log",
    "git --exec-path=x log",
    "git --git-dir=x log",
    "git --git-dir x log",
    "git -p log",
    "git --paginate log",
    "git log --ext-diff",
    "git diff --textconv",
    "git log --textc",
    "git grep -Oless x",
    "git grep -nOless x",
    "git rebase -ix ls",
    "git clone -c a.b=c x",
    "git clone -ca.b=c x",
    "git clone --config a.b=c x",
    "git clone -u x y",
    "git clone --template=x y",
    "git init --template x",
    "git fetch ext::x",
    "git grep --open-files-in-pager x",
    "git difftool",
    "git mergetool",
    "git submodule foreach ls",
    "git bisect run ls",
    "git rebase -x ls",
    "git rebase --exec ls",
    "git cat-file --filters x",
    "git fetch --upload-pack=x y",
    "git push --receive-pack=x",
]
DESTROYING = [
    "git clean -fd",
    "git reset --hard",
    "git reset --har HEAD",
    "git checkout .",
    "git checkout -- x",
    "git checkout main",
    "git checkout -f -b x",
    "git restore x",
    "git restore --staged --worktree x",
    "git stash drop",
    "git stash clear",
    "git branch -D x",
    "git branch -vD x",
    "git branch --delete x",
    "git push -f",
    "git push --force-with-lease",
    "git push origin +x",
    "git push origin :x",
    "git push -uf origin x",
    "git reflog expire --all",
    "git gc --prune=now",
    "git prune",
    "git rm x",
    "git switch -f x",
    "git tag -d x",
    "git worktree remove x",
    "git update-ref -d x",
    "git filter-branch x",
    "git merge --abort",
    "git -C x clean -f",
    "git --no-pager reset --hard",
    "git remote remove x",
]
KEEPING = [
    "git clean -n",
    "git clean --dry-run",
    "git restore --staged x",
    "git checkout -b x",
    "git push",
    "git switch x",
    "git reset x",
]


@pytest.mark.parametrize("text", READING)
def test_what_only_reads(text: str) -> None:
    expected = GitEffects((), (), (), is_read_only=True, follows_links=False)
    assert replace(git_effects(text.split(" ")), follows_links=False) == expected


@pytest.mark.parametrize("text", WRITING)
def test_what_writes(text: str) -> None:
    effects = git_effects(text.split(" "))
    assert (bool(effects.writes), effects.is_read_only) == (True, False)


@pytest.mark.parametrize("text", RUNNING)
def test_what_runs_code(text: str) -> None:
    effects = git_effects(text.split(" "))
    assert (bool(effects.runs_code), effects.is_read_only) == (True, False)


@pytest.mark.parametrize("text", DESTROYING)
def test_what_destroys(text: str) -> None:
    effects = git_effects(text.split(" "))
    assert (bool(effects.destroys), effects.is_read_only) == (True, False)


@pytest.mark.parametrize("text", KEEPING)
def test_what_keeps_everything(text: str) -> None:
    assert git_effects(text.split(" ")).destroys == ()


def test_the_file_that_config_changes() -> None:
    assert git_effects(["git", "config", "a.b", "c"]).paths == (".git/config",)
    assert git_effects(["git", "config", "--get", "a.b"]).paths == ()


def test_the_words() -> None:
    assert git_effects(["git", "push", "--force"]) == GitEffects(
        writes=("changes the repository or its files (git push)",),
        destroys=("discards or deletes (git push --force)",),
        runs_code=(),
        is_read_only=False,
        follows_links=False,
    )
    assert git_effects(["git"]) == GitEffects((), (), (), is_read_only=False)
