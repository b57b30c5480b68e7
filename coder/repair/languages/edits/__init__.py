"""Edits of the tree, by family, for every language with a table. Shares of the families are those of Python's edits."""

from __future__ import annotations

from coder.repair.languages.edits import calls, conditions, donors, literals, names, operators, places, statements

FAMILIES = (operators, names, literals, conditions, calls, places, statements, donors)
