"""Orders."""

from dataclasses import dataclass

from crm.customers import Customer, find_customer
from crm.events import publish

OPEN = "open"
PAID = "paid"


class UnknownCustomer(LookupError):
    """No customer has this name."""


@dataclass
class Order:
    customer: Customer
    cents: int
    state: str = OPEN

    def is_open(self):
        return self.state == OPEN

    def pay(self):
        self.state = PAID
        publish("paid", f"{self.customer.name}: {self.cents}")


def place_order(customers, name, cents):
    customer = find_customer(customers, name)
    order = Order(customer, cents)
    customer.orders.append(order)
    publish("placed", f"{name}: {cents}")
    return order
