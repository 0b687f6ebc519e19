"""Prints the total of every customer, largest first, then by name."""

import sys

from vendor.tinytable import Table


def read_orders(path):
    """Yield customer and amount of every order."""
    with open(path, encoding="utf-8") as file:
        header = next(file).strip().split(";")
        customer, amount = header.index("customer"), header.index("amount")
        for line in file:
            fields = line.strip().split(";")
            yield fields[customer], float(fields[amount].replace(",", "."))


def totals(path):
    found = {}
    for customer, amount in read_orders(path):
        found[customer] = found.get(customer, 0) + amount
    return found


def main(path):
    table = Table(["customer", "total"])
    for customer, amount in sorted(totals(path).items(), key=lambda item: (-item[1], item[0])):
        table.add([customer, f"{amount:.2f}"])
    print(table.render())


if __name__ == "__main__":
    main(sys.argv[1])
