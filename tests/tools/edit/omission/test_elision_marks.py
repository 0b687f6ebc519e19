"""Lines that stand for omitted code, in every comment syntax, and lines that only look like them."""

import pytest

from tejat.tools.edit.omission.elision_marks import ElisionMark, continues_sentence, find_elision_mark

CERTAIN = """
// ...
//...
# ...
#...
# . . .
# …
/* ... */
/** ... */
<!-- ... -->
{/* ... */}
-- ...
--[[ ... ]]
; ...
;; ...
% ...
! ...
' ...
" ...
:: ...
REM ...
@rem ...
dnl ...
(* ... *)
{- ... -}
{# ... #}
#| ... |#
{{!-- ... --}}
<%-- ... --%>
\"""...\"""
''' ... '''
# ... (unchanged)
# [...]
// <...>
// ... existing code ...
/* ... existing code ... */
// ...rest of code
# ...existing code...
// … same as before
// ... handle errors ...
# ... 12 more lines ...
// ... weitere Methoden ...
// rest of the function...
# --- ... ---
... existing code ...
... (rest of file unchanged)
... rest of the code
// the rest of the class stays the same.
// unchanged
// (unchanged)
# [rest of implementation remains unchanged]
# remaining code stays the same
# code omitted for brevity
# --- snip ---
<snip>
[snip]
<!-- rest of the page unchanged -->
;; rest unchanged
REM rest unchanged
\"""rest unchanged\"""
# rest as before
the rest of the code stays the same
"""
STATEMENTS = """
// rest
# same as before
// existing code here
{/* existing code */}
# other methods here
# same as above
existing code goes here
// keep the rest
# No changes below
// rest of validation logic...
function f() { // ... existing code
function f() { /* ... */ }
function f() { ... }
foo(); // ...
"""
DOTS = """
...
…
....
...,
[...]
(...)
{ ... }
- ...
* ...
"""
LITERAL = """
...args,
...rest
    ...props
{...props}
<Foo {...props} />
print("...")
log("# ...")
"...",
'...'
x = [1, ..., 2]
a[..., 0]
def f(self): ...
int f(const char *fmt, ...);
...)
case 1 ... 5:
url = "http://..."
// see https://example.com/...
Loading...
# Waiting for the connection...
# ...and then the other thing
# Usage: foo [options] file...
To be continued ...
And the rest is silence.
#rest {
--rest
# Load the previous session
# existing users are skipped
# Compute the rest of the sum from x
echo "rest unchanged"
unchanged = True
return remaining
    unchanged: bool
"""


def lines(text: str) -> list[str]:
    return text.strip("\n").split("\n")


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        (CERTAIN, ElisionMark.CERTAIN),
        (STATEMENTS, ElisionMark.STATEMENT),
        (DOTS, ElisionMark.BARE),
        (LITERAL, None),
    ],
)
def test_marks(text: str, mark: ElisionMark | None) -> None:
    other = {line: found for line in lines(text) if (found := find_elision_mark(line)) is not mark}
    assert other == {}
    other = {line: found for line in lines(text) if (found := find_elision_mark(f"\t  {line} ")) is not mark}
    assert other == {}


def test_long_lines_are_literal() -> None:
    assert find_elision_mark("# ..." + " " * 300 + "x") is None
    assert find_elision_mark("# ... " + "word " * 60) is None


@pytest.mark.parametrize("line", ["(" * 10**5, "# " * 10**5, "..." * 10**5, "-" * 150 + "...", "{ " * 75 + "..."])
def test_odd_lines_take_no_time(line: str) -> None:
    find_elision_mark(line)


def test_comments_over_several_lines() -> None:
    assert continues_sentence("# ... until it is done.", "# Wait a little ...")
    assert not continues_sentence("# ... until it is done.", "# Wait a little.")
    assert not continues_sentence("# rest as before", "# Sum up ...")
    assert not continues_sentence("# ...", "x = 1")
