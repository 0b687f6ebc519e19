"""The `.env` file: which one counts, how it is read, and what it may not set."""

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tejat.config.env_file import EnvFile, EnvFileLocation, find_env_file, load_env_file, parse_env
from tejat.config.paths import AppPaths
from tejat.core.errors import UsageError

DEFAULT_EXCLUDED = ("DEBUG", "DEBUG_MODE")


def paths_in(base: Path) -> AppPaths:
    home = str(base / "home")
    return AppPaths(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", ())


def write(path: Path, text: str = "A=1\n") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "work" / "project" / "sub").mkdir(parents=True)
    return tmp_path.resolve()


def read(
    base: Path,
    *,
    directory: str = "work/project",
    is_trusted: bool = True,
    excluded: Collection[str] = DEFAULT_EXCLUDED,
    environment: Mapping[str, str] | None = None,
    allowed: Collection[str] = (),
) -> EnvFile | None:
    return load_env_file(
        paths_in(base),
        str(base / directory),
        is_trusted=is_trusted,
        excluded=excluded,
        environment=environment or {},
        allowed=allowed,
    )


class TestWhichFile:
    # The places in the order in which they count, seen from work/project/sub.
    ORDER = (
        "work/project/sub/.gemini/.env",
        "work/project/sub/.env",
        "work/project/.gemini/.env",
        "work/project/.env",
        "work/.gemini/.env",
        "work/.env",
        "home/.gemini/.env",
        "home/.env",
    )

    @pytest.mark.parametrize("first", range(len(ORDER)))
    def test_the_first_one_and_only_that(self, base: Path, first: int) -> None:
        for number, name in enumerate(self.ORDER[first:], first):
            write(base / name, f"A={number}\nB{number}=1\n")
        path = str(base / self.ORDER[first])
        values = {"A": str(first), f"B{first}": "1"}
        own = first >= 6
        expected = EnvFile(path, values, {}, is_user_file=True) if own else EnvFile(path, {}, values)
        assert read(base, directory="work/project/sub") == expected
        assert find_env_file(paths_in(base), str(base / "work/project/sub")) == EnvFileLocation(path, own)

    def test_none(self, base: Path) -> None:
        assert read(base) is None

    def test_without_trust_only_the_persons_own(self, base: Path) -> None:
        for name in self.ORDER[:6]:
            write(base / name)
        assert read(base, is_trusted=False) is None
        own = write(base / "home/.env", "A=own\n")
        assert read(base, is_trusted=False) == EnvFile(own, {"A": "own"}, {}, is_user_file=True)

    def test_beneath_the_home_directory_its_own_is_found_on_the_way(self, base: Path) -> None:
        (base / "home/code/x").mkdir(parents=True)
        own = write(base / "home/.env")
        assert find_env_file(paths_in(base), str(base / "home/code/x")) == EnvFileLocation(own, is_user_file=True)
        project = write(base / "home/code/.env")
        assert find_env_file(paths_in(base), str(base / "home/code/x")) == EnvFileLocation(project, is_user_file=False)

    def test_a_name_that_only_looks_like_the_configuration_directory(self, base: Path) -> None:
        (base / "home/x.gemini/y").mkdir(parents=True)
        project = write(base / "home/x.gemini/.env")
        assert find_env_file(paths_in(base), str(base / "home/x.gemini/y")) == EnvFileLocation(
            project, is_user_file=False
        )

    def test_a_link_to_the_persons_directory_makes_no_project_the_persons(self, base: Path) -> None:
        (base / "home/.gemini").mkdir()
        (base / "work/project/.gemini").symlink_to(base / "home/.gemini")
        project = write(base / "work/project/.env", "GEMINI_API_KEY=k\n")
        found = find_env_file(paths_in(base), str(base / "work/project"))
        assert found == EnvFileLocation(project, is_user_file=False)
        assert read(base, is_trusted=False) is None

    def test_a_directory_of_that_name_is_no_file(self, base: Path) -> None:
        (base / "work/project/.env/bin").mkdir(parents=True)
        path = write(base / "work/.env")
        assert find_env_file(paths_in(base), str(base / "work/project")) == EnvFileLocation(path, is_user_file=False)

    @pytest.mark.parametrize("at", ["work/.env", "work"])
    def test_what_anybody_could_have_put_above_does_not_count(self, base: Path, at: str) -> None:
        write(base / "work/.env")
        (base / at).chmod(0o777)
        assert read(base) is None

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_what_somebody_else_put_above_does_not_count(self, base: Path) -> None:
        os.chown(write(base / "work/.env"), 12345, 12345)
        assert read(base) is None

    def test_the_persons_own_must_be_closed_to_others(self, base: Path) -> None:
        path = write(base / "home/.env")
        os.chmod(path, 0o666)
        with pytest.raises(UsageError, match="writable by everyone"):
            read(base)

    def test_a_pipe_is_no_file(self, base: Path) -> None:
        os.mkfifo(base / "work/project/.env")
        assert read(base) is None


