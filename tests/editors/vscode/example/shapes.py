"""Shapes and their measures."""

from dataclasses import dataclass
from math import pi


@dataclass
class Circle:
    radius: float

    def area(self) -> float:
        return pi * self.radius**2

    def perimeter(self) -> float:
        return 2 * pi * self.radius


@dataclass
class Rectangle:
    width: float
    height: float

    def area(self) -> float:
        return self.width * self.height
