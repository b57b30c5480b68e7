"""A cart and its invoice."""

from storefront import discounts, money, taxes
from storefront.catalogue import Catalogue, Product


class Cart:
    def __init__(self, catalogue: Catalogue):
        self.catalogue = catalogue
        self.lines: dict[str, int] = {}

    def put(self, sku: str, count: int = 1) -> None:
        if count < 1:
            raise ValueError("count must be at least 1")
        self.catalogue.find(sku)
        self.lines[sku] = self.lines.get(sku, 0) + count

    def take(self, sku: str, count: int = 1) -> None:
        left = self.lines.get(sku, 0) - count
        if left < 0:
            raise ValueError(f"the cart holds fewer than {count} of {sku}")
        if left:
            self.lines[sku] = left
        else:
            del self.lines[sku]

    def items(self) -> list[tuple[Product, int]]:
        return [(self.catalogue.find(sku), count) for sku, count in self.lines.items()]

    def net(self) -> int:
        return sum(product.cents * count for product, count in self.items())

    def tax(self) -> int:
        return sum(taxes.tax_on(product.cents * count, product.category) for product, count in self.items())

    def total(self, offers=()) -> int:
        gross = self.net() + self.tax()
        return gross - discounts.best(offers, gross)

    def invoice(self, offers=()) -> str:
        rows = [f"{count} x {product.title}: {money.format_cents(product.cents * count)}" for product, count in self.items()]
        rows.append(f"tax: {money.format_cents(self.tax())}")
        rows.append(f"total: {money.format_cents(self.total(offers))}")
        return "\n".join(rows)
