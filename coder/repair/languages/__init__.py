"""Repair of languages that have a tree-sitter grammar: written once, over a table of node types for each language."""
