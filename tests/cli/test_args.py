"""The flags of a run: every spelling that people use, and none that they did not mean."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.cli.args import BadArguments, RunOptions, parse_args, to_agent_options
from tejat.core.agent.options import AgentOptions


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], RunOptions()),
        (["hi"], RunOptions(prompt="hi")),
        (["say", "hi"], RunOptions(prompt="say hi")),
        (["say", "-y", "hi"], RunOptions(prompt="say hi", yolo=True)),
        (["-p", "hi"], RunOptions(prompt="hi")),
        (["-phi"], RunOptions(prompt="hi")),
        (["-p=hi"], RunOptions(prompt="hi")),
        (["-psay hi"], RunOptions(prompt="say hi")),
        (["--prompt", "hi"], RunOptions(prompt="hi")),
        (["--prompt=say hi=ho"], RunOptions(prompt="say hi=ho")),
        (["--prompt="], RunOptions(prompt="")),
        (["-p", ""], RunOptions(prompt="")),
        (["-p", "a", "-p", "b"], RunOptions(prompt="b")),
        (["-p", "-"], RunOptions(prompt="-")),
        (["-p", "-5"], RunOptions(prompt="-5")),
        (["-p", "- one\n- two"], RunOptions(prompt="- one\n- two")),
        (["-p", "--yolo is what?"], RunOptions(prompt="--yolo is what?")),
        (["-"], RunOptions(prompt="-")),
        (["-5.5"], RunOptions(prompt="-5.5")),
        (["- one thing"], RunOptions(prompt="- one thing")),
        (["--one thing"], RunOptions(prompt="--one thing")),
        (["--", "-p", "--yolo"], RunOptions(prompt="-p --yolo")),
        (["-y", "--", "--", "x"], RunOptions(prompt="-- x", yolo=True)),
        (["--"], RunOptions()),
        (["-i", "hi"], RunOptions(prompt_interactive="hi")),
        (["--prompt-interactive", "hi"], RunOptions(prompt_interactive="hi")),
        (["-m", "ollama:qwen3"], RunOptions(model="ollama:qwen3")),
        (["--model=gpt-5"], RunOptions(model="gpt-5")),
        (["-o", "json"], RunOptions(output_format="json")),
        (["--output-format=stream-json"], RunOptions(output_format="stream-json")),
        (["-y"], RunOptions(yolo=True)),
        (["-ydphi"], RunOptions(yolo=True, debug=True, prompt="hi")),
        (["-yp", "hi"], RunOptions(yolo=True, prompt="hi")),
        (["--approval-mode", "auto_edit"], RunOptions(approval_mode="auto_edit")),
        (["-s"], RunOptions(sandbox="required")),
        (["-s", "off"], RunOptions(sandbox="required", prompt="off")),
        (["-sy"], RunOptions(sandbox="required", yolo=True)),
        (["--sandbox", "off"], RunOptions(sandbox="off")),
        (["--sandbox=auto"], RunOptions(sandbox="auto")),
        (["--trust"], RunOptions(trust=True)),
        (["--skip-trust"], RunOptions(trust=True)),
        (["-r"], RunOptions(resume="latest")),
        (["-r", "3"], RunOptions(resume="3")),
        (["-r3"], RunOptions(resume="3")),
        (["--resume", "-p", "go on"], RunOptions(resume="latest", prompt="go on")),
        (["--resume", "1234", "go", "on"], RunOptions(resume="1234", prompt="go on")),
        (["--resume=1234", "go on"], RunOptions(resume="1234", prompt="go on")),
        (["--session-id", "abc"], RunOptions(session_id="abc")),
        (["--list-sessions"], RunOptions(list_sessions=True)),
        (["--delete-session", "2"], RunOptions(delete_session="2")),
        (["--record", "a.jsonl"], RunOptions(record="a.jsonl")),
        (["--replay", "a.jsonl"], RunOptions(replay="a.jsonl")),
        (["--max-turns", "3", "--max-tokens=50"], RunOptions(max_turns=3, max_tokens=50)),
        (["--max-cost", "0.5", "--timeout", "90"], RunOptions(max_cost=0.5, timeout=90.0)),
        (["-d"], RunOptions(debug=True)),
        (["--allowed-tools", "a,b", "--allowed-tools=c"], RunOptions(allowed_tools=("a,b", "c"))),
        (["--exclude-tools", "a,b", "--exclude-tools", "c"], RunOptions(exclude_tools=("a,b", "c"))),
        (["--include-directories", "a,b", "x"], RunOptions(include_directories=("a,b",), prompt="x")),
    ],
)
def test_what_the_words_mean(words: list[str], expected: RunOptions) -> None:
    assert parse_args(words) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--frobnicate"], "There is no flag --frobnicate"),
        (["--frobnicate=yes"], "There is no flag --frobnicate"),
        (["--max"], "There is no flag --max"),
        (["---"], "There is no flag ---"),
        (["-x"], "There is no flag -x"),
        (["-yx"], "There is no flag -yx"),
        (["-y5"], "There is no flag -y5"),
        (["-y-"], "There is no flag -y-"),
        (["-y=true"], "There is no flag -y=true"),
        (["--yolo=true"], "The flag --yolo takes no value"),
        (["-p"], "The flag --prompt needs a value"),
        (["-p", "--yolo"], "The flag --prompt needs a value"),
        (["-p", "--", "x"], "The flag --prompt needs a value"),
        (["--allowed-tools"], "The flag --allowed-tools needs a value"),
        (["-o", "xml"], "--output-format must be one of text, json, stream-json, but is 'xml'"),
        (["--approval-mode="], "--approval-mode must be one of default, auto_edit, yolo, plan, but is ''"),
        (["--sandbox", "docker"], "--sandbox must be one of auto, required, off, but is 'docker'"),
        (["--max-turns", "0"], "--max-turns must be a whole number above 0, but is '0'"),
        (["--max-turns", "-5"], "--max-turns must be a whole number above 0, but is '-5'"),
        (["--max-tokens", "1.5"], "--max-tokens must be a whole number above 0, but is '1.5'"),
        (["--max-cost", "nan"], "--max-cost must be a number above 0, but is 'nan'"),
        (["--timeout", "inf"], "--timeout must be a number above 0, but is 'inf'"),
        (["--timeout", "soon"], "--timeout must be a number above 0, but is 'soon'"),
        (["-p", "a", "-i", "b"], "Cannot use both --prompt (-p) and --prompt-interactive (-i) together"),
        (["-p", "a", "b"], "Cannot use both a positional prompt and the --prompt (-p) flag together"),
        (["-i", "a", "b"], "Cannot use both a positional prompt and the --prompt-interactive (-i) flag together"),
        (
            ["-y", "--approval-mode", "plan"],
            "Cannot use both --yolo (-y) and --approval-mode together. Use --approval-mode=yolo instead.",
        ),
        (["--record", "a", "--replay", "b"], "Cannot use both --record and --replay together"),
    ],
)
def test_what_cannot_be_meant(words: list[str], message: str) -> None:
    with pytest.raises(BadArguments) as refusal:
        parse_args(words)
    assert str(refusal.value) == message


def test_lists_may_have_commas_but_rules_keep_theirs() -> None:
    words = ["--include-directories", "a, b,", "--include-directories", "c", "--exclude-tools", "x,y"]
    words += ["--allowed-tools", "run_shell_command(git log, git show)"]
    assert to_agent_options(parse_args(words)) == AgentOptions(
        directories=(".", "a", "b", "c"),
        allowed_tools=("run_shell_command(git log, git show)",),
        excluded_tools=("x", "y"),
    )


@pytest.mark.parametrize(
    ("words", "servers"),
    [
        ([], None),
        (["--allowed-mcp-server-names", "a,b", "--allowed-mcp-server-names=c"], ("a", "b", "c")),
        (["--allowed-mcp-server-names", ""], ()),
    ],
)
def test_servers_by_name_or_none_at_all(words: list[str], servers: tuple[str, ...] | None) -> None:
    assert to_agent_options(parse_args(words)).servers == servers


def test_everything_reaches_the_agent() -> None:
    words = ["-y", "-s", "--trust", "-mM", "-r7", "--session-id=S", "--max-turns=1", "--max-tokens=2", "--max-cost=3"]
    words += ["--timeout=4", "--record=R"]
    expected = AgentOptions(
        model="M",
        mode="yolo",
        sandbox="required",
        trusts_folder=True,
        resume="7",
        session_id="S",
        max_turns=1,
        max_tokens=2,
        max_cost=3.0,
        timeout=4.0,
        record="R",
    )
    assert to_agent_options(parse_args(words)) == expected
    assert to_agent_options(parse_args(["--approval-mode=plan", "--replay=R"])) == AgentOptions(mode="plan", replay="R")


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text_can_be_a_prompt(text: str) -> None:
    assert parse_args([f"--prompt={text}"]) == RunOptions(prompt=text)
    assert parse_args(["--", text]) == RunOptions(prompt=text)


WORDS = st.one_of(
    st.text(alphabet="-=pyrsxi 5.", max_size=5),
    st.sampled_from(["--resume", "--prompt", "--yolo", "--sandbox", "--max-turns", "--", "latest", "auto"]),
)


@settings(max_examples=500, deadline=None)
@given(st.lists(WORDS, max_size=5))
def test_any_words_are_read_or_refused(words: list[str]) -> None:
    try:
        options = parse_args(words)
    except BadArguments:
        return
    said = " ".join(words)
    assert all(piece in said for piece in (options.prompt or "").split())
    assert options.resume in {None, "latest"} or (options.resume or "") in said
