import shlex

import pytest

from tejat.policy.effects.foreign_code import find_foreign_code

HIDDEN = r"""
python -c x
python
python -
python -i x.py
python -W ignore
python -m timeit x
python3.11 -c x
/usr/bin/python3 -c x
python /dev/stdin
perl -e x
perl -lane x
perl '-MPOSIX;system(1)' f
ruby -ne x
node -e x
node -p x
node --eval=x
node --import data:x f.js
php -r x
lua -e x
deno eval x
Rscript -e x
vim -c x
gdb -ex x
ed f
dc -e '!x'
sed 1e
sed 's/a/b/e' f
sed -e p -e 'e x' f
sed --expression=1e f
sed '1{e x' f
sed 'y/a/b/;e x'
sed 's/[/]/x/e' f
sed -f - x
awk -f /dev/stdin
awk 'BEGIN{system("x")}'
awk '{print|"sh"}'
awk '{"x"|getline}'
make -f -
make -f/dev/stdin
sqlite3 x.db
sqlite3 x.db '.shell x'
psql -c '\! x'
psql
run-parts d
"""
SEEN = r"""
python x.py
python -m pytest -x
python -u x.py -c y
python --version
node x.js
node --test x.js
perl -w x.pl
perl -MPOSIX x.pl
ruby x.rb -e
php x.php
deno run x.ts
sed -n 1,5p f
sed 's#a#b#g' f
sed -i 's/a/b/' f
sed -e 's/x/y/' -e 's|a|b|g' f
sed '/a/,/b/p;q' f
sed '1a hello e' f
sed '/^$/!{s/e/x/;p}' f
sed -f x.sed d
awk '{print $1}' f
awk '$3 > 5 || $1 == 2' f
make
make test
make -f Makefile.x
sqlite3 x.db 'select 1'
psql -c 'select 1'
ls
"""


@pytest.mark.parametrize("text", HIDDEN.strip().splitlines())
def test_code_that_is_given_or_read(text: str) -> None:
    assert find_foreign_code(shlex.split(text), is_plain=True)


@pytest.mark.parametrize("text", SEEN.strip().splitlines())
def test_files_and_harmless_programs(text: str) -> None:
    assert find_foreign_code(shlex.split(text), is_plain=True) is None


@pytest.mark.parametrize("words", [("python", "$x"), ("awk", "$x"), ("sed", '"$x"'), ("make", "-f", "<(x)")])
def test_what_is_computed_may_be_code(words: tuple[str, ...]) -> None:
    assert find_foreign_code(words, is_plain=False)


def test_no_words() -> None:
    assert find_foreign_code((), is_plain=True) is None
