"""The syntax gate of the languages with braces: whether lines that were written may still become a file that parses."""

from __future__ import annotations

import re

from coder.repair.languages.grammar import Grammar

_PAIRS = {"(": ")", "[": "]", "{": "}"}
# Strings and comments, whose brackets do not count; what is left open in them ends with its line or the text.
_FORM = r"""//[^\n]*|/\*[\s\S]*?(?:\*/|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])LENGTH'|`(?:\\.|[^`\\])*`?|[()\[\]{}]"""
_TOKEN, _RUST = re.compile(_FORM.replace("LENGTH", "*")), re.compile(_FORM.replace("LENGTH", ""))  # 'a is a lifetime
# A line that ends so goes on in the next one.
_GOES_ON = re.compile(r"(?:[-+*/%=<>&|^?:,.({\[]|\b(?:return|else|const|let|var|new|in|of))$")


def viable(grammar: Grammar, text: str) -> bool:
    """Whether whole lines of code, from the top of a file on, may be the beginning of one that parses.

    What they leave open is closed before they are parsed.
    """
    opened: list[str] = []
    for match in (_RUST if grammar.name == "rust" else _TOKEN).finditer(text):
        token = match[0]
        if token[0] == "`" and (len(token) == 1 or token[-1] != "`"):
            return True
        if token in _PAIRS:
            opened.append(_PAIRS[token])
        elif token in _PAIRS.values() and (not opened or opened.pop() != token):
            return False
    if _GOES_ON.search(text.rstrip()) and not text.rstrip().endswith(("{", "++", "--", "*/")):
        return True
    closed = text + "".join(reversed(opened))
    return not grammar.parser.parse(closed.encode("utf-8", "surrogateescape")).root_node.has_error
