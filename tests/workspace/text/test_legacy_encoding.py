import pytest

from tejat.workspace.text.legacy_encoding import decode_sample, guess_codec, sample_non_ascii

JAPANESE = [
    "設定ファイルが見つかりません。",
    "// ユーザーを検索して一覧を返す",
    "# 文字コードの変換に失敗した場合は例外を投げる",
    "商品名,価格,在庫\nりんご,120,35\nみかん,80,12\n",
    "明日は雨が降るそうですから、傘を持って行ってください。",
    "ログイン",
    "エラー: データベースに接続できませんでした",
    "int count = 0; /* 件数 */",
    "吾輩は猫である。名前はまだ無い。",
    "print('こんにちは、世界')",
    "保存しますか？",
    "東京都千代田区丸の内一丁目",
    'title = "お知らせ"  # 画面の上に出す',
    "山田太郎,営業部,yamada@example.com\n",
    "この関数は古いので使わないこと",
    "テスト用のデータを削除しました。",
    "駅の前の店で昼ごはんを食べた",
]
SIMPLIFIED = [
    "配置文件不存在，请检查路径。",
    "// 根据用户编号查询订单",
    "# 如果连接失败就重试三次",
    "姓名,年龄,城市\n张伟,28,北京\n李娜,31,上海\n",
    "今天天气很好，我们一起去公园散步吧。",
    "登录",
    "错误：无法打开数据库连接",
    "int count = 0; /* 总数 */",
    "这个函数已经废弃，请使用新的接口。",
    "print('你好，世界')",
    "是否保存修改？",
    "学而时习之，不亦说乎。",
    'title = "系统公告"  # 显示在首页',
    "王小明,技术部,wang@example.com\n",
    "返回值为空表示没有找到",
    "请输入密码",
    "妈妈在厨房里做晚饭，弟弟在看电视。",
]
TRADITIONAL = [
    "找不到設定檔，請檢查路徑。",
    "// 依照使用者編號查詢訂單",
    "# 如果連線失敗就重試三次",
    "姓名,年齡,城市\n陳大文,28,臺北\n林美玲,31,高雄\n",
    "今天天氣很好，我們一起去公園散步吧。",
    "登入",
    "錯誤：無法開啟資料庫連線",
    "int count = 0; /* 總數 */",
    "這個函式已經停用，請改用新的介面。",
    "print('你好，世界')",
    "是否儲存變更？",
    "學而時習之，不亦說乎。",
    'title = "系統公告"  # 顯示在首頁',
    "王小明,工程部,wang@example.com\n",
    "傳回空值表示沒有找到",
    "請輸入密碼",
    "媽媽在廚房裡做晚飯，弟弟在看電視。",
]
KOREAN = [
    "설정 파일을 찾을 수 없습니다.",
    "// 사용자 번호로 주문을 조회한다",
    "# 연결에 실패하면 세 번 다시 시도",
    "이름,나이,도시\n김민수,28,서울\n이영희,31,부산\n",
    "오늘은 날씨가 좋아서 공원에 산책하러 갔어요.",
    "로그인",
    "오류: 데이터베이스에 연결하지 못했습니다",
    "int count = 0; /* 개수 */",
    "이 함수는 더 이상 쓰지 마십시오.",
    "print('안녕하세요, 세계')",
    "변경 내용을 저장할까요?",
    "동해물과 백두산이 마르고 닳도록",
    'title = "공지 사항"  # 첫 화면에 표시',
    "박지훈,개발팀,park@example.com\n",
    "값이 없으면 빈 문자열을 돌려준다",
    "비밀번호를 입력하세요",
    "어머니는 부엌에서 저녁을 준비하신다.",
]
RUSSIAN = [
    "Файл настроек не найден.",
    "// Ищем пользователя по номеру",
    "# если соединение потеряно, пробуем ещё раз",
    "имя,возраст,город\nИван,28,Москва\nАнна,31,Казань\n",
    "Сегодня хорошая погода, и мы идём гулять в парк.",
    "Вход",
    "ОШИБКА: нет связи с базой данных",
    "int count = 0; /* счётчик */",
    "Эта функция устарела, используйте новую.",
    "print('Привет, мир')",
    "Сохранить изменения?",
    "Все счастливые семьи похожи друг на друга",
    'title = "Объявление"  # на первой странице',
    "Петров,отдел продаж,petrov@example.com\n",
    "возвращает пустую строку, если ничего нет",
    "Введите пароль",
    "ВНИМАНИЕ! НЕ УДАЛЯТЬ ЭТОТ ФАЙЛ",
]
BULGARIAN = [
    "Файлът с настройките не е намерен.",
    "// Търсим потребителя по номер",
    "Днес времето е хубаво и отиваме на разходка в парка.",
    "Грешка: няма връзка с базата данни",
    "Запазване на промените?",
    "Тази функция е остаряла",
]
UKRAINIAN = [
    "Файл налаштувань не знайдено.",
    "// Шукаємо користувача за номером",
    "Сьогодні гарна погода, і ми йдемо гуляти в парк.",
    "Помилка: немає зв'язку з базою даних",
    "Зберегти зміни?",
    "Ця функція застаріла, її більше не підтримують",
]
WESTERN = [
    "Die Einstellungsdatei wurde nicht gefunden, bitte prüfen.",
    "// Größe des Fensters in Bildpunkten",
    "Überprüfung läuft, schließen Sie das Fenster nicht.",
    "Straße;Hausnummer;Ort\nKönigsallee;7;Düsseldorf\n",
    "Le fichier n'a pas été trouvé à l'endroit prévu.",
    "# vérifie que la clé existe déjà",
    "Où êtes-vous passés cet été ? Ça nous a manqué.",
    "prénom,âge,ville\nZoé,28,Orléans\n",
    "No se encontró el archivo de configuración.",
    "// El tamaño está en píxeles",
    "¿Desea guardar los cambios? Mañana será otro día.",
    "Não foi possível abrir a ligação à base de dados.",
    "# função obsoleta, não use",
    "Configurações da sessão: coração, pão, órgão",
    "Filen kunde inte öppnas, försök igen på måndag.",
    "// Räkna antalet användare i kön",
    "Smörgås är gott på våren",
    "café",
    'print("naïve")',
    "Preis: 5 € – günstig…",
    "© 2019 Müller & Söhne",
    "“Quoted” text — it’s here",
    "Temperatur 20 °C",
    "È vietato l'accesso: perché non può entrare?",
    "Blåbærsyltetøy på brød",
]

