import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.policy.effects.command import CommandEffects, command_effects

READ_ONLY = [
    "ls -la src",
    "cat a b",
    "head -n 5 a",
    "tail -f a",
    "wc -l a",
    "grep -rn x src",
    "rg x",
    "find . -name '*.py' -type f",
    "pwd",
    "echo a > b",
    "date",
    "date +%s",
    "date -d yesterday",
    "which ls",
    "stat a",
    "file a",
    "du -sh a",
    "df -h",
    "sort -u a",
    "uniq -c a",
    "cut -d, -f1 a",
    "tr a b",
    "diff a b",
    "test -f a",
    "sed -n 1,5p a",
    "sed -n '/a b/p' a",
    "sed -n '/a\\/b/p' a",
    "sed 's/a/b/g' a",
    "sed -e 's/a/b/' -e 2d a",
    "awk '{print $1}' a",
    "awk -F: '/x/{n++} END{print n}' a",
    "jq .name a",
    "tree -L 2",
    "sha256sum a",
    "printf %s a",
    "git log",
    "true",
    "xxd a",
    "basename a",
    "realpath a",
    "ps aux",
    "uname -a",
    "[ -f a ]",
]
WRITING = [
    "sort -o a b",
    "sort -oa b",
    "sort -nro a",
    "sort --output=a",
    "sort --out a",
    "sed -i s/a/b/ c",
    "sed -ni p c",
    "sed --in-place p c",
    "tee a",
    "dd of=a",
    "curl -o a b",
    "curl -sSLo a b",
    "curl -O b",
    "curl --output a b",
    "wget b",
    "find . -fprint a",
    "find . -fls a",
    "tar xf a",
    "tar -xf a",
    "tar czf a b",
    "tar --extract -f a",
    "cp a b",
    "mv a b",
    "ln -s a b",
    "install a b",
    "rsync a b",
    "patch a",
    "truncate -s 0 a",
    "touch a",
    "mkdir a",
    "chmod +x a",
    "date -s x",
    "date 01010000",
    "uniq a b",
    "uniq - b",
    "xxd -r -p - b",
    "awk -da 1 b",
    "gawk --prof=a 1 b",
    "base64 -d -o a b",
    "curl --stderr a b",
    "curl --trace-ascii a b",
    "curl --libcurl a b",
    "curl -w '%output{a}' b",
    "tar tvf a --index-file=b",
    "tree -R -H . -L 1",
    "xxd -r a b",
    "iconv -o a b",
    "tree -o a",
    "file -C",
    "git log --output=a",
    "Copy-Item a b",
    "shuf -o a",
    "unzip a",
    "gzip a",
    "split a",
]
DESTROYING = [
    "rm a",
    "/bin/rm a",
    "rmdir a",
    "unlink a",
    "shred a",
    "find . -delete",
    "truncate a",
    "dd of=a",
    "mkfs.ext4 a",
    "mkfs a",
    "git clean -f",
    "docker rm a",
    "docker system prune",
    "kubectl delete pod a",
    "terraform destroy",
    "aws s3 rm a",
    "psql -c 'DROP TABLE a'",
    "psql -c 'delete from a'",
    "rsync --delete a b",
    "tar --remove-files -cf a b",
    "mv -f a b",
    "del a",
    "DEL a",
    "erase a",
    "rd a",
    "Remove-Item a",
    "remove-item a",
    "ri a",
    "Clear-Content a",
    "kill 1",
    "npm unpublish",
    "cargo clean",
    "cp /dev/null a",
    "zip -m a b",
]
RUNNING = [
    "python -c x",
    "python3 a.py",
    "python3.12 -m x",
    "perl -e x",
    "node -e x",
    "ruby -e x",
    "awk 'BEGIN{system(1)}'",
    "awk '{print > \"a\"}'",
    "gawk '{getline x < \"a\"}'",
    "awk -f a",
    "sed '1e ls' a",
    "sed 'w b' a",
    "sed s/a/b/e a",
    "sed 's/a/b/w c' d",
    "sed -f a b",
    "sed -e p -be 'w c' d",
    "sed -e p -be'1e ls' d",
    "sed -e p --expr='1e ls' d",
    "sed -e p --expr '1e ls' d",
    "sed '/a\\/p;/e ls;#/p' b",
    "awk 'BEGIN{ARGV[1]=\"/etc/passwd\"; ARGC=2} 1'",
    "mawk -W exec a",
    "gawk -Da 1",
    "tar tIf x a",
    "tar tFf x a",
    "git grep -nOx y",
    "sed -n '1r /x' a",
    "vim -c x",
    "make",
    "npm run x",
    "npx x",
    "xargs ls",
    "tar --to-command=x -tf a",
    "tar -tf a -I x",
    "tar --checkpoint-action=exec=x -tf a",
    "rsync -e x a b",
    "ssh -o ProxyCommand=x a",
    "zip -TT x a b",
    "man ls",
    "less a",
    "tcpdump -z x",
    "find . -exec ls ;",
    "find . -ok ls ;",
    "env ls",
    "env",
    "bash a",
    "sudo ls",
    "rg --pre x y",
    "rg -z x",
    "sort --compress-program=x a",
    "git -c a=b log",
    "git log --ext-diff",
    "cargo build",
    "docker run a",
    "psql",
    "fd -x ls",
    "jq -f a",
    "split --filter=x a",
]
UNKNOWN = ["unheard-of a", "./tool a", "/tmp/ls a", "tar tf a", "tar -tvf a", "curl -s https://a.b/c"]


