"""File formats of cases: encoding, line ends, final newline."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

from bench.edit.draft import Draft, indent_of
from bench.edit.mutations.characters import make_comment

_STRAY = "\udce9"

_PROSE: Mapping[str, tuple[str, ...]] = {
    "latin-1": (
        "Größe und Höhe müssen übereinstimmen, sonst schlägt die Prüfung der Übertragung fehl",
        "Ändert sich der Schlüssel, so wird die Verbindung geschlossen und später neu geöffnet",
        "Für jede Änderung gehört ein Eintrag in die Übersicht, auch wenn sie unnötig erscheint",
        "Möglich wäre auch eine größere Lösung, doch dafür müsste man die Daten zurücksetzen",
    ),
    "cp1252": (
        "L’été dernier, le protocole a été « modifié » – voir la note jointe à l’élément",
        "Le coût dépasse 20 € : vérifier la clé avant d’être prêt à l’envoyer à nouveau",
        "La méthode “générale” reste préférée, même où l’appel n’est pas nécessaire…",
        "Rôle de l’hôte : être prévenu dès que la tâche n’est plus exécutée",
    ),
    "shift_jis": (
        "この関数は設定を読み込んでから接続を開きます",
        "エラーが発生した場合は、もう一度ファイルを確認してください",
        "値が空のときは既定の動作に戻ります。詳しくは説明書を参照",
        "利用者の名前と番号を表示するための表を作る",
    ),
    "utf-8": (
        "Größe prüfen ✓ — 設定を読み込む, см. описание ниже",
        "Naïve Übersetzung: “кавычки” und 「引用」 bleiben stehen 🚀",
        "Se añade una línea según la configuración del año",
    ),
}
_CODECS: Mapping[str, tuple[str, bytes]] = {
    "utf-8 with BOM": ("utf-8", b"\xef\xbb\xbf"),
    "latin-1": ("latin-1", b""),
    "cp1252": ("cp1252", b""),
    "shift_jis": ("shift_jis", b""),
    "utf-16-le": ("utf-16-le", b"\xff\xfe"),
    "utf-16-be": ("utf-16-be", b"\xfe\xff"),
}
_WEIGHTS: Mapping[str, int] = {
    "LF": 38,
    "CRLF": 16,
    "mixed line ends": 9,
    "no final newline": 8,
    "utf-8 prose": 5,
    "utf-8 with BOM": 4,
    "latin-1": 5,
    "cp1252": 4,
    "shift_jis": 4,
    "utf-16-le": 3,
    "utf-16-be": 2,
    "stray byte": 2,
}
FILE_FORMATS = tuple(_WEIGHTS)


def random_format(rng: Random) -> str:
    return rng.choices(FILE_FORMATS, list(_WEIGHTS.values()))[0]


def apply_format(draft: Draft, form: str, rng: Random) -> Draft | None:
    """Convert a draft to a file format; None if the format cannot hold it."""
    if form == "no final newline":
        if not draft.before()[-1] or not draft.after()[-1]:
            return None  # A file that ends with a blank line ends with a line end.
        return replace(draft, final_newline=False)
    if form == "stray byte":
        line = make_comment(draft.suffix, f"d{_STRAY}j{_STRAY} vu")
        # With new non-ASCII letters, the encoding of the stray byte would matter.
        changed = "".join(row.true_new or "" for row in draft.rows)
        if line is None or len(draft.tail) < 4 or not changed.isascii():
            return None
        return replace(draft, tail=(*draft.tail, line))
    prose = {"utf-8 prose": "utf-8", "utf-8 with BOM": "utf-8", "utf-16-le": "utf-8", "utf-16-be": "utf-8"}.get(
        form, form
    )
    if prose in _PROSE:
        return _with_prose(draft, rng, _PROSE[prose])
    return draft


def _with_prose(draft: Draft, rng: Random, texts: Sequence[str]) -> Draft | None:
    """Insert comments in other languages, as such files have them."""
    head, tail = list(draft.head), list(draft.tail)
    for text in texts:
        line = make_comment(draft.suffix, text)
        if line is None:
            return None
        part = rng.choice([part for part in (head, tail) if part] or [head])
        at = rng.randrange(len(part) + 1)
        beside = part[min(at, len(part) - 1)] if part else ""
        part.insert(at, indent_of(beside) + line)
    return replace(draft, head=tuple(head), tail=tuple(tail))


class CaseWriter:
    """Writes the lines of a draft as bytes, before and after the edit.

    With mixed line ends, the lines around inserted ones have the same line end.
    """

    def __init__(self, draft: Draft, form: str, rng: Random) -> None:
        self._draft = draft
        self._codec, self._bom = _CODECS.get(form, ("utf-8", b""))
        end = "\r\n" if form == "CRLF" or (form in _CODECS and rng.random() < 0.3) else "\n"
        self._head = [end] * len(draft.head)
        self._tail = [end] * len(draft.tail)
        self._rows = [end] * len(draft.rows)
        if form == "mixed line ends":
            self._mix(rng)

    def _mix(self, rng: Random) -> None:
        here = rng.choice(("\n", "\r\n"))
        self._head = [rng.choice(("\n", "\r\n")) for _ in self._head]
        self._tail = [rng.choice(("\n", "\r\n")) for _ in self._tail]
        rows = self._draft.rows
        one_by_one = all(
            row.true_old is not None and row.true_new is not None and not row.has_prior_edit for row in rows
        )
        beside = any(not one.is_kept and not two.is_kept for one, two in pairwise(rows))
        if one_by_one and not beside and all(row.old is not None and row.new is not None for row in rows):
            self._rows = [rng.choice(("\n", "\r\n")) for _ in rows]
            return
        self._rows = [here] * len(rows)
        self._head[-3:] = [here] * len(self._head[-3:])
        self._tail[:3] = [here] * len(self._tail[:3])

    def original(self) -> bytes:
        return self._write([row.original if row.has_prior_edit else row.true_old for row in self._draft.rows])

    def before(self) -> bytes:
        return self._write([row.true_old for row in self._draft.rows])

    def after(self) -> bytes:
        return self._write([row.true_new for row in self._draft.rows])

    def _write(self, rows: list[str | None]) -> bytes:
        """Encode the rows. Raises UnicodeEncodeError if the encoding lacks a character."""
        draft = self._draft
        pairs = [
            *zip(draft.head, self._head, strict=True),
            *((line, end) for line, end in zip(rows, self._rows, strict=True) if line is not None),
            *zip(draft.tail, self._tail, strict=True),
        ]
        text = "".join(line + end for line, end in pairs)
        if not draft.final_newline and pairs:
            text = text.removesuffix(pairs[-1][1])
        errors = "surrogateescape" if self._codec == "utf-8" else "strict"
        return self._bom + text.encode(self._codec, errors)
