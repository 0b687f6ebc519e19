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
        (["-y=true"], RunOptions(yolo=True)),
        (["-y", "false", "hi"], RunOptions(prompt="hi")),
        (["--yolo", "true", "true"], RunOptions(yolo=True, prompt="true")),
        (["--yolo=FALSE"], RunOptions()),
        (["--no-yolo"], RunOptions()),
        (["--yolo", "--no-yolo"], RunOptions()),
        (["--no-debug", "--no-list-sessions", "--no-acp", "--version=false", "--no-help"], RunOptions()),
        (["--skip-trust=false", "--no-skip-trust"], RunOptions()),
        (["--screen-reader"], RunOptions(screen_reader=True)),
        (["--screen-reader=false"], RunOptions(screen_reader=False)),
        (["--no-screen-reader"], RunOptions(screen_reader=False)),
        (["--approvalMode=plan"], RunOptions(approval_mode="plan")),
        (["--promptInteractive", "hi"], RunOptions(prompt_interactive="hi")),
        (["--skipTrust"], RunOptions(trust=True)),
        (["--noScreenReader"], RunOptions(screen_reader=False)),
        (["-p", "--version"], RunOptions(prompt="--version")),
        (["-p=--version"], RunOptions(prompt="--version")),
        (["-p", "--yolo"], RunOptions(prompt="--yolo")),
        (["-i", "-h"], RunOptions(prompt_interactive="-h")),
        (["--policy", "a.toml,b", "--policy=c"], RunOptions(policy_paths=("a.toml,b", "c"))),
        (["--admin-policy=a"], RunOptions(admin_policy_paths=("a",))),
        (["-e", "none"], RunOptions(extensions=("none",))),
        (["-e", "a,b", "-e", "c"], RunOptions(extensions=("a,b", "c"))),
        (["-l"], RunOptions(list_extensions=True)),
        (["--answer", "a=b,c", "--answer=d=e=f"], RunOptions(answer=("a=b,c", "d=e=f"))),
        (["--require-answers", "--agents-in-copies"], RunOptions(require_answers=True, agents_in_copies=True)),
        (["--approve-plan", "auto_edit"], RunOptions(approve_plan="auto_edit")),
        (["--session-file", "chat.jsonl"], RunOptions(session_file="chat.jsonl")),
        (["-w"], RunOptions(worktree="")),
        (["-wfix"], RunOptions(worktree="fix")),
        (["--worktree", "fix"], RunOptions(worktree="fix")),
        (["--acp"], RunOptions(acp=True)),
        (["--experimental-acp"], RunOptions(acp=True)),
        (["--raw-output", "--accept-raw-output-risk"], RunOptions(raw_output=True, accept_raw_output_risk=True)),
        (["--strict-settings"], RunOptions(strict_settings=True)),
        (["-ydphi"], RunOptions(yolo=True, debug=True, prompt="hi")),
        (["-yp", "hi"], RunOptions(yolo=True, prompt="hi")),
        (["--approval-mode", "auto_edit"], RunOptions(approval_mode="auto_edit")),
        (["-s"], RunOptions(sandbox="true")),
        (["-s", "off"], RunOptions(sandbox="off")),
        (["-sy"], RunOptions(sandbox="true", yolo=True)),
        (["-s=docker"], RunOptions(sandbox="docker")),
        (["--sandbox"], RunOptions(sandbox="true")),
        (["--sandbox", "fix", "it"], RunOptions(sandbox="true", prompt="fix it")),
        (["--sandbox", "-y"], RunOptions(sandbox="true", yolo=True)),
        (["--sandbox", "true", "x"], RunOptions(sandbox="true", prompt="x")),
        (["--sandbox", "false"], RunOptions(sandbox="off")),
        (["--sandbox=true"], RunOptions(sandbox="true")),
        (["--sandbox=1"], RunOptions(sandbox="true")),
        (["--sandbox=0"], RunOptions(sandbox="off")),
        (["--sandbox", "1"], RunOptions(sandbox="true", prompt="1")),
        (["--no-sandbox"], RunOptions(sandbox="off")),
        (["--sandbox", "off"], RunOptions(sandbox="off")),
        (["--sandbox=auto"], RunOptions(sandbox="auto")),
        *((["--sandbox", word], RunOptions(sandbox=word)) for word in ("docker", "podman", "runsc", "lxc")),
        (["--sandbox=windows-native"], RunOptions(sandbox="windows-native")),
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
        (["--frobnicate"], "Unknown flag --frobnicate."),
        (["--frobnicate=yes"], "Unknown flag --frobnicate."),
        (["--max"], "Unknown flag --max."),
        (["---"], "Unknown flag ---."),
        (["-x"], "Unknown flag -x."),
        (["-yx"], "Unknown flag -yx."),
        (["-y5"], "Unknown flag -y5."),
        (["-y-"], "Unknown flag -y-."),
        (["-y=yes"], "--yolo must be true or false, not 'yes'."),
        (["--yolo="], "--yolo must be true or false, not ''."),
        (["--no-yolo=true"], "The flag --no-yolo takes no value."),
        (["--no-model"], "Unknown flag --no-model."),
        (["--verison"], "Unknown flag --verison. Did you mean --version?"),
        (["--aproval-mode", "plan"], "Unknown flag --aproval-mode. Did you mean --approval-mode?"),
        (["--allowTools=x"], "Unknown flag --allowTools. Did you mean --allowed-tools?"),
        (["-M", "x"], "Unknown flag -M. Did you mean -m?"),
        (["--ignore-env"], "Unknown flag --ignore-env."),
        (["--experimental-zed-integration"], "Unknown flag --experimental-zed-integration."),
        (["--fake-responses", "f"], "Unknown flag --fake-responses. Use --replay FILE instead."),
        (["--fakeResponses=f"], "Unknown flag --fakeResponses. Use --replay FILE instead."),
        (["--fake-responses-non-strict=f"], "Unknown flag --fake-responses-non-strict. Use --replay FILE instead."),
        (["--record-responses", "f"], "Unknown flag --record-responses. Use --record FILE instead."),
        (["-m", "--version"], "The flag --model needs a value."),
        (["-e", "none, lint"], "Cannot use both -e none and other extensions together"),
        (["--answer", "SQLite"], "--answer must be HEADER=VALUE, not 'SQLite'. For example: --answer database=SQLite"),
        (["--answer", "=x"], "--answer must be HEADER=VALUE, not '=x'. For example: --answer database=SQLite"),
        (["--answer=a="], "--answer must be HEADER=VALUE, not 'a='. For example: --answer database=SQLite"),
        (["--aproveplan", "default"], "Unknown flag --aproveplan. Did you mean --approve-plan?"),
        (["--approve-plan", "yolo"], "--approve-plan must be one of default, auto_edit, not 'yolo'."),
        (
            ["--approve-plan", "autoedit"],
            "--approve-plan must be one of default, auto_edit, not 'autoedit'. Did you mean auto_edit?",
        ),
        (["-r", "--session-id", "S"], "Cannot use both --resume and --session-id together"),
        (["-r", "3", "--session-file", "F"], "Cannot use both --resume and --session-file together"),
        (["--session-id=S", "--session-file=F"], "Cannot use both --session-id and --session-file together"),
        (["-p"], "The flag --prompt needs a value."),
        (["-p", "--", "x"], "Cannot use both a positional prompt and the --prompt (-p) flag together"),
        (["--allowed-tools"], "The flag --allowed-tools needs a value."),
        (["-o", "xml"], "--output-format must be one of text, json, stream-json, not 'xml'."),
        (["--approval-mode="], "--approval-mode must be one of default, auto_edit, yolo, plan, not ''."),
        (
            ["--sandbox=firejail"],
            (
                "--sandbox must be one of auto, docker, lxc, off, podman, required, runsc, sandbox-exec, true, "
                "windows-native, not 'firejail'."
            ),
        ),
        (["--max-turns", "0"], "--max-turns must be an integer greater than 0, not '0'."),
        (["--max-turns", "-5"], "--max-turns must be an integer greater than 0, not '-5'."),
        (["--max-tokens", "1.5"], "--max-tokens must be an integer greater than 0, not '1.5'."),
        (["--max-cost", "nan"], "--max-cost must be a number greater than 0, not 'nan'."),
        (["--timeout", "inf"], "--timeout must be a number greater than 0, not 'inf'."),
        (["--timeout", "soon"], "--timeout must be a number greater than 0, not 'soon'."),
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


