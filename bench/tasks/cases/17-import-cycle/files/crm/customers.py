"""Customers."""

from dataclasses import dataclass, field

from crm.events import publish


@dataclass
class Customer:
    name: str
    orders: list["Order"] = field(default_factory=list)

    def rename(self, name):
        old, self.name = self.name, name
        publish("renamed", f"{old} -> {name}")

    def revenue(self):
        return sum(order.cents for order in self.orders if not order.is_open())


def find_customer(customers, name):
    for customer in customers:
        if customer.name == name:
            return customer
    raise UnknownCustomer(name)


from crm.orders import Order, UnknownCustomer  # noqa: E402
