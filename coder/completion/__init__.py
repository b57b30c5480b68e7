"""What is written at a place in a text: what the model reads of it, how far it writes, and what of that may be shown.

The language server asks at every keystroke, `coder do` for a function's body.
"""