SAMPLES = [
    *((text, "cp932", "cp932") for text in JAPANESE),
    *((text, "euc_jp", "euc_jp") for text in JAPANESE),
    *((text, "gbk", "gbk") for text in SIMPLIFIED),
    *((text, "big5", "cp950") for text in TRADITIONAL),
    *((text, "euc_kr", "cp949") for text in KOREAN),
    *((text, "cp1251", "cp1251") for text in RUSSIAN + BULGARIAN + UKRAINIAN),
    *((text, "koi8_r", "koi8_r") for text in RUSSIAN + BULGARIAN),
    *((text, "koi8_u", "koi8_u") for text in UKRAINIAN),
    *((text, "cp1252", "cp1252") for text in WESTERN),
]


def guess(raw: bytes) -> str:
    return guess_codec(sample_non_ascii(raw, whole=True))


def bytes_above_ascii(raw: bytes) -> int:
    return sum(byte > 0x7F for byte in raw)


def test_the_samples_of_each_encoding_are_many():
    counts = {codec: sum(1 for _, written, _ in SAMPLES if written == codec) for _, codec, _ in SAMPLES}
    assert min(count for codec, count in counts.items() if codec != "koi8_u") >= 15


def test_nearly_all_samples_are_read_right():
    wrong = [
        (text, codec) for text, codec, _ in SAMPLES if text.encode(codec).decode(guess(text.encode(codec))) != text
    ]
    assert len(wrong) <= 0.03 * len(SAMPLES), wrong


