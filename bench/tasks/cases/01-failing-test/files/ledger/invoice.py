"""An invoice whose discount is spread over its lines."""

from dataclasses import dataclass, field

from ledger.money import allocate, format_cents


@dataclass
class Line:
    text: str
    cents: int


@dataclass
class Invoice:
    lines: list[Line] = field(default_factory=list)
    discount: int = 0

    def net_lines(self) -> list[Line]:
        """The lines with their share of the discount taken off."""
        if not self.lines:
            return []
        parts = allocate(self.discount, [line.cents for line in self.lines])
        return [Line(line.text, line.cents - part) for line, part in zip(self.lines, parts)]

    def total(self) -> int:
        return sum(line.cents for line in self.net_lines())

    def print(self) -> str:
        return "\n".join(f"{line.text}: {format_cents(line.cents)}" for line in self.net_lines())
