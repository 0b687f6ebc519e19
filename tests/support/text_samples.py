"""Text in many languages, and its encodings."""

from tejat.workspace.text.encoding import UTF_8, TextEncoding
from tejat.workspace.text.text_edits import TextFile

RUSSIAN = [
    "Первая строка этого файла написана по-русски",
    "а во второй есть слово edit_me для правки",
    "и третья строка",
]
FRENCH = [
    "La première ligne est déjà écrite en français",
    "l'élève a changé edit_me dans la forêt",
    "à bientôt, très cher",
]
JAPANESE = [
    "これは日本語の文章です。表示とソート",
    "二行目には edit_me という単語があります",
    "三行目は最後の行です。能力",
]
CHINESE = ["这是第一行中文文字，我们在这里写代码", "第二行有一个词 edit_me 需要修改的地方", "第三行是最后一行了"]
TAIWANESE = [
    "這是第一行中文文字，我們在這裡寫程式功能",
    "第二行有一個詞 edit_me 需要修改的地方",
    "第三行是最後一行了許",
]
KOREAN = [
    "이것은 한국어로 쓴 첫 번째 줄입니다",
    "두 번째 줄에는 edit_me 라는 낱말이 있습니다",
    "세 번째 줄은 마지막 줄입니다",
]
ENGLISH = ["The first line is plain", "and the second has a word to edit_me in it", "the third is the last"]

CODECS: list[tuple[str, bytes, list[str]]] = [
    ("utf-8", b"", JAPANESE),
    ("utf-8", b"\xef\xbb\xbf", FRENCH),
    ("utf-16-le", b"\xff\xfe", JAPANESE),
    ("utf-16-be", b"\xfe\xff", RUSSIAN),
    ("utf-16-le", b"", ENGLISH),
    ("utf-16-be", b"", ENGLISH),
    ("utf-32-le", b"\xff\xfe\0\0", CHINESE),
    ("utf-32-be", b"\0\0\xfe\xff", KOREAN),
    ("utf-32-le", b"", ENGLISH),
    ("utf-32-be", b"", ENGLISH),
    ("shift_jis", b"", JAPANESE),
    ("euc_jp", b"", JAPANESE),
    ("gbk", b"", CHINESE),
    ("big5", b"", TAIWANESE),
    ("euc_kr", b"", KOREAN),
    ("koi8-r", b"", RUSSIAN),
    ("cp1251", b"", RUSSIAN),
    ("cp1252", b"", FRENCH),
]

ENCODINGS = [
    UTF_8,
    TextEncoding("utf-8", b"\xef\xbb\xbf"),
    TextEncoding("utf-16-le", b"\xff\xfe"),
    TextEncoding("utf-16-be", b""),
    TextEncoding("utf-32-be", b"\0\0\xfe\xff"),
    TextEncoding("cp932", b""),
    TextEncoding("gb18030", b""),
]
"""A few of each kind: plain, with a mark, wide, and multi-byte."""


def text_file(text: str, encoding: TextEncoding = UTF_8) -> TextFile:
    return TextFile(encoding.bom + encoding.encode_new(text), encoding)
