"""Prices, discounts and taxes of a small shop."""