@pytest.mark.parametrize(
    ("words", "extensions"),
    [
        ([], None),
        (["-e", "none"], ()),
        (["-e", "NONE,none"], ()),
        (["-e", ""], ()),
        (["-e", "lint, docs", "--extensions=gcp"], ("lint", "docs", "gcp")),
    ],
)
def test_extensions_by_name_or_none_at_all(words: list[str], extensions: tuple[str, ...] | None) -> None:
    assert to_agent_options(parse_args(words)).extensions == extensions


def test_everything_reaches_the_agent() -> None:
    words = ["-y", "-s", "--trust", "-mM", "-r7", "--max-turns=1", "--max-tokens=2", "--max-cost=3", "--timeout=4"]
    words += ["--record=R", "--policy=a,b", "--policy=c", "--admin-policy=d", "--strict-settings"]
    words += ["--answer= data base =SQL, ite", "--answer=x=y=z", "--require-answers", "--approve-plan=default"]
    words += ["--agents-in-copies"]
    expected = AgentOptions(
        model="M",
        mode="yolo",
        policy_paths=("a", "b", "c"),
        admin_policy_paths=("d",),
        strict_settings=True,
        answers=(("data base", "SQL, ite"), ("x", "y=z")),
        requires_answers=True,
        approve_plan="default",
        agents_in_copies=True,
        sandbox="true",
        trusts_folder=True,
        resume="7",
        max_turns=1,
        max_tokens=2,
        max_cost=3.0,
        timeout=4.0,
        record="R",
    )
    assert to_agent_options(parse_args(words)) == expected
    assert to_agent_options(parse_args(["--approval-mode=plan", "--replay=R"])) == AgentOptions(mode="plan", replay="R")
    assert to_agent_options(parse_args(["--session-id=S"])) == AgentOptions(session_id="S")
    assert to_agent_options(parse_args(["--session-file=F"])) == AgentOptions(session_file="F")


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
