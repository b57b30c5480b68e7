"""What can be bought."""

from dataclasses import dataclass

from storefront import money


@dataclass(frozen=True)
class Product:
    sku: str
    title: str
    cents: int
    category: str = "general"


class UnknownProduct(KeyError):
    pass


class Catalogue:
    def __init__(self, products=()):
        self._products = {product.sku: product for product in products}

    def add(self, sku: str, title: str, price: str, category: str = "general") -> Product:
        product = Product(sku, title, money.to_cents(price), category)
        self._products[sku] = product
        return product

    def find(self, sku: str) -> Product:
        try:
            return self._products[sku]
        except KeyError:
            raise UnknownProduct(sku) from None

    def in_category(self, category: str) -> list[Product]:
        return sorted(
            (product for product in self._products.values() if product.category == category),
            key=lambda product: product.title,
        )

    def __len__(self) -> int:
        return len(self._products)