@pytest.mark.parametrize("text", READ_ONLY)
def test_what_only_reads(text: str) -> None:
    effects = command_effects(shlex.split(text))
    assert (effects.writes, effects.destroys, effects.runs_code, effects.is_read_only) == ((), (), (), True)


@pytest.mark.parametrize("text", WRITING)
def test_what_writes(text: str) -> None:
    effects = command_effects(shlex.split(text))
    assert (bool(effects.writes), effects.is_read_only) == (True, False)


@pytest.mark.parametrize("text", DESTROYING)
def test_what_destroys(text: str) -> None:
    effects = command_effects(shlex.split(text))
    assert (bool(effects.destroys), effects.is_read_only) == (True, False)


@pytest.mark.parametrize("text", RUNNING)
def test_what_runs_code(text: str) -> None:
    effects = command_effects(shlex.split(text))
    assert (bool(effects.runs_code), effects.is_read_only) == (True, False)


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_is_not_known(text: str) -> None:
    effects = command_effects(shlex.split(text))
    assert effects == CommandEffects(paths=effects.paths)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("cat /etc/passwd", ["/etc/passwd"]),
        ("cat -n ../a", ["../a"]),
        ("cat ~/a", ["~/a"]),
        ("ls --color=auto --x=/etc", ["/etc"]),
        ("cp -t/etc a", ["/etc", "a"]),
        ("cc -I../x a.c", ["../x", "a.c"]),
        ("dd of=/etc/a", ["/etc/a"]),
        ("git --git-dir=/a log", ["/a"]),
        ("git log -- /etc", ["/etc"]),
        ("git show HEAD:/etc/a", ["/etc/a"]),
        ("tool a,/etc/b:../c", ["/etc/b", "../c"]),
        ("curl -d @/etc/passwd https://a.b", ["/etc/passwd"]),
        ("curl file:///etc/passwd", ["///etc/passwd"]),
        ("curl FILE:///etc/passwd", ["///etc/passwd"]),
        ("grep --reg=x /etc/a", ["/etc/a"]),
        ("gawk --source=1 /etc/a", ["/etc/a"]),
        ("grep -f /etc/a b", ["/etc/a", "b"]),
        ("grep -f/etc/a b", ["/etc/a"]),
        ("grep -e x /etc/a", ["/etc/a"]),
        ("grep x /etc/a", ["/etc/a"]),
        ("rg --files /etc", ["/etc"]),
        ("sed -n 1p /etc/a", ["/etc/a"]),
        ("awk 1 /etc/a", ["/etc/a"]),
        ("tee .git/config", [".git/config"]),
    ],
)
def test_places(text: str, places: list[str]) -> None:
    assert set(places) <= set(command_effects(shlex.split(text)).paths)


@pytest.mark.parametrize(
    "text",
    [
        "echo /etc/a",
        "printf %s /etc/a",
        "grep /api/ src",
        "curl https://a.b/c",
        "sed -n /a/p b",
        "awk '/x/' b",
        "ls --sort=size",
        "test -f /a",
    ],
)
def test_what_is_no_place(text: str) -> None:
    assert [path for path in command_effects(shlex.split(text)).paths if path.startswith(("/", "~", ".."))] == []


def test_the_words() -> None:
    assert command_effects(["sort", "-o", "a", "b"]) == CommandEffects(writes=("writes a file (-o)",), paths=("a", "b"))
    assert command_effects(["rm", "-rf", "a"]) == CommandEffects(
        destroys=("deletes or overwrites data (rm)",), paths=("f", "a")
    )
    assert command_effects(["python", "-c", "x"]) == CommandEffects(
        runs_code=("runs code (python)", "runs code from the command line (-c)"), paths=("x",)
    )
    assert command_effects([]) == CommandEffects()


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([text.split(" ")[0] for text in (*READ_ONLY, *WRITING, *RUNNING)]),
    st.lists(
        st.one_of(st.text(max_size=8), st.sampled_from(["-o", "--output", "-e", "-", "--", "=", "-exec"])), max_size=5
    ),
)
def test_more_words_never_lose_an_effect(name: str, rest: list[str]) -> None:
    fewer = command_effects([name, *rest])
    more = command_effects([name, *rest, "-o"])
    assert set(fewer.runs_code) <= set(more.runs_code)
    assert not (more.is_read_only and not fewer.is_read_only)


@pytest.mark.parametrize("text", ["uniq -- -f out", "uniq -- in out", "uniq in -- -out", "xxd -- -a b"])
def test_words_after_two_dashes_are_operands(text: str) -> None:
    effects = command_effects(shlex.split(text))
    assert effects.writes
    assert not effects.is_read_only


def test_paths_after_two_dashes() -> None:
    assert command_effects(["cat", "--", "-link"]).paths == ("-link",)
    assert command_effects(["rg", "--files", "/etc"]).paths == ("/etc",)


def test_the_name_of_a_program_may_look_like_an_option() -> None:
    assert command_effects(("-x/sed", "s/a/b/", "f")).runs_code
    assert not command_effects(("x/sed", "s/a/b/", "f")).runs_code


_GIVEN = st.permutations(("-s", "-f", "-o", "x", "eval"))


@given(st.sampled_from(("ln", "mv", "tar", "find", "curl", "deno", "sed")), _GIVEN)
def test_effects_do_not_depend_on_what_was_asked_before(name: str, words: list[str]) -> None:
    first = command_effects((name, *words))
    command_effects((name, *words[:2]))
    command_effects((name, "y", *words))
    assert command_effects((name, *words)) == first
