"""Makes both branches and the merge with conflict markers."""

import subprocess
from pathlib import Path

PRICING, REPORT, TESTS = Path("shop/pricing.py"), Path("shop/report.py"), Path("tests/test_pricing.py")


def main() -> None:
    git("checkout", "-q", "-b", "shipping")
    shipping_side()
    git("checkout", "-q", "main")
    main_side()
    git("merge", "-q", "shipping", fails=True)
    git("commit", "-q", "-a", "-m", "Merge branch 'shipping'")


def shipping_side() -> None:
    edit(
        PRICING,
        '    """The price of all items with tax."""\n    net = sum(price * count for price, count in items)\n',
        '    """The price of all items and of shipping, with tax."""\n'
        "    net = sum(price * count for price, count in items) + shipping(items)\n",
    )
    edit(
        PRICING,
        "TAX_PERCENT = 19\n",
        "TAX_PERCENT = 19\nSHIPPING = 500\nFREE_FROM = 5000\n\n\n"
        "def shipping(items):\n"
        '    """Shipping is free from FREE_FROM net. An order without items ships nothing and costs nothing."""\n'
        "    net = sum(price * count for price, count in items)\n"
        "    return 0 if net == 0 or net >= FREE_FROM else SHIPPING\n",
    )
    edit(TESTS, "238 cents", "833 cents")
    git("commit", "-q", "-a", "-m", "Add shipping to the total\n\nShipping is taxed like the items.")
    edit(
        REPORT,
        "from shop.pricing import describe\n",
        "from shop.pricing import describe, total\n",
    )
    edit(
        REPORT,
        '    return "\\n".join(describe(items) for items in orders)\n',
        "    lines = [describe(items) for items in orders]\n"
        '    return "\\n".join([*lines, f"sum: {sum(total(items) for items in orders)} cents"])\n',
    )
    edit(TESTS, '833 cents")', '833 cents\\nsum: 833 cents")')
    git("commit", "-q", "-a", "-m", "Print the sum of all orders in the report")


def main_side() -> None:
    edit(
        PRICING,
        "def total(items):\n"
        '    """The price of all items with tax."""\n'
        "    net = sum(price * count for price, count in items)\n"
        "    return net + net * TAX_PERCENT // 100\n",
        "def gross_total(items, reduced=False):\n"
        '    """The price of all items with tax, which is rounded up. Books and food have the reduced tax."""\n'
        "    percent = REDUCED_PERCENT if reduced else TAX_PERCENT\n"
        "    net = sum(price * count for price, count in items)\n"
        "    return net - (-net * percent // 100)\n",
    )
    edit(PRICING, "{total(items)}", "{gross_total(items)}")
    edit(PRICING, "TAX_PERCENT = 19\n", "TAX_PERCENT = 19\nREDUCED_PERCENT = 7\n")
    git(
        "commit",
        "-q",
        "-a",
        "-m",
        "Round taxes up, and add the reduced tax\n\n`total` is `gross_total` now, because net totals will come.\n"
        "Nothing may be called `total` any more.",
    )


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def git(*arguments: str, fails: bool = False) -> None:
    done = subprocess.run(["git", *arguments], check=False, capture_output=True, text=True)
    assert (done.returncode != 0) is fails, (arguments, done.stdout, done.stderr)


if __name__ == "__main__":
    main()
