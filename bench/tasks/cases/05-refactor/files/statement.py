"""Monthly statements as plain text."""

from datetime import date

WIDTH = 48


def render_statement(owner, entries, *, opening=0, currency="EUR", group=False):
    """Render a statement.

    `entries` are tuples of date, text and cents. With `group` there is a subtotal after each day. Raises ValueError
    if the entries are not in the order of their dates, or if one of them has no text.
    """
    lines = []
    lines.append("=" * WIDTH)
    title = "STATEMENT " + owner.upper()
    if len(title) > WIDTH:
        title = title[: WIDTH - 3] + "..."
    lines.append(title.center(WIDTH).rstrip())
    lines.append("=" * WIDTH)
    balance = opening
    if opening != 0:
        sign = "-" if opening < 0 else ""
        amount = f"{sign}{abs(opening) // 100:,}.{abs(opening) % 100:02}"
        lines.append("opening balance".ljust(WIDTH - 16) + amount.rjust(12) + " " + currency)
    previous = None
    subtotal = 0
    count = 0
    for day, text, cents in entries:
        if previous is not None:
            if day < previous:
                raise ValueError(f"{day} comes after {previous}")
            if group:
                if day != previous:
                    if count > 1:
                        sign = "-" if subtotal < 0 else "+"
                        amount = f"{sign}{abs(subtotal) // 100:,}.{abs(subtotal) % 100:02}"
                        lines.append(" " * 11 + "subtotal".ljust(WIDTH - 27) + amount.rjust(12) + " " + currency)
                    subtotal = 0
                    count = 0
        if not text.strip():
            raise ValueError(f"entry of {day} has no text")
        words = text.split()
        wrapped = []
        current = ""
        for word in words:
            if current and len(current) + 1 + len(word) > WIDTH - 28:
                wrapped.append(current)
                current = word
            else:
                current = current + " " + word if current else word
        wrapped.append(current)
        sign = "-" if cents < 0 else "+"
        amount = f"{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02}"
        shown = day.isoformat() if day != previous or not group else ""
        lines.append(shown.ljust(11) + wrapped[0].ljust(WIDTH - 27) + amount.rjust(12) + " " + currency)
        for more in wrapped[1:]:
            lines.append(" " * 11 + more)
        balance += cents
        subtotal += cents
        count += 1
        previous = day
    if group:
        if count > 1:
            sign = "-" if subtotal < 0 else "+"
            amount = f"{sign}{abs(subtotal) // 100:,}.{abs(subtotal) % 100:02}"
            lines.append(" " * 11 + "subtotal".ljust(WIDTH - 27) + amount.rjust(12) + " " + currency)
    lines.append("-" * WIDTH)
    sign = "-" if balance < 0 else ""
    amount = f"{sign}{abs(balance) // 100:,}.{abs(balance) % 100:02}"
    lines.append("closing balance".ljust(WIDTH - 16) + amount.rjust(12) + " " + currency)
    if balance < 0:
        lines.append("*** overdrawn ***".center(WIDTH).rstrip())
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(
        render_statement(
            "Ada Lovelace",
            [
                (date(2026, 3, 1), "Rent for the workshop in the old mill", -80000),
                (date(2026, 3, 1), "Refund", 1250),
                (date(2026, 3, 9), "Fees", 120099),
            ],
            opening=-250,
            group=True,
        ),
        end="",
    )
