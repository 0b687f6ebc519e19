"""Names that are the same, names that are not, and how they are shown."""

import unicodedata
import unittest

from accounts import Accounts

SAME = (
    ("Straße", "STRASSE"),
    ("Zoe\u0301", "zo\u00e9"),
    ("\uff21\uff44\uff41", "ada"),
    ("\ufb01nn", "FINN"),
    (" Ada   Lovelace\u00a0", "ada\u2003lovelace"),
    ("a\u200dda", "A\u200cDA"),
    ("\u00adx", "X"),
    ("\u0130stanbul", "i\u0307stanbul"),
    ("\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2", "\u03c3\u0399\u0301\u03a3\u03a5\u03a6\u039f\u03a3"),
    ("\u1e9b\u0323", "\u1e69"),
    ("\u0345\u03b1", "\u03b9\u03b1"),
    ("\u1fb3", "\u03b1\u0399"),
    ("\u212bngstr\u00f6m", "a\u030angstro\u0308m"),
    ("a \u200d b", "a b"),
    ("\u3392", "mhz"),
    ("\u200b\u200bq", "Q"),
)
DIFFERENT = (("ada", "ádá"), ("ab", "a b"), ("o", "ø"), ("l", "1"), ("user_1", "user-1"))


class AccountsTest(unittest.TestCase):
    def test_same_names(self) -> None:
        for first, second in (*SAME, *((second, first) for first, second in SAME)):
            with self.subTest(first=ascii(first), second=ascii(second)):
                accounts = Accounts()
                accounts.register(first, "secret")
                self.assertTrue(accounts.log_in(second, "secret"))
                self.assertTrue(accounts.log_in(unicodedata.normalize("NFKD", second), "secret"))
                self.assertFalse(accounts.log_in(second, "Secret"))
                self.assertRaises(ValueError, accounts.register, second, "other")
                self.assertEqual(len(accounts.names()), 1)

    def test_different_names(self) -> None:
        for first, second in DIFFERENT:
            accounts = Accounts()
            accounts.register(first, "1")
            self.assertFalse(accounts.log_in(second, "1"))
            accounts.register(second, "2")
            self.assertTrue(accounts.log_in(second, "2"))

    def test_shown_names(self) -> None:
        accounts = Accounts()
        self.assertEqual(accounts.register("  Zoe\u0301  \ufb01 ", "x"), "Zo\u00e9  \ufb01")
        self.assertEqual(accounts.register("\uff21DA", "x"), "\uff21DA")
        self.assertEqual(accounts.names(), ["Zo\u00e9  \ufb01", "\uff21DA"])

    def test_refused_names(self) -> None:
        accounts = Accounts()
        for name in ("", "   ", "\u200d", " \u00ad ", "a\x00b", "a\nb", "\ta", "a\x7f"):
            self.assertRaises(ValueError, accounts.register, name, "x")
            self.assertFalse(accounts.log_in(name, "x"))
        self.assertEqual(accounts.names(), [])

    def test_passwords_are_exact(self) -> None:
        accounts = Accounts()
        accounts.register("a", "caf\u00e9 ")
        self.assertTrue(accounts.log_in("A", "caf\u00e9 "))
        for password in ("cafe\u0301 ", "caf\u00e9", "CAF\u00c9 "):
            self.assertFalse(accounts.log_in("a", password))
