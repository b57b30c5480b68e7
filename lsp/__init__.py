"""The language server and the editor plugins."""