class TestWhatItSets:
    def test_nothing_that_is_set_already(self, base: Path) -> None:
        path = write(base / "work/project/.env", "CI=1\nTZ=UTC\nPORT=3\nA=4\nB=5\n")
        assert read(base, environment={"CI": "", "TZ": "x", "A": "y"}) == EnvFile(path, {"PORT": "3"}, {"B": "5"})

    def test_excluded_names(self, base: Path) -> None:
        text = "DEBUG=1\nDEBUG_MODE=1\nCI=1\n"
        path = write(base / "work/project/.env", text)
        assert read(base) == EnvFile(path, {"CI": "1"}, {"DEBUG": "1", "DEBUG_MODE": "1"})
        assert read(base, excluded=["CI"]) == EnvFile(path, {"DEBUG": "1", "DEBUG_MODE": "1"}, {"CI": "1"})
        path = write(base / "work/project/.gemini/.env", text)
        assert read(base) == EnvFile(path, {"DEBUG": "1", "DEBUG_MODE": "1", "CI": "1"}, {})

    def test_the_persons_own_may_set_them(self, base: Path) -> None:
        path = write(base / "home/.env", "DEBUG=1\n")
        assert read(base) == EnvFile(path, {"DEBUG": "1"}, {}, is_user_file=True)

    FOR_REQUESTS = (
        *("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"),
        *("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
        *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_API_VERSION", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
        *("GOOGLE_CLOUD_QUOTA_PROJECT", "GEMINI_MODEL", "GEMINI_SANDBOX", "GEMINI_SYSTEM_MD"),
        *("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_TELEMETRY_OTLP_ENDPOINT"),
    )
    STEERING = (
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PATH", "PYTHONPATH", "PYTHONSTARTUP"),
        *("NODE_OPTIONS", "BASH_ENV", "ENV", "HOME", "GIT_SSH_COMMAND", "EDITOR", "PAGER", "PROMPT_COMMAND"),
        *("HTTP_PROXY", "https_proxy", "ALL_PROXY", "no_proxy", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"),
        *("REQUESTS_CA_BUNDLE", "XDG_CONFIG_HOME", "TEJAT_ADMIN_DIRECTORY", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        *("GCE_METADATA_HOST", "CLOUDSDK_CONFIG", "GOFLAGS", "RUSTC_WRAPPER", "CC"),
        *("DOCKER_HOST", "CONTAINER_HOST", "CONTAINERS_CONF", "STORAGE_OPTS", "SANDBOX_MOUNTS", "BUILD_SANDBOX"),
    )
    NEVER = (
        "GEMINI_CLI_TRUST_WORKSPACE",
        "GEMINI_RESTRICTED_MODE",
        "GEMINI_DEBUG_LOG_FILE",
        "GEMINI_CLI_HOME",
        "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
    )

    @pytest.mark.parametrize("where", ["work/project/.env", "work/project/.gemini/.env", "work/.env"])
    @pytest.mark.parametrize("is_listed", [False, True])
    def test_a_project_does_not_steer_programs_or_requests(self, base: Path, where: str, is_listed: bool) -> None:
        names = (*self.FOR_REQUESTS, *self.NEVER, *self.STEERING)
        path = write(base / where, "".join(f"{name}=x\n" for name in names) + "NO_COLOR=1\n")
        found = read(base, allowed=names if is_listed else ())
        assert found == EnvFile(path, {"NO_COLOR": "1"}, dict.fromkeys(names, "x"))
        assert found is not None
        assert found.ineffective_names == (*self.FOR_REQUESTS, *self.NEVER)

    def test_names_that_nobody_knows_are_set_only_if_the_user_lists_them(self, base: Path) -> None:
        path = write(base / "work/project/.env", "DATABASE=x\nSOME_NEW_AGENT_SERVER=y\n")
        assert read(base) == EnvFile(path, {}, {"DATABASE": "x", "SOME_NEW_AGENT_SERVER": "y"})
        assert read(base, allowed=["DATABASE"]) == EnvFile(path, {"DATABASE": "x"}, {"SOME_NEW_AGENT_SERVER": "y"})

    def test_the_person_does_but_says_nothing_about_trust_there(self, base: Path) -> None:
        names = (*self.FOR_REQUESTS, *self.STEERING)
        path = write(base / "home/.gemini/.env", "".join(f"{name}=x\n" for name in (*names, *self.NEVER)))
        never: dict[str, str] = dict.fromkeys(self.NEVER, "x")
        assert read(base) == EnvFile(path, dict.fromkeys(names, "x"), never, is_user_file=True)

    def test_values_are_not_printed(self, base: Path) -> None:
        write(base / "home/.env", "GEMINI_API_KEY=hush\n")
        assert "hush" not in repr(read(base))
        assert "GEMINI_API_KEY" in repr(read(base))

    def test_what_cannot_be_read_is_named(self, base: Path) -> None:
        path = base / "work/project/.env"
        path.write_bytes(b"A=\xff\n")
        with pytest.raises(UsageError, match=f"Could not read {path}: not UTF-8"):
            read(base)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("A=1", {"A": "1"}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("A=1\rB=2", {"A": "1", "B": "2"}),
        ("  export A = 1  ", {"A": "1"}),
        ("exportA=1", {"exportA": "1"}),
        ("A=", {"A": ""}),
        ("A=\nB=2", {"A": "", "B": "2"}),
        ("# A=1\nB=2 # A=3", {"B": "2"}),
        ("A=a#b", {"A": "a#b"}),
        ("A=a b  # c", {"A": "a b"}),
        ("A=#b", {"A": ""}),
        ("A='a # b' # c", {"A": "a # b"}),
        ("A='a\\nb'", {"A": "a\\nb"}),
        ('A="a\\nb\\t\\"c\\" \\\\ \\x"', {"A": 'a\nb\t"c" \\ \\x'}),
        ('A="one\ntwo # three\n"\nB=2', {"A": "one\ntwo # three\n", "B": "2"}),
        ("A='one\nB=2'\nC=3", {"A": "one\nB=2", "C": "3"}),
        ('A=`it\'s "so"`', {"A": 'it\'s "so"'}),
        ('A="never closed\nB=2', {"A": '"never closed', "B": "2"}),
        ('A="x" y', {"A": '"x" y'}),
        ('A=""', {"A": ""}),
        ("A=1\nA=2", {"A": "2"}),
        ("A=$HOME ${B}", {"A": "$HOME ${B}"}),
        ("A=b=c", {"A": "b=c"}),
        ("not a line\n=x\n1A=2\nA-B=3\nA B=4\nC=5", {"C": "5"}),
        ("A=a\0b\nB=1", {"B": "1"}),
        ("Ä=1\nB=ä", {"B": "ä"}),
    ],
)
def test_how_it_is_read(text: str, values: dict[str, str]) -> None:
    assert parse_env(text) == values


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,5}", fullmatch=True), st.text("ab #'\"\\\n\t$=`", max_size=12))
)
@example({"A": "\\", "B": '"'})
def test_what_is_quoted_comes_back(values: dict[str, str]) -> None:
    text = "".join(f"export {name}={json.dumps(value)}\n# more\n" for name, value in values.items())
    assert parse_env(text) == values


@settings(max_examples=150, deadline=None)
@given(st.text("AB=\"'` #\n\\"))
def test_any_text_can_be_read(text: str) -> None:
    assert all(name.isidentifier() for name in parse_env(text))


def test_a_long_hostile_file_takes_no_time() -> None:
    assert len(parse_env('A="\\' * 100_000)) <= 1
    assert len(parse_env("A='x\n" * 100_000)) == 1
    assert len(parse_env("A=" + "# " * 200_000)) == 1
