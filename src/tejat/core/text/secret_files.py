"""Files that usually hold secrets, judged by their names alone."""

from collections.abc import Sequence

_NAMES = frozenset(
    {
        *(".env", ".envrc", ".secrets", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".htpasswd"),
        *(".git-credentials", ".npmrc", ".pypirc", ".dockercfg", ".s3cfg", ".boto", ".databrickscfg", ".vault-token"),
        *("credentials.json", "client_secret.json", "service-account.json", "service_account.json", "kubeconfig"),
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"),
        *(f"secrets.{ending}" for ending in ("env", "ini", "json", "toml", "yaml", "yml")),
    }
)
_ENDINGS = (".env", ".pem", ".key", ".ppk", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ovpn", ".tfvars")
# The name of a file with the directory that it is in.
_NAMES_IN_DIRECTORY = frozenset(
    {
        *(".aws/credentials", ".aws/config", ".kube/config", ".docker/config.json", "gh/hosts.yml"),
        *(".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".codex/auth.json"),
        *(".claude/.credentials.json", "containers/auth.json", "huggingface/token", ".huggingface/token"),
    }
)
_IN_DIRECTORY_ENDINGS = tuple(f"/{name}" for name in _NAMES_IN_DIRECTORY)
_DIRECTORIES = ("/.ssh/", "/.gnupg/", "/.password-store/")
_HARMLESS_ENDINGS = (".pub", ".example", ".sample", ".template", ".tmpl", ".dist", ".defaults", ".schema")


_MARKS = (
    *(*_NAMES, *_ENDINGS, ".env."),
    *(name.rpartition("/")[2] for name in _NAMES_IN_DIRECTORY),
    *(directory.strip("/") for directory in _DIRECTORIES),
)
# A text with a longer mark has the shorter one in it too.
_SHORT_MARKS = tuple({mark for mark in _MARKS if not any(other != mark and other in mark for other in _MARKS)})


def is_secret_file(path: str) -> bool:
    """Whether a file of this name usually holds passwords, tokens or private keys."""
    rooted = f"/{path.casefold()}"
    if rooted.endswith(_HARMLESS_ENDINGS):
        return False
    name = rooted[rooted.rindex("/") + 1 :]
    return (
        name in _NAMES
        or name.endswith(_ENDINGS)
        or name.startswith(".env.")
        or rooted.endswith(_IN_DIRECTORY_ENDINGS)
        or any(directory in rooted for directory in _DIRECTORIES)
    )


def is_secret_directory(path: str) -> bool:
    """Whether most files in a directory usually hold secrets, by its name or those of the directories above."""
    return any(directory in f"/{path.casefold()}/" for directory in _DIRECTORIES)


def find_secret_suspects(paths: Sequence[str]) -> list[str]:
    """The relative paths that may be those of secret files in some directory that is not secret itself.

    Many paths are searched at once, for texts that each secret file has in its path.
    """
    text = "\0".join(paths).casefold()
    marks = [mark for mark in _SHORT_MARKS if mark in text]
    return [path for path in paths if any(mark in path.casefold() for mark in marks)] if marks else []