def test_every_text_with_forty_bytes_above_ascii_is_read_right():
    neighbours = zip(SAMPLES, SAMPLES[1:], SAMPLES[2:], SAMPLES[3:], strict=False)
    texts = [("\n".join(text for text, _, _ in four), four[0][1]) for four in neighbours if four[0][1] == four[3][1]]
    long = [(text, codec) for text, codec in texts if bytes_above_ascii(text.encode(codec)) >= 40]
    assert len(long) >= 100
    assert [(text.encode(codec).decode(guess(text.encode(codec)), "replace"), codec) for text, codec in long] == long


@pytest.mark.parametrize(
    ("texts", "written", "expected"),
    [
        (JAPANESE, "cp932", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (SIMPLIFIED, "gbk", "gbk"),
        (TRADITIONAL, "big5", "cp950"),
        (KOREAN, "euc_kr", "cp949"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8_r", "koi8_r"),
        (UKRAINIAN, "cp1251", "cp1251"),
        (UKRAINIAN, "koi8_u", "koi8_u"),
        (BULGARIAN, "cp1251", "cp1251"),
        (WESTERN, "cp1252", "cp1252"),
    ],
)
class TestWholeTexts:
    def test_a_text_of_all_samples(self, texts: list[str], written: str, expected: str):
        assert guess("\n".join(texts).encode(written)) == expected

    def test_one_line_among_much_ascii(self, texts: list[str], written: str, expected: str):
        code = b"def function(argument):\n    return argument + 1\n" * 500
        assert guess(code + texts[1].encode(written) + b"\n" + code) == expected

    def test_broken_bytes_do_not_mislead(self, texts: list[str], written: str, expected: str):
        raw = "\n".join(texts).encode(written)
        assert guess(raw + b"\xff\n" + raw + b"\x80") == expected

    def test_every_beginning_reads_as_the_whole(self, texts: list[str], written: str, expected: str):
        raw = "\n".join(texts[2:]).encode(written)
        beginnings = {guess_codec(sample_non_ascii(raw[:end], whole=False)) for end in range(60, min(len(raw), 160))}
        assert beginnings == {expected}


def test_four_byte_characters_make_gbk_gb18030():
    text = "配置文件不存在，请检查路径。"
    assert guess(text.encode("gbk")) == "gbk"
    assert guess((text + "😀").encode("gb18030")) == "gb18030"


def test_digits_between_ideographs_do_not_make_gbk_gb18030():
    assert guess("第3章第4节共5页，请检查路径。".encode("gbk")) == "gbk"


class TestTellingPart:
    def test_only_lines_with_bytes_above_ascii(self):
        assert (
            sample_non_ascii(b"plain\ncaf\xe9 noir\nplain\n\xfcber\nplain\n", whole=True) == b"caf\xe9 noir\n\xfcber\n"
        )

    def test_the_end_of_the_whole_ends_a_character(self):
        assert sample_non_ascii(b"plain\ncaf\xe9", whole=True) == b"caf\xe9\n"
        assert sample_non_ascii(b"plain\ncaf\xe9", whole=False) == b"caf\xe9"

    def test_it_is_bounded_whatever_the_file(self):
        assert len(sample_non_ascii(b"\xe9" * 1_000_000, whole=True)) == 8192
        assert len(sample_non_ascii(b"\xe9\n" * 1_000_000, whole=True)) == 8192

    def test_context_before_is_bounded(self):
        assert sample_non_ascii(b"x" * 1000 + b"\xe9\n", whole=True) == b"x" * 32 + b"\xe9\n"

    def test_ascii_tells_nothing(self):
        assert sample_non_ascii(b"plain\n" * 100, whole=True) == b""


@pytest.mark.parametrize("codec", ["cp932", "euc_jp", "gb18030", "cp950", "cp949", "utf-8"])
def test_a_sample_is_read_without_the_character_it_ends_inside(codec: str):
    raw = "件件".encode(codec)
    assert decode_sample(raw[:-1], codec, "surrogateescape") == "件"
