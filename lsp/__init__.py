"""The language server: inline completion as you type, and proved fixes as code actions."""
